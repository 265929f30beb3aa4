package protocol

// Limits of one text's fingerprints.
const (
	MaxFingerprints = 512
	FingerprintSize = 8 // bytes of one
)

// Fingerprints are those of a text's tokens, one after the other, as package lineage makes them.
type Fingerprints []byte

// Valid reports whether what came from outside can be fingerprints of one text.
func (f Fingerprints) Valid() bool {
	return len(f)%FingerprintSize == 0 && len(f) <= MaxFingerprints*FingerprintSize
}
