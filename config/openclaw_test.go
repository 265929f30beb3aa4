package config_test

import (
	"slices"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

func TestOpenClawsConfigNamesItsWorkspaces(t *testing.T) {
	t.Parallel()
	const usual = "~/.openclaw/workspace"
	for text, want := range map[string][]string{
		``:                   {usual},
		`{"agents": {`:       {usual},
		`{"agents": "none"}`: {usual},
		`{"gateway": {}}`:    {usual},
		`{"agents": {"defaults": {"workspace": "/srv/claw"}}}`:                                      {"/srv/claw"},
		`{"agents": {"list": [{"id": "ops", "workspace": "/srv/ops"}, {"id": "b"}]}}`:               {usual, "/srv/ops"},
		"{\n// mine\nagents: {defaults: {workspace: '~/claw'}, list: [{workspace: '~/claw'},]},\n}": {"~/claw"},
	} {
		if got := config.OpenClawWorkspaces([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%s names %q, want %q", text, got, want)
		}
	}
}
