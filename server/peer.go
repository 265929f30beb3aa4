package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxHops is how many proxies one behind the other are followed.
const maxHops = 16

// Peer is the address a request comes from: the connection's, unless that is a
// trusted proxy's; then the last one in X-Forwarded-For that is not. What is
// before it, anyone could have written.
func (s *Server) Peer(r *http.Request) string {
	at := remote(r)
	if !s.trusts(at) {
		return at.String()
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	slices.Reverse(hops)
	for _, hop := range hops[:min(len(hops), maxHops)] {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break // the proxy before it could not say
		}
		at = next.Unmap().WithZone("")
		if !s.trusts(at) {
			break
		}
	}
	return at.String()
}

// remote is the other end of the connection.
func remote(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

func (s *Server) trusts(at netip.Addr) bool {
	return at.IsValid() && slices.ContainsFunc(s.o.Proxies(), func(p netip.Prefix) bool { return p.Contains(at) })
}
