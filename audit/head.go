package audit

import (
	"crypto/ed25519"
	"encoding/hex"
	"strconv"
)

// Head names the last line of a chain and is signed. Kept apart from the file,
// it shows that lines were cut off its end.
type Head struct {
	Chain  string `json:"chain"`
	Seq    uint64 `json:"seq"`
	Hash   string `json:"hash"`
	Format int    `json:"format,omitzero"` // of the file that it was signed for; 0: one whose lines carry no MAC
	Sig    string `json:"sig"`             // ed25519, in hex
}

// message is what is signed. Its first line keeps the signature from meaning
// anything elsewhere, and a head of a record with MACs from passing for one of a
// record without.
func (h Head) message() []byte {
	version := "v1"
	if h.Format > formatWithout {
		version = "v" + strconv.Itoa(h.Format)
	}
	return []byte("verifier-record-" + version + "\n" + h.Chain + "\n" + strconv.FormatUint(h.Seq, 10) + "\n" + h.Hash)
}

func (h Head) signed(key ed25519.PrivateKey) Head {
	h.Sig = hex.EncodeToString(ed25519.Sign(key, h.message()))
	return h
}

// SignedBy reports whether the head carries key's signature.
func (h Head) SignedBy(key ed25519.PublicKey) bool {
	sig, err := hex.DecodeString(h.Sig)
	return err == nil && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, h.message(), sig)
}
