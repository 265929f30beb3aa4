package policy

import (
	"strings"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// Page is a page that a call gets with a tool that carries no cookies: see [Quiet.Site].
type Page struct {
	Address string // as the call has it; empty: it is no such call
	Host    string // in lower case
	Link    string // the address as a link to it is compared; empty: it names no scheme
	Typed   bool   // the user's last message holds the whole address, as a word of its own

	// Owners says that the owner started the run, alone, and that nothing about the
	// call but where it goes has to be asked about. Where it is false, the page still
	// counts as one of its host.
	Owners bool

	typed map[string]bool // hosts of addresses in the user's last message
}

// HostTyped reports whether the user's last message holds an address of a host.
func (p *Page) HostTyped(host string) bool { return p.typed[host] }

// page says which page a call gets, where [Quiet.Site] is on.
func (p *Policy) page(pl *Plan, c *toolcall.Call) {
	if !p.quiet.Site || pl.strict || !pl.rule.plainFetch {
		return
	}
	address := ""
	for path, value := range c.Strings {
		switch {
		case path == value && fetchParams[path]:
		case path == "url" && address == "":
			address = value
		case path == "extractMode" && (value == "markdown" || value == "text"):
		default:
			return // an argument of which we don't know what it does
		}
	}
	host, link, ok := plainAddress(address)
	if !ok {
		return
	}
	pl.Page = Page{Address: address, Host: host, Link: link, Owners: pl.Grantable && isOwners(c, &pl.Initiator) && !c.Hints.Destroys() && pl.Secret == "" && pl.Gives == ""}
	all := c.Context.UserMessages
	if len(all) == 0 || !all[len(all)-1].SenderIsOwner {
		return
	}
	last := all[len(all)-1].Text
	pl.Page.Typed = isSite(host, link) && holdsWord(last, address)
	pl.Page.typed = hostsIn(last)
}

// mostWords is how many words of a message are read for hosts.
const mostWords = 2000

// isSite reports whether what a user wrote means a site: it has a scheme, or its host starts with www and does not end as files do. Any other
// name alone may be a file or a product, such as notes.md, www.backup.zip and asp.net.
func isSite(host, link string) bool {
	return link != "" || strings.HasPrefix(host, "www.") && strings.Count(host, ".") > 1 && !fileEndings[host[strings.LastIndexByte(host, '.')+1:]]
}

// fileEndings are the top-level domains that files are often named with, too.
var fileEndings = words(`ac ai am app ar as au bb br bs build bz cab cc cf cg cl cr cu data do docs dot download fo gd gs in inc la ly man map md me mk ml mm mo mov nc
	ph pk pl pm pro prod properties ps pt pub py rs ru run sas sc sh so ss st sv tab tf ws xyz zip`)

// hostsIn are the hosts of the addresses in a message.
func hostsIn(message string) map[string]bool {
	out, n := map[string]bool{}, 0
	for word := range strings.FieldsFuncSeq(message, func(c rune) bool { return strings.ContainsRune(" \n\t\r<>()\"',;", c) }) {
		if n++; n > mostWords {
			break
		}
		if host, link, ok := plainAddress(strings.TrimRight(word, ".:!?")); ok && isSite(host, link) {
			out[host] = true
		}
	}
	return out
}

// plainAddress reads an address of a page that every program reads alike: http or https, or no scheme at all; a host with a dot whose last
// part is letters, in lower case, without a port; and no user, fragment, escape or sign that could end a link.
func plainAddress(address string) (host, link string, ok bool) {
	if len(address) == 0 || len(address) > longestAddress || strings.Trim(address, addressChars) != "" || strings.ContainsAny(address[len(address)-1:], ".:!?") {
		return "", "", false
	}
	scheme, rest, named := strings.Cut(address, "://")
	switch {
	case !named:
		scheme, rest = "", address
	case scheme != "http" && scheme != "https", strings.Contains(rest, "//"):
		return "", "", false
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host, rest = rest[:end], rest[end:]
	if !plainHost(host) || strings.Contains(rest, "/../") || strings.HasSuffix(rest, "/..") {
		return "", "", false
	}
	if !named {
		return host, "", true
	}
	if !strings.HasPrefix(rest, "/") {
		rest = "/" + rest
	}
	return host, scheme + "://" + host + rest, true
}

const (
	longestAddress = 1000
	addressChars   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?=&+"
)

// plainHost reports whether a host is a name of the public kind: no number, no
// single word, and none that means this machine.
func plainHost(host string) bool {
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	last := labels[len(labels)-1]
	return len(labels) > 1 && len(host) <= maxHost && strings.Trim(last, "abcdefghijklmnopqrstuvwxyz") == "" && !isPrivate(host)
}

// checkFetches finds labels that contradict each other.
func (w *problems) checkFetches(path string, f *facts) {
	if f.plainFetch && (f.dangerous || f.destructive || f.money || f.secret || f.runs || f.looks) {
		w.fail(path+".fetches", "only a tool that gets pages, with no cookies and no login, may be labelled so: no browser, and nothing that pays, destroys, runs or bears secrets")
	}
}

// sites says of a conversation's call whether it may follow a link unasked, in words for explain.
func (pl *Plan) sites() string {
	if pl.Page.Address == "" || !pl.Page.Owners {
		return ""
	}
	return SiteRule + ": if you typed its address in this turn, or it is a link in a page of a host that you typed or approved in this turn, and the conversation holds nothing else from outside."
}
