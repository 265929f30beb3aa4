package policy

// sieve tells, while a text is read anyway, what can't be in it. Whatever is
// looked for has a pair of bytes in it; where that pair is not, it need not be
// looked for. What the sieve lets through is searched for as ever.
type sieve [1 << 16]finding // by pair

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
	s.add(ofURL, []byte("://"))
	s.add(ofSocket, []byte("/dev/"))
	s.add(ofUntidy, []byte("//"), []byte("/."))
	return s
}

// add lets words through. One that is too short for a pair may be anywhere.
func (s *sieve) add(f finding, words ...[]byte) {
	for _, w := range words {
		if len(w) < 2 {
			for i := range s {
				s[i] |= f
			}
			continue
		}
		at := rarest(w)
		s[pair(w[at], w[at+1])] |= f
	}
}
