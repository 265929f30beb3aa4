package policy

import "strings"

// sieve tells, while a text is read anyway, what can't be in it. Whatever is
// looked for has three bytes in a row; where these are not, it need not be looked
// for. They are told by their two pairs, and bytes by their classes, so that the
// table is small enough to stay at hand. What the sieve lets through is searched
// for as ever.
type sieve [1 << (2 * classBits)]struct {
	starts finding // what the pair is the first half of
	ends   finding // and what the second
} // by pair of classes

const (
	classBits = 6

	// classed are the bytes with a class of their own; all others share one. A word
	// that is told by those is searched for more often than need be.
	classed = "abcdefghijklmnopqrstuvwxyz0123456789 ./:-_~=\"'$&;|(){}[]<>*@%,\\"
)

// signs are what is to be known of each byte.
var signs = func() (all [256]struct {
	lower byte
	class uint8
	marks mark
}) {
	for i, lower := range lowerBytes {
		all[i].lower, all[i].marks = lower, byteMarks[i]
		all[i].class = uint8(strings.IndexByte(classed, lower) + 1)
	}
	return all
}()

// pairOf are the classes of two bytes.
func pairOf(a, b byte) int { return int(signs[a].class)<<classBits | int(signs[b].class) }

// finding is a set of what may be in a text.
type finding uint16

const (
	ofPlace    finding = 1 << iota // where secrets are kept
	ofGuarded                      // a word that is guarded
	ofPrefix                       // the start of a name that is ours
	ofPort                         // of an address of ours
	ofCommand                      // our own program
	ofURL                          // ":/", which cleaning leaves of "://"
	ofUntidy                       // a path that needs cleaning, see cleaned
	ofProc                         // the files of running programs
	ofSocket                       // a name under which bash connects
	ofAnything finding = 1<<iota - 1
)

func newSieve(places [][]byte, g *guard) *sieve {
	s := new(sieve)
	s.add(ofPlace, places...)
	s.add(ofGuarded, g.whole...)
	for _, p := range g.prefixes {
		s.add(ofPrefix, folded(p))
	}
	for i := range g.addresses {
		s.add(ofPort, g.addresses[i].port, g.addresses[i].hex)
	}
	s.add(ofCommand, g.commands...)
	s.add(ofURL, []byte(":/"))
	s.add(ofUntidy, []byte("//"), []byte("/."))
	s.add(ofProc, []byte("/proc"))
	s.add(ofSocket, []byte("/dev/"))
	return s
}

// add lets words through. One that is too short may be in anything.
func (s *sieve) add(f finding, words ...[]byte) {
	for _, w := range words {
		switch len(w) {
		case 0, 1:
			for i := range s {
				s[i].starts, s[i].ends = s[i].starts|f, s[i].ends|f
			}
		case 2:
			for before := range 1 << 8 {
				s[pairOf(byte(before), w[0])].starts |= f
			}
			s[pairOf(w[0], w[1])].ends |= f
		default:
			at := rarest(w, 3)
			s[pairOf(w[at], w[at+1])].starts |= f
			s[pairOf(w[at+1], w[at+2])].ends |= f
		}
	}
}

// at is what may be in b by the three bytes of which the last stands at i, which is
// not the first of all.
func (s *sieve) at(b []byte, i int) finding {
	before := byte(0)
	if i > 1 {
		before = b[i-2]
	}
	return s[pairOf(before, b[i-1])].starts & s[pairOf(b[i-1], b[i])].ends
}
