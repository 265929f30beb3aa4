// Package openclaw carries the plugin for OpenClaw, so that the program can hand
// it to users who have nothing else of this repository. It holds no logic: the
// plugin is written in its own language beside this file.
package openclaw

import "embed"

// Plugin is what OpenClaw installs: the plugin without its tests.
//
//go:embed *.js *.json README.md
var Plugin embed.FS
