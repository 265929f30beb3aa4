package mcp

import (
	"net/url"
	"path/filepath"
	"strings"
)

// known are the packages whose servers have a name of their own in the shipped tables. Any other package that calls itself
// alike gets another name.
var known = map[string]string{
	"@modelcontextprotocol/server-everything": "everything", "@modelcontextprotocol/server-filesystem": "filesystem", "@modelcontextprotocol/server-memory": "memory",
	"@modelcontextprotocol/server-sequential-thinking": "sequential-thinking", "@modelcontextprotocol/server-github": "github", "@modelcontextprotocol/server-slack": "slack",
	"@modelcontextprotocol/server-postgres": "postgres", "@modelcontextprotocol/server-puppeteer": "puppeteer", "@playwright/mcp": "playwright",
	"mcp-server-fetch": "fetch", "mcp-server-git": "git", "mcp-server-time": "time", "mcp-server-sqlite": "sqlite", "github-mcp-server": "github",
}

// runners are programs that run a package which one of their arguments names, and their own words before it.
var runners = map[string]bool{
	"npx": true, "bunx": true, "uvx": true, "pnpm": true, "yarn": true, "npm": true, "bun": true, "uv": true, "pipx": true,
	"exec": true, "dlx": true, "run": true, "tool": true, "x": true,
}

// NameOf is what to call a server by its command, where its owner has not named it.
func NameOf(command []string) string {
	name := ""
	for i, arg := range command {
		base := strings.TrimSuffix(strings.ToLower(filepath.Base(arg)), ".exe")
		if i == 0 && !runners[base] {
			name = base
			break
		}
		if strings.HasPrefix(arg, "-") || runners[base] && !strings.Contains(arg, "@") {
			continue
		}
		name = arg
		break
	}
	if at := strings.LastIndexByte(name, '@'); at > 0 { // its version
		name = name[:at]
	}
	if short, ok := known[name]; ok {
		return short
	}
	return clean(name)
}

// clean turns anything into a name that a server may have.
func clean(name string) string {
	words := strings.FieldsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-'
	})
	name = strings.Join(words, "-")
	if name = name[:min(len(name), 64)]; name == "" {
		return "server"
	}
	for _, short := range known {
		if name == short { // one that only calls itself so
			return name[:min(len(name), 60)] + "-own"
		}
	}
	return name
}

// NameOfURL is what to call a server that is reached by an address, where its owner has not named it.
func NameOfURL(u *url.URL) string { return clean(u.Hostname()) }
