package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/server/certtest"
)

// written loads a config that stands in a directory of its own, beside files
// that it may name.
func written(t *testing.T, dir, text string) (*config.Config, []config.Finding, error) {
	t.Helper()
	file := filepath.Join(dir, "verifier.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(file, nothing, chats)
}

func nothing(string) (string, bool) { return "", false }

func TestTLSFilesAreCheckedBeforeTheyAreUsed(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"a", "b"} {
		if err := certtest.Write(at(name+".pem"), at(name+".key"), time.Now(), time.Now().Add(30*24*time.Hour), "localhost"); err != nil {
			t.Fatal(err)
		}
	}
	shared := at("shared.key")
	key, err := os.ReadFile(at("a.key"))
	if err == nil {
		err = os.WriteFile(shared, key, 0o600)
	}
	if err == nil {
		err = os.Chmod(shared, 0o640)
	}
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"tls: {cert: a.pem, key: a.key}":                         "",
		"listen: '0.0.0.0:8787'\ntls: {cert: a.pem, key: a.key}": "",
		"tls: {cert: a.pem}":                                     "tls: has a certificate and no key",
		"tls: {key: a.key}":                                      "tls: has a key and no certificate",
		"tls: {cert: none.pem, key: a.key}":                      "none.pem does not exist",
		"tls: {cert: a.pem, key: none.key}":                      "none.key does not exist",
		"tls: {cert: a.pem, key: b.key}":                         "are not a certificate and its key",
		"tls: {cert: a.key, key: a.key}":                         "are not a certificate and its key",
		"tls: {cert: a.pem, key: shared.key}":                    "shared.key can be read by others",
		"tls: {cert: ., key: a.key}":                             "is not a regular file",
		"tls: {cert: a.pem, kee: a.key}":                         "tls.kee: unknown key",
	} {
		c, _, err := written(t, dir, text)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want == "" && (c.TLS.Cert != at("a.pem") || c.TLS.Key != at("a.key")):
			t.Errorf("%s: the files are %+v", text, c.TLS)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestACertificateThatEndsIsTold(t *testing.T) {
	const day = 24 * time.Hour
	for want, span := range map[string][2]time.Duration{
		"tls.cert: ended on 20": {-day, -time.Minute}, "tls.cert: ends on 20": {-day, 13 * day}, "tls.cert: begins only on 20": {day, 90 * day}, "": {-day, 15 * day},
	} {
		dir := t.TempDir()
		if err := certtest.Write(filepath.Join(dir, "c"), filepath.Join(dir, "k"), time.Now().Add(span[0]), time.Now().Add(span[1]), "localhost"); err != nil {
			t.Fatal(err)
		}
		_, findings, err := written(t, dir, "ownerToken: "+good+"\ntls: {cert: c, key: k}")
		if err != nil {
			t.Fatal(err)
		}
		if got := found(findings); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%v: got %q, want %q", span, got, want)
		}
	}
}

func TestTrustedProxiesAreAddresses(t *testing.T) {
	c, _, err := config.Parse("f", []byte("trustedProxies: [10.0.0.7, 10.1.2.3/16, '2001:db8::/32', '::ffff:10.0.0.8']"), nothing, chats)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range c.Proxies() {
		got = append(got, p.String())
	}
	if want := "10.0.0.7/32 10.1.0.0/16 2001:db8::/32 10.0.0.8/32"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
