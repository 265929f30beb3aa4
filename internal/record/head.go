package record

import (
	"crypto/ed25519"
	"encoding/hex"
	"strconv"
)

// Head names the last line of a chain and is signed. Kept apart from the file,
// it shows that lines were cut off its end.
type Head struct {
	Chain string `json:"chain"`
	Seq   uint64 `json:"seq"`
	Hash  string `json:"hash"`
	Sig   string `json:"sig"` // ed25519, in hex
}

// message is what is signed. Its first line keeps the signature from meaning
// anything elsewhere.
func (h Head) message() []byte {
	return []byte("verifier-record-v2\n" + h.Chain + "\n" + strconv.FormatUint(h.Seq, 10) + "\n" + h.Hash)
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
