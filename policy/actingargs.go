package policy

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// actingArguments makes a call of a tool that only looks one that acts, where an argument does more than to look. What the owner says of the tool comes first.
func (pl planner) actingArguments(c *toolcall.Call, t *text) {
	pl.elsewhere(t)
	if pl.sink || pl.by != "" {
		return
	}
	fetches := pl.rule.name == "web_fetch" || pl.gets
	switch {
	case pl.rule.name == "session_status" && strings.TrimSpace(t.param(paramModel)) != "":
		pl.actsBy("the model that it sets")
	case pl.rule.name == "web_fetch" && hasOtherParams(t):
		pl.actsBy("an argument that we don't know")
	case fetches && !pl.told && fetchesLocal(c, t):
		pl.actsBy("its address, which may be in your own network")
	case pathTools[pl.rule.name] && !isPosix(c) && namesShare(c.Tool, t):
		pl.actsBy("its path, which is on another machine")
		pl.Leaves, pl.Raise = true, untrusted
	}
}

// pageParams are the arguments of web_fetch in OpenClaw and the coding agents. With another one it may send something, or write a file.
var pageParams = words("url urls prompt format timeout timeoutMs extractMode maxChars offset")

func hasOtherParams(t *text) bool {
	for path := range t.strings {
		if !pageParams[topOf(path)] {
			return true
		}
	}
	return false
}

// fetchesLocal reports whether a call fetches an address that is no page of the public web: a service on this machine or in its network may do something
// when it is merely asked, or hand out keys. An address that the owner typed is the owner's.
func fetchesLocal(c *toolcall.Call, t *text) bool {
	messages := c.OwnerMessages()
	isLocal := func(address string) bool { return !isPlainPage(address) && !saidBy(messages, address) }
	if slices.ContainsFunc(urlsOf(t), isLocal) {
		return true
	}
	for path, value := range t.strings {
		found := []string{value} // it is an address as a whole
		if !begins.MatchString(value) || strings.ContainsAny(strings.TrimSpace(value), " \n") {
			found = addresses.FindAllString(value, -1)
		}
		if path != value && slices.ContainsFunc(found, func(a string) bool { return isLocal(strings.TrimRight(a, ".,;:!?)]")) }) {
			return true
		}
	}
	return false
}

// urlsOf are the addresses that a call names as such.
func urlsOf(t *text) (urls []string) {
	for path, value := range t.strings {
		if top := topOf(path); path == value || top != "url" && top != "urls" {
			continue
		}
		if !strings.Contains(value, "://") && !begins.MatchString(value) {
			value = "https://" + value
		}
		urls = append(urls, value)
	}
	return urls
}

// isPlainPage reports whether an address is a page of the public web for every reader of addresses: some fold letters of other scripts into digits.
func isPlainPage(address string) bool {
	u, err := url.Parse(strings.TrimSpace(address))
	return err == nil && isPage(address) && strings.IndexFunc(u.Host, func(c rune) bool { return c > '~' }) < 0
}

var (
	begins    = regexp.MustCompile(`(?i)^\s*https?:`)
	addresses = regexp.MustCompile(`(?i)https?:[/\\]*[^\s<>"'/\\` + "`" + `][^\s<>"'` + "`" + `]*`)
)

// pathTools look at what they are given the path of.
var pathTools = words("read ls glob grep memory_get image view_image pdf")

// namesShare reports whether a path is on another machine: Windows asks it for the file, and tells it who the user is.
func namesShare(tool string, t *text) bool {
	for path, value := range t.strings {
		if top := topOf(path); path != value && top != "prompt" && (top != "pattern" || tool == "glob") && share.MatchString(value) {
			return true
		}
	}
	return false
}

var share = regexp.MustCompile(`^\s*@?[\\/]{2}[^\\/]`)

// isPosix reports whether the runtime says that commands run on a system other than Windows: by its name, or else by a path that
// begins with a slash, and not as a drive or a share of Windows is written there: /c/x, /cygdrive/c/x, //server/x.
func isPosix(c *toolcall.Call) bool {
	if name := c.Context.Platform; name != "" {
		return posix[name]
	}
	return strings.HasPrefix(c.Context.Workspace, "/") && !windowsPath.MatchString(c.Context.Workspace)
}

var (
	posix       = words("linux darwin freebsd openbsd")
	windowsPath = regexp.MustCompile(`^/([A-Za-z]|cygdrive)?(/|$)`)
)
