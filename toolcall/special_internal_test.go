package toolcall

import (
	"encoding/binary"
	"math/bits"
	"testing"
)

// A byte that is not ordinary is found, wherever it stands and whatever stands
// beside it; one that is, is not.
func TestSpecialMissesNoByte(t *testing.T) {
	for b := range 256 {
		for at := range 8 {
			for _, beside := range []byte{' ', '!', '#', 'a', '[', ']', '~'} {
				var eight [8]byte
				for i := range eight {
					eight[i] = beside
				}
				eight[at] = byte(b)
				found := special(binary.LittleEndian.Uint64(eight[:]))
				if isOrdinary(byte(b)) != (found == 0) || found != 0 && bits.TrailingZeros64(found)/8 != at {
					t.Fatalf("%q at %d beside %q: marked %x", byte(b), at, beside, found)
				}
			}
		}
	}
}
