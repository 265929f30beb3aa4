// Package openclaw carries the plugin for OpenClaw, so that the program can hand
// it to whoever has nothing else of this repository. It holds no logic: what the
// plugin does stands in its own language beside this file.
package openclaw

import "embed"

// Plugin is what OpenClaw installs: the plugin without its tests.
//
//go:embed *.js *.json README.md
var Plugin embed.FS
