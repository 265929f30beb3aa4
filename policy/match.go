package policy

import "bytes"

// matcher finds any of many words in one pass. Each word is looked for by its
// rarest pair of bytes, so that in usual text almost nothing is compared.
type matcher struct {
	pairs [1 << 16 / 64]uint64 // a bit for each pair that some word is looked for by
	by    map[uint16][]needle
}

type needle struct {
	word   []byte
	anchor int // the position of its pair
}

func newMatcher(list [][]byte) *matcher {
	m := &matcher{by: map[uint16][]needle{}}
	for _, w := range list {
		if len(w) < 2 {
			continue
		}
		n := needle{word: w, anchor: rarest(w, 2)}
		p := pair(w[n.anchor], w[n.anchor+1])
		m.by[p] = append(m.by[p], n)
		m.pairs[p/64] |= 1 << (p % 64)
	}
	return m
}

func pair(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// rarest finds the n bytes with the fewest letters, and among those the ones with
// the least usual; the last of them, since words begin more alike than they end.
func rarest(w []byte, n int) int {
	best, least := 0, 1<<30
	for i := range len(w) - n + 1 {
		cost := 1
		for _, c := range w[i : i+n] {
			cost *= usual(c)
		}
		if cost <= least {
			best, least = i, cost
		}
	}
	return best
}

func usual(c byte) int {
	switch {
	case bytes.IndexByte([]byte("etaoinsrhld"), c) >= 0:
		return 9
	case 'a' <= c && c <= 'z':
		return 4
	case c == '.' || c == '/':
		return 3
	default:
		return 2
	}
}

// find returns the first that is a whole word of b, in small or capital letters, or nil.
func find[T string | []byte](m *matcher, b T) []byte {
	var p uint16
	for i := range len(b) {
		p = p<<8 | uint16(lowerBytes[b[i]])
		if m.pairs[p/64]&(1<<(p%64)) == 0 {
			continue
		}
		for _, n := range m.by[p] {
			if whole(b, i-1-n.anchor, n.word) {
				return n.word
			}
		}
	}
	return nil
}

// whole reports whether w is at start in b, as a word of its own.
func whole[T string | []byte](b T, start int, w []byte) bool {
	end := start + len(w)
	if start < 0 || end > len(b) || start > 0 && extends(b[start-1]) || end < len(b) && continues(b[end]) {
		return false
	}
	for i, c := range w {
		if lowerBytes[b[start+i]] != c {
			return false
		}
	}
	return true
}

// extends reports whether c before a word makes it the end of another.
func extends(c byte) bool {
	return continues(c) || c == '-' || c == '.'
}

// continues reports whether c after a word makes it the start of another.
// Dots and dashes do not: a backup of a guarded file is guarded.
func continues(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}
