package policy

import (
	"bytes"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// address is a place that is ours to answer.
type address struct {
	port  []byte // in digits
	hex   []byte // the same as programs write it: 0x2253
	plain []byte // how an address begins that leaves the port out; nil where none does
	host  string // lower case; empty where any name of this machine reaches it
	every bool   // it listens on every address of the machine
}

// webPorts are left out of an address by habit. One slash: the reading may have
// cleaned the other away.
var webPorts = map[string][]byte{"80": []byte("http:/"), "443": []byte("https:/")}

// addAddress reads host:port, a bare host, a URL, or a socket's path.
func (g *guard) addAddress(a string) {
	a = strings.ToLower(strings.TrimSpace(a))
	scheme := ""
	if i := strings.Index(a, "://"); i >= 0 {
		scheme, a = a[:i], a[i+3:]
		if scheme != "unix" {
			a, _, _ = strings.Cut(a, "/")
			a = a[strings.LastIndexByte(a, '@')+1:]
		}
	}
	if strings.ContainsAny(a, "/\\") {
		g.addPath(a)
		return
	}
	host, port := splitPort(a)
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "redis": "6379", "rediss": "6379"}[scheme]
	}
	switch {
	case port == "" && host != "":
		g.whole = append(g.whole, []byte(host))
	case port != "":
		one := address{port: []byte(port), hex: inHex(port), plain: webPorts[port], host: host, every: everyHost(host)}
		if loopback(host) {
			one.host = ""
		}
		g.addresses = append(g.addresses, one)
	}
}

func inHex(port string) []byte {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return []byte(port)
	}
	return strconv.AppendUint([]byte("0x"), n, 16)
}

func splitPort(a string) (host, port string) {
	i := strings.LastIndexByte(a, ':')
	if i < 0 || strings.IndexByte(a[i:], ']') >= 0 || strings.Count(a, ":") > 1 && a[0] != '[' {
		return strings.Trim(a, "[]"), ""
	}
	return strings.Trim(a[:i], "[]"), a[i+1:]
}

func everyHost(host string) bool {
	return host == "" || host == "0.0.0.0" || host == "::" || host == "*"
}

// address reports whether b names one of ours: the port, with a host of ours
// before it, in whatever way the two are joined.
func (g *guard) address(b []byte) bool {
	for i := range g.addresses {
		a := &g.addresses[i]
		if g.named(a, b) || a.implied(b) {
			return true
		}
	}
	return false
}

func (g *guard) named(a *address, b []byte) bool {
	for at := 0; ; {
		i := bytes.Index(b[at:], a.port)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(a.port)
		at = start + 1
		if end < len(b) && continues(b[end]) {
			continue
		}
		for start > 0 && b[start-1] == '0' {
			start--
		}
		if host, url, ok := hostBefore(b, start); ok && (a.reaches(host, url) || g.isHost(a, host)) {
			return true
		}
	}
}

// implied finds an address on a port that its scheme leaves out.
func (a *address) implied(b []byte) bool {
	if a.plain == nil {
		return false
	}
	for at := 0; ; {
		i := bytes.Index(b[at:], a.plain)
		if i < 0 {
			return false
		}
		at += i + len(a.plain)
		if host, rest := hostAt(b[at:]); !bytes.HasPrefix(rest, []byte{':'}) && a.reaches(host, true) {
			return true
		}
	}
}

// joints stand between a host and a port: host:port, host port, ("host", port).
const joints = ": =,\"'\t\x00"

// maxHost is the longest name that is looked at.
const maxHost = 255

// hostBefore reads the host that ends before a port, and whether it is in
// a URL.
func hostBefore(b []byte, end int) (host string, url, ok bool) {
	i := skipJoints(b, end)
	for _, option := range []string{"--port", "-p", "port"} {
		if rest, cut := bytes.CutSuffix(b[:i], []byte(option)); cut {
			i = skipJoints(b, len(rest))
			break
		}
	}
	if i == end {
		return "", false, false
	}
	bracket := i > 0 && b[i-1] == ']'
	if bracket {
		i--
	}
	stop := i
	for i > 0 && stop-i < maxHost && inHost(b[i-1], bracket) {
		i--
	}
	host = string(b[i:stop])
	url = i > 0 && (b[i-1] == '/' || b[i-1] == '@') && bytes.Contains(b[max(0, i-maxHost):i], []byte(":/"))
	// A small number is a host only in the form 0:8787; elsewhere it is a number.
	count := len(host) < 8 && strings.Trim(host, "0123456789") == "" && b[end-1] != ':'
	return host, url, host != "" && !count
}

func skipJoints(b []byte, end int) int {
	i := end
	for i > 0 && end-i < 8 && strings.IndexByte(joints, b[i-1]) >= 0 {
		i--
	}
	return i
}

func inHost(c byte, bracket bool) bool {
	return inName(c) && c != '@' || bracket && (c == ':' || c == '%')
}

// hostAt reads the host at the start of an authority.
func hostAt(b []byte) (host string, rest []byte) {
	b = bytes.TrimLeft(b, "/")
	end := bytes.IndexAny(b, "/?#\\ \"'<>\x00")
	if end < 0 {
		end = len(b)
	}
	authority := b[:min(end, 2*maxHost)]
	authority = authority[bytes.LastIndexByte(authority, '@')+1:]
	if end := bytes.IndexByte(authority, ']'); end > 0 && authority[0] == '[' {
		return string(authority[1:end]), authority[end+1:]
	}
	name, port, found := bytes.Cut(authority, []byte{':'})
	if found {
		return string(name), append([]byte{':'}, port...)
	}
	return string(name), nil
}

// reaches reports whether a host leads to the address. One that listens on
// every address of the machine is reached by names we can't know, so any
// literal address, and any host of a URL, counts.
func (a *address) reaches(host string, url bool) bool {
	if a.host == "" || a.every {
		if loopback(host) {
			return true
		}
		_, err := netip.ParseAddr(host)
		return a.every && (url || err == nil)
	}
	return strings.TrimSuffix(host, ".") == a.host
}

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
