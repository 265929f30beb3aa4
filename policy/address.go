package policy

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// loopbackNames resolve to this machine by convention or by public DNS.
var loopbackNames = []string{"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback", "localtest.me", "lvh.me", "vcap.me", "host.docker.internal"}

// loopback reports whether a host is this machine, in any of the spellings
// that resolvers take.
func loopback(host string) bool {
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if slices.ContainsFunc(loopbackNames, func(n string) bool { return host == n || strings.HasSuffix(host, "."+n) }) {
		return true
	}
	// Public DNS answers 127.0.0.1 for names that hold it, as in 127.0.0.1.nip.io.
	if strings.Contains(host, "127.0.0.1") || strings.Contains(host, "127-0-0-1") {
		return true
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsUnspecified()
	}
	v, ok := inetAton(host)
	return ok && (v>>24 == 127 || v == 0)
}

// privateEndings end names that only a network of one's own knows, or that mean an address in numbers.
var privateEndings = strings.Fields("local localhost localdomain internal intranet lan home corp private onion arpa svc cluster fritz.box nip.io sslip.io")

// isPrivate reports whether the name of a host, in lower case, may mean this machine or one in the owner's own network.
func isPrivate(host string) bool {
	ends := func(end string) bool { return host == end || strings.HasSuffix(host, "."+end) }
	return loopback(host) || spellsAddress(host) || slices.ContainsFunc(privateEndings, ends)
}

// spellsAddress reports whether a name holds an address of four numbers, as 10-0-0-1.dns.example and 192.168.1.1.dns.example do: public DNS may answer with it.
func spellsAddress(host string) bool {
	numbers := 0
	for part := range strings.FieldsFuncSeq(host, func(c rune) bool { return c == '.' || c == '-' }) {
		if _, err := strconv.ParseUint(part, 10, 8); err != nil {
			numbers = 0
		} else if numbers++; numbers == 4 {
			return true
		}
	}
	return false
}

// inetAton reads the old forms of an address: 127.1, 2130706433, 0x7f.1, 0177.0.0.1.
func inetAton(host string) (uint64, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return 0, false
	}
	var v uint64
	for i, p := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		n, err := strconv.ParseUint(octal(p), 0, bits)
		if err != nil {
			return 0, false
		}
		v = v<<bits | n
	}
	return v, true
}

// octal keeps a leading zero meaning base 8 and refuses Go's own extras.
func octal(p string) string {
	if strings.Contains(p, "_") || strings.HasPrefix(p, "0b") || strings.HasPrefix(p, "0o") {
		return ""
	}
	return p
}
