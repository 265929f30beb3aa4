package push

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

// MaxMessage is the longest text that a message holds. All messages are padded to
// it, so that their length tells nothing, and fit the 4096 bytes that every push
// service takes.
const MaxMessage = 3000

const (
	saltSize   = 16
	recordSize = 4096 // of RFC 8188: there is one record, and it is shorter
)

var errTooLong = errors.New("push: the message is too long")

// encrypt makes the body of a message, in the aes128gcm of RFC 8188 and RFC 8291,
// with a key and a salt of its own.
func encrypt(to *Subscription, text []byte) ([]byte, error) {
	if len(text) > MaxMessage {
		return nil, errTooLong
	}
	from, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	var salt [saltSize]byte
	rand.Read(salt[:]) // it never fails
	return encryptFrom(to, text, MaxMessage-len(text), from, salt[:])
}

// encryptFrom is encrypt with a given key, salt and padding.
func encryptFrom(to *Subscription, text []byte, padding int, from *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	public, err := ecdh.P256().NewPublicKey(to.Public)
	if err != nil {
		return nil, err
	}
	shared, err := from.ECDH(public)
	if err != nil {
		return nil, err
	}
	mine := from.PublicKey().Bytes()
	secret, err := hkdf.Key(sha256.New, shared, to.Auth, "WebPush: info\x00"+string(to.Public)+string(mine), sha256.Size)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	record := append(slices.Clone(text), 2) // the last record
	record = append(record, make([]byte, padding)...)
	head := binary.BigEndian.AppendUint32(slices.Clone(salt), recordSize)
	head = append(head, publicSize)
	head = append(head, mine...)
	return gcm.Seal(head, nonce, record, nil), nil
}
