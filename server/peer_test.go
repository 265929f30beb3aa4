package server_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/server"
)

// seen is whom the log names as the peer of a request, and its id.
func seen(t testing.TB, proxies, remote string, headers ...string) (peer, id string) {
	t.Helper()
	var log bytes.Buffer
	var ranges []netip.Prefix
	for p := range strings.FieldsSeq(proxies) {
		ranges = append(ranges, netip.MustParsePrefix(p))
	}
	s, _ := newServer(t, func(o *server.Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		o.Proxies = func() []netip.Prefix { return ranges }
	})
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", http.NoBody)
	req.RemoteAddr = remote
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, req)
	_, peer, _ = strings.Cut(log.String(), "peer=")
	peer, _, _ = strings.Cut(strings.TrimSpace(peer), " ")
	return strings.Trim(peer, `"`), w.Header().Get(server.RequestIDHeader)
}

func TestForwardedAddressesAreBelievedOnlyOfTrustedProxies(t *testing.T) {
	const forwarded = "X-Forwarded-For"
	for name, c := range map[string]struct {
		proxies, remote string
		headers         []string
		want            string
	}{
		"nobody is trusted by default": {"", "10.0.0.7:1", []string{forwarded, "1.2.3.4"}, "10.0.0.7"},
		"loopback neither":             {"", "127.0.0.1:1", []string{forwarded, "1.2.3.4"}, "127.0.0.1"},
		"a trusted proxy":              {"10.0.0.0/24", "10.0.0.7:1", []string{forwarded, "1.2.3.4"}, "1.2.3.4"},
		"another one":                  {"10.0.0.0/24", "10.0.1.7:1", []string{forwarded, "1.2.3.4"}, "10.0.1.7"},
		"what the client wrote itself": {"10.0.0.0/24", "10.0.0.7:1", []string{forwarded, "6.6.6.6, 1.2.3.4"}, "1.2.3.4"},
		"in a header of its own":       {"10.0.0.0/24", "10.0.0.7:1", []string{forwarded, "6.6.6.6", forwarded, "1.2.3.4"}, "1.2.3.4"},
		"two proxies":                  {"10.0.0.0/24", "10.0.0.7:1", []string{forwarded, "6.6.6.6, 1.2.3.4, 10.0.0.8"}, "1.2.3.4"},
		"only proxies":                 {"10.0.0.0/24", "10.0.0.7:1", []string{forwarded, "10.0.0.9, 10.0.0.8"}, "10.0.0.9"},
		"no word of it":                {"10.0.0.0/24", "10.0.0.7:1", nil, "10.0.0.7"},
		"a name":                       {"10.0.0.0/24", "10.0.0.7:1", []string{forwarded, "1.2.3.4, evil rid=x"}, "10.0.0.7"},
		"the other headers":            {"10.0.0.0/24", "10.0.0.7:1", []string{"X-Real-Ip", "1.2.3.4", "Forwarded", "for=1.2.3.4"}, "10.0.0.7"},
		"IPv4 as IPv6":                 {"10.0.0.0/24", "[::ffff:10.0.0.7]:1", []string{forwarded, "::ffff:1.2.3.4"}, "1.2.3.4"},
		"IPv6":                         {"2001:db8::/32", "[2001:db8::1]:1", []string{forwarded, "2001:db9::1"}, "2001:db9::1"},
		"endless":                      {"10.0.0.0/24", "10.0.0.7:1", []string{forwarded, "1.2.3.4" + strings.Repeat(", 10.0.0.8", 1000)}, "10.0.0.8"},
	} {
		if got, _ := seen(t, c.proxies, c.remote, c.headers...); got != c.want {
			t.Errorf("%s: got %q, want %s", name, got, c.want)
		}
	}
}

func TestARequestIDIsTakenOnlyFromTrustedProxies(t *testing.T) {
	for given, taken := range map[string]bool{
		"0123abcd-EF_.x": true, "short": false, strings.Repeat("a", 65): false, "abcdefgh ijkl": false, "abcdefgh\"ij": false, "abcdéfghij": false,
	} {
		if _, id := seen(t, "10.0.0.0/24", "10.0.0.7:1", server.RequestIDHeader, given); (id == given) != taken || id == "" {
			t.Errorf("%q from a proxy: the id is %q", given, id)
		}
		if _, id := seen(t, "10.0.0.0/24", "10.0.1.7:1", server.RequestIDHeader, given); !drawn.MatchString(id) {
			t.Errorf("%q from a stranger: the id is %q", given, id)
		}
	}
}

func FuzzForwardedFor(f *testing.F) {
	f.Add("1.2.3.4", "10.0.0.7:1")
	f.Add("6.6.6.6, ::1%x,10.0.0.8", "[::ffff:10.0.0.7]:1")
	f.Fuzz(func(t *testing.T, header, remote string) {
		got, _ := seen(t, "10.0.0.0/24", remote, "X-Forwarded-For", header)
		if _, err := netip.ParseAddr(got); err != nil && got != "invalid" {
			t.Errorf("%q from %q: the peer is %q", header, remote, got)
		}
	})
}
