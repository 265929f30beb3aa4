package push

import (
	"crypto/ecdh"
	"encoding/base64"
	"testing"
)

func raw(t *testing.T, text string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTheVectorOfRFC8291 encrypts the example of section 5 and appendix A, byte for byte.
func TestTheVectorOfRFC8291(t *testing.T) {
	from, err := ecdh.P256().NewPrivateKey(raw(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	to := &Subscription{
		Endpoint: "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV",
		Public:   raw(t, "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
		Auth:     raw(t, "BTBZMqHH6r4Tts7J_aSIgg"),
	}
	if err := to.Check(); err != nil {
		t.Fatal(err)
	}
	got, err := encryptFrom(to, []byte("When I grow up, I want to be a watermelon"), 0, from, raw(t, "DGv6ra1nlYgDCS1FRnbzlw"))
	if err != nil {
		t.Fatal(err)
	}
	want := "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	if text := base64.RawURLEncoding.EncodeToString(got); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// TestH494PrivateAddresses is what is never dialled: the check sees the address and no name.
func TestH494PrivateAddresses(t *testing.T) {
	for _, address := range []string{
		"127.0.0.1:443", "[::1]:443", "10.1.2.3:443", "172.16.0.1:443", "192.168.1.1:443", "169.254.169.254:80", "100.100.1.1:443", "0.0.0.0:443", "[::]:443", "[::ffff:127.0.0.1]:443", "[::ffff:10.0.0.1]:443",
		"[fe80::1%eth0]:443", "[fd00::1]:443", "[fec0::1]:443", "224.0.0.1:443", "[ff02::1]:443", "255.255.255.255:443", "198.18.0.1:443", "192.0.0.1:443", "240.0.0.1:443", "[64:ff9b::7f00:1]:443", "[2002:7f00:1::]:443", "[::127.0.0.1]:443", "nonsense",
	} {
		if public("tcp", address, nil) == nil {
			t.Errorf("%s would be dialled", address)
		}
	}
	for _, address := range []string{"93.184.216.34:443", "[2606:2800:220:1:248:1893:25c8:1946]:443"} {
		if err := public("tcp", address, nil); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}
