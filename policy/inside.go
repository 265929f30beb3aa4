package policy

import (
	"regexp"
	"strings"
)

// insideOf finds commands that change OpenClaw's settings or plugins, and the inside of a running program: /proc/1/environ.
func insideOf(said string, commands bool) string {
	if strings.Contains(said, "/proc") && inside.MatchString(said) {
		return "the inside of a running program"
	}
	if commands && strings.Contains(said, "claw") && changesRuntime.MatchString(said) && !looksAtRuntime.MatchString(said) {
		return "what changes the agent's own runtime"
	}
	return ""
}

var (
	inside         = regexp.MustCompile(`/proc/[^/]+/(task/\d+/)?(environ|mem)\b|/proc/(\*|\d+)/(fd|root|cwd|exe|cmdline|map_files|maps|auxv)\b`)
	changesRuntime = regexp.MustCompile(`(?i)\bopenclaw(\.\w+)?\b[^;&|\n]*[\s\x00](config|configure|plugins?|approvals|hooks|onboard|setup|reset|uninstall|config\.\w+)\b`)
	looksAtRuntime = regexp.MustCompile(`(?i)\b(config|plugins?|approvals|hooks)[\s\x00]+(get|list|ls|info|inspect|show|status|schema|validate|file|path|search|help|-h|--help)\b`)
)
