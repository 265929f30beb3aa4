package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"time"
)

// versionPatience is how long an agent may take to say its version.
const versionPatience = 10 * time.Second

var versionForm = regexp.MustCompile(`\d+\.\d+\.\d+[0-9A-Za-z.+-]*`)

// agentVersion asks an agent for its version: "" if it does not say.
func agentVersion(a *app, name string) string {
	path, err := exec.LookPath(agentWirings[name].program)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(a.ctx, versionPatience)
	defer cancel()
	c := exec.CommandContext(ctx, path, "--version") //nolint:gosec // an agent that the user has installed
	c.WaitDelay = time.Second
	out, _ := c.Output() // what it says, if it says something
	return versionForm.FindString(string(out))
}

// isOlder reports whether a version comes before another one. One that is not told does.
func isOlder(version, than string) bool {
	var have, want [3]int
	if n, err := fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2]); err != nil || n != len(have) {
		return true
	}
	if _, err := fmt.Sscanf(than, "%d.%d.%d", &want[0], &want[1], &want[2]); err != nil {
		return true
	}
	return slices.Compare(have[:], want[:]) < 0
}

// ofVersion says whether an agent's version was tried.
func ofVersion(a *app, name string) (text string, known bool) {
	w := agentWirings[name]
	switch v := agentVersion(a, name); v {
	case "":
		return w.name + " does not say its version; " + w.tried + " was tried", false
	case w.tried:
		return w.name + " " + v + ", which was tried", true
	default:
		return w.name + " " + printable(v) + "; " + w.tried + " was tried. Let it run a command, and see in `" +
			programName() + " audit show` that it asks", false
	}
}
