package config

import (
	"cmp"
	"slices"

	"github.com/goccy/go-yaml"
)

// openClawWorkspace is the agents' workspace where OpenClaw's config names no other.
const openClawWorkspace = "~/.openclaw/workspace"

// OpenClawWorkspaces are the workspaces of OpenClaw's agents, by its own config. A config that can't be read, or
// that is not there, names the usual one.
func OpenClawWorkspaces(text []byte) []string {
	type agent struct {
		Workspace string `yaml:"workspace"`
	}
	var file struct {
		Agents struct {
			Defaults agent   `yaml:"defaults"`
			List     []agent `yaml:"list"`
		} `yaml:"agents"`
	}
	if err := yaml.Unmarshal(uncommented(text), &file); err != nil {
		return []string{openClawWorkspace}
	}
	out := []string{cmp.Or(file.Agents.Defaults.Workspace, openClawWorkspace)}
	for _, a := range file.Agents.List {
		if a.Workspace != "" && !slices.Contains(out, a.Workspace) {
			out = append(out, a.Workspace)
		}
	}
	return out
}
