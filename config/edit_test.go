package config_test

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/openclaw-verifier/verifier/config"
)

func TestAddKeepsWhatIsThere(t *testing.T) {
	for _, c := range []struct{ before, want string }{
		{"", "\nchannels:\n  telegram:\n    a: 1\n"},
		{"listen: x # mine", "listen: x # mine\n\nchannels:\n  telegram:\n    a: 1\n"},
		{"# channels:\n#   x: 1\nlisten: x\n", "# channels:\n#   x: 1\nlisten: x\n\nchannels:\n  telegram:\n    a: 1\n"},
		{"channels: # where\n\n    # first\n    slack:\n        b: 2\nlisten: x\n", "channels: # where\n    telegram:\n      a: 1\n\n    # first\n    slack:\n        b: 2\nlisten: x\n"},
		{"channels:\nlisten: x\n", "channels:\n  telegram:\n    a: 1\nlisten: x\n"},
		{"channels:", "channels:\n  telegram:\n    a: 1\n"},
	} {
		if got, ok := config.Add(c.before, "channels", "telegram:\n  a: 1\n"); !ok || got != c.want {
			t.Errorf("%q becomes %q (%t), want %q", c.before, got, ok, c.want)
		}
	}
	if got, ok := config.Add("approvers:\n- name: Bob\n", "approvers", "- name: Ann\n"); !ok || got != "approvers:\n- name: Ann\n- name: Bob\n" {
		t.Errorf("a list: %q (%t)", got, ok)
	}
	for _, before := range []string{"channels: {}\n", `{"listen": "x"}`, "# c\n{listen: x}\n", "channels:\nchannels:\n", "channels: null\n", "'channels': &a\n"} {
		if got, ok := config.Add(before, "channels", "telegram:\n  a: 1\n"); ok || got != before {
			t.Errorf("%q becomes %q", before, got)
		}
	}
}

// Whatever the file is, no line of it is lost, and a good file with block style has the new key.
func FuzzAdd(f *testing.F) {
	for _, s := range []string{"", "listen: x\n", "channels:\n  slack: {a: 1}\n", "{a: 1}", "channels: {}", "a: |\n  channels:\n", "channels:\r\n  x: 1\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, before string) {
		after, ok := config.Add(before, "channels", "telegram:\n  a: 1\n")
		if !ok {
			if after != before {
				t.Errorf("%q was changed to %q", before, after)
			}
			return
		}
		rest := after
		for line := range strings.Lines(before) {
			_, behind, found := strings.Cut(rest, strings.TrimSuffix(line, "\n"))
			if !found {
				t.Fatalf("%q lost %q: %q", before, line, after)
			}
			rest = behind
		}
		var was, is map[string]any
		if yaml.Unmarshal([]byte(before), &was) == nil && yaml.Unmarshal([]byte(after), &is) == nil {
			for key := range was {
				if _, there := is[key]; !there {
					t.Errorf("%q lost the key %q: %q", before, key, after)
				}
			}
		}
	})
}
