package toolcall

import (
	"encoding/binary"
	"testing"
)

// A byte that is not ordinary is never passed over, wherever it stands and
// whatever stands beside it.
func TestSpecialMissesNoByte(t *testing.T) {
	for b := range 256 {
		for at := range 8 {
			for _, beside := range []byte{' ', '!', '#', 'a', '[', ']', '~'} {
				var eight [8]byte
				for i := range eight {
					eight[i] = beside
				}
				eight[at] = byte(b)
				if !ordinary[b] && !special(binary.LittleEndian.Uint64(eight[:])) {
					t.Fatalf("%q at %d beside %q is passed over", byte(b), at, beside)
				}
			}
		}
	}
	if special(binary.LittleEndian.Uint64([]byte("a plain!"))) {
		t.Error("plain text is special")
	}
}
