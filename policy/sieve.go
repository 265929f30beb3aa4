package policy

// sieve tells, while a text is read anyway, what can't be in it. Whatever is
// looked for has three bytes in a row; where these are not, it need not be looked
// for. They are told by their two pairs, so that no table is larger than it has to
// be. What the sieve lets through is searched for as ever.
type sieve [1 << 16]struct {
	starts finding // what the pair is the first half of
	ends   finding // and what the second
} // by pair

// finding is a set of what may be in a text.
type finding uint8

const (
	ofPlace    finding = 1 << iota // where secrets are kept
	ofGuarded                      // a word that is guarded
	ofPrefix                       // the start of a name that is ours
	ofPort                         // of an address of ours
	ofCommand                      // our own program
	ofURL                          // ":/", which cleaning leaves of "://"
	ofSocket                       // a name under which bash connects
	ofUntidy                       // a path that needs cleaning, see cleaned
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
		s.add(ofPort, g.addresses[i].port)
	}
	s.add(ofCommand, g.commands...)
	s.add(ofURL, []byte(":/"))
	s.add(ofSocket, []byte("/dev/"))
	s.add(ofUntidy, []byte("//"), []byte("/."))
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
				s[pair(byte(before), w[0])].starts |= f
			}
			s[pair(w[0], w[1])].ends |= f
		default:
			at := rarest(w, 3)
			s[pair(w[at], w[at+1])].starts |= f
			s[pair(w[at+1], w[at+2])].ends |= f
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
	return s[pair(before, b[i-1])].starts & s[pair(b[i-1], b[i])].ends
}
