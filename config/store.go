package config

import (
	"net"
	"slices"
	"strings"
)

// storeSchemes are the stores we have, other than the embedded one.
var storeSchemes = []string{"redis", "rediss", "redis+sentinel", "rediss+sentinel"}

// storeAddress is as much of a store's URL as is needed to judge it. The store
// reads the rest; it takes several hosts, which net/url does not.
type storeAddress struct {
	scheme   string
	hosts    []string
	password bool
}

func readStoreURL(text string) storeAddress {
	scheme, rest, _ := strings.Cut(text, "://")
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		rest = rest[:i]
	}
	at := strings.LastIndex(rest, "@")
	user, hosts := rest[:max(at, 0)], rest[at+1:]
	_, password, _ := strings.Cut(user, ":")
	return storeAddress{scheme: scheme, hosts: strings.Split(hosts, ","), password: password != ""}
}

// local reports whether every host is this machine.
func (s storeAddress) local() bool {
	return !slices.ContainsFunc(s.hosts, func(h string) bool {
		if host, _, err := net.SplitHostPort(h); err == nil {
			h = host
		}
		return !loopback(h)
	})
}

func loopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (k *checker) checkStore() {
	if !k.Store.URL.Set() {
		return
	}
	u := readStoreURL(k.Store.URL.Reveal())
	switch {
	case !slices.Contains(storeSchemes, u.scheme):
		k.fail("store.url", "names no store that we have", "use redis:// or, with TLS, rediss://; without store.url state is kept in SQLite in the state directory")
	case slices.Contains(u.hosts, ""):
		k.fail("store.url", "names no host", `write it as "redis://:${REDIS_PASSWORD}@127.0.0.1:6379/0"`)
	}
}

func (k risks) riskyStore() {
	if !k.Store.URL.Set() {
		return
	}
	u := readStoreURL(k.Store.URL.Reveal())
	if !u.password && !u.local() {
		k.find(Warning, "store.url", "has no password: anyone who reaches the store can erase what is known of every conversation")
	}
	if !strings.HasPrefix(u.scheme, "rediss") && !u.local() {
		k.find(Warning, "store.url", "is not encrypted: use rediss://, or a network of your own")
	}
	if !k.Store.Key.Set() {
		k.find(Note, "store", "there is no store.key: each instance makes its own, and does not accept what another one approved")
	}
}
