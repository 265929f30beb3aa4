package command

import (
	"net"
	"slices"
	"strings"
)

// reach collects how a command reaches the network, and what is not known of it.
type reach struct{ Command }

func (c *reach) opaque(why string)  { first(&c.Opaque, why) }
func (c *reach) unknown(n string)   { c.Unknown = once(c.Unknown, n) }
func (c *reach) workspace(n string) { c.Runs = once(c.Runs, n) }

// scan looks in a text that we don't read as a command, such as code in another language, for names that reach
// the network or destroy something.
func (c *reach) scan(text string) {
	c.addresses(text)
	tool := ""
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(c rune) bool { return !inName(c) }) {
		option, own := strings.HasPrefix(w, "-"), w == "--rm" // docker run --rm removes what it has made itself
		w = strings.Trim(w, ".:-")
		bare := name(w)
		short := unversioned(bare)
		switch {
		case entry(anywhere, bare) || codeNames[w]:
			c.fetch(bare)
		case tool != "" && installers[tool][bare]:
			c.fetch(tool + " " + bare)
		case installers[short] != nil:
			tool = short
		}
		c.Destroys = c.Destroys || !own && (destroyers[bare] || tool != "" && destroying[tool][bare])
		c.Deletes = c.Deletes || codeDeletes[bare] && !option
	}
}

func inName(c rune) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == ':' || c == '-' || c == '/'
}

// addresses finds URLs and bash's own sockets in a text.
func (c *reach) addresses(text string) {
	c.socket(text)
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "://")
		if !found {
			return
		}
		end := strings.IndexAny(after, "/?#'\"`<>\\ \t\n,;)")
		if end < 0 {
			end = len(after)
		}
		host := after[:end]
		c.host(host[strings.LastIndexByte(host, '@')+1:])
		rest = after
	}
}

// socket finds /dev/tcp/host/port, to which bash connects.
func (c *reach) socket(text string) {
	if !strings.Contains(text, "/") {
		return
	}
	for _, kind := range []string{"/dev/tcp/", "/dev/udp/", "/inet/", "/inet4/", "/inet6/"} {
		_, after, found := strings.Cut(text, kind)
		if !found {
			continue
		}
		c.fetch(strings.TrimSuffix(kind, "/"))
		if strings.HasPrefix(kind, "/inet") { // gawk: /inet/tcp/local/host/port
			if parts := strings.SplitN(after, "/", 3); len(parts) == 3 {
				after = parts[2]
			}
		}
		host, port, _ := strings.Cut(after, "/")
		c.connect(host, strings.TrimRight(digits(port), "/"))
	}
}

// digits is the number that a text begins with.
func digits(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }

func isNumber(s string) bool { return s != "" && digits(s) == s }

// host notes host or host:port.
func (c *reach) host(text string) {
	if name, port, err := net.SplitHostPort(text); err == nil {
		c.connect(name, digits(port))
		return
	}
	c.connect(strings.Trim(text, "[]"), "")
}

func (c *reach) connect(name, port string) {
	h := Host{Name: strings.ToLower(strings.ReplaceAll(name, "\x00", "")), Port: port}
	if !slices.Contains(c.Hosts, h) {
		c.Hosts = append(c.Hosts, h)
	}
}

// hosts notes what a program that reaches the network names: URLs, host:port, host and port, user@host.
func (c *reach) hosts(args []arg) {
	for i := range args {
		text := args[i].text
		if _, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(text, "-") {
			text = value
		}
		if strings.Contains(text, "://") || strings.Contains(text, "/dev/") {
			c.addresses(text)
			continue
		}
		next := i + 1
		hasPort := next < len(args) && isNumber(args[next].text)
		if text == "" || strings.HasPrefix(text, "-") || isNumber(text) && !hasPort || strings.ContainsAny(text, " {\"'\n") {
			continue
		}
		text = text[strings.LastIndexByte(text, '@')+1:]
		if scheme, rest, ok := strings.Cut(text, ":"); ok && socatKinds[strings.ToLower(scheme)] {
			text, _, _ = strings.Cut(rest, ",")
		}
		text, _, _ = strings.Cut(text, "/")
		switch {
		case strings.Contains(text, ":"):
			c.host(text)
		case hasPort:
			c.connect(text, args[next].text)
		case strings.Contains(text, ".") || text == "localhost":
			c.connect(text, "")
		}
	}
}
