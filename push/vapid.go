package push

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
)

// tokenLife is how long a token of ours is good. RFC 8292 allows a day.
const tokenLife = 12 * time.Hour

// Identity is the key by which push services know this server. Browsers bind each
// subscription to it.
type Identity struct {
	key     *ecdsa.PrivateKey
	public  string // in base64url
	contact string
}

// NewIdentity makes it from the server's key, so that it is the same after a restart
// and on each instance that shares the key. Contact is where the people behind a push
// service may write: mailto: or https:; it may be empty.
func NewIdentity(key hmac.Key, contact string) (*Identity, error) {
	const spare = 16 // more bits than the order has, so that no key is likelier than another
	raw, err := hkdf.Key(sha256.New, key, nil, "verifier web push identity", 32+spare)
	if err != nil {
		return nil, err
	}
	curve := elliptic.P256()
	most := new(big.Int).Sub(curve.Params().N, big.NewInt(1))
	scalar := new(big.Int).SetBytes(raw)
	scalar.Add(scalar.Mod(scalar, most), big.NewInt(1))
	private, err := ecdsa.ParseRawPrivateKey(curve, scalar.FillBytes(make([]byte, 32)))
	if err != nil {
		return nil, err
	}
	public, err := private.PublicKey.Bytes()
	if err != nil {
		return nil, err
	}
	return &Identity{key: private, public: base64.RawURLEncoding.EncodeToString(public), contact: contact}, nil
}

// Public is the public key in base64url, as a browser subscribes with it.
func (i *Identity) Public() string { return i.public }

// authorization is the header that shows a push service who sends.
func (i *Identity) authorization(endpoint *url.URL, now time.Time) (string, error) {
	claims, err := json.Marshal(struct {
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
		Contact  string `json:"sub,omitzero"`
	}{origin(endpoint), now.Add(tokenLife).Unix(), i.contact})
	if err != nil {
		return "", err
	}
	signed := base64.RawURLEncoding.EncodeToString([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, sum[:])
	if err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return "vapid t=" + signed + "." + base64.RawURLEncoding.EncodeToString(signature) + ", k=" + i.public, nil
}
