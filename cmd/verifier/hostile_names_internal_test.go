package main

import (
	"strings"
	"testing"
	"unicode"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// always is an override that says the same at every level.
func always(m taint.Mode) policy.Override { return policy.Override{Any: &m} }

func TestH14OtherSpellingsGetThePolicyOfTheTool(t *testing.T) {
	t.Parallel()
	edit := func(c *config.Config) {
		c.Policy.ToolOverrides = map[string]policy.Override{
			"exec": always(taint.Restrict), "apply_patch": always(taint.Confirm), "automations": always(taint.Restrict),
		}
	}
	r := newRig(t, edit)
	for tool, spellings := range map[string][]string{
		"exec":        {"exec", "EXEC", "Exec", " exec ", "\texec\r\n", "bash", "BASH", " Bash ", "\n bash"},
		"automations": {"automations", "cron", "CRON", " Cron\t", "Automations"},
	} {
		for _, name := range spellings {
			id := "spelled-" + strings.ToLower(strings.TrimSpace(name)) + "-" + strings.Repeat("x", len(r.kept()))
			a := r.deny(call{tool: name, params: `{"command":"date"}`, id: id, context: ownerIn("main")})
			if !strings.HasPrefix(a.Reason, "Not permitted here (ref ") {
				t.Errorf("%q: got %s, want what %s gets", name, a.raw, tool)
			}
			if e := r.decisions(id)[0]; e.Tool != tool || name != tool && e.Sent != name {
				t.Errorf("%q: recorded as %q, sent as %q", name, e.Tool, e.Sent)
			}
		}
	}
	for _, name := range []string{"apply_patch", "apply-patch", "APPLY-PATCH", " Apply-Patch\n", "Apply_Patch"} {
		a := r.deny(call{tool: name, params: `{"input":"` + strings.Repeat(" ", len(name)) + name[:1] + `"}`, context: with(ownerIn(strings.TrimSpace(name)), "waitMs", 5001)})
		if a.Ref == "" {
			t.Errorf("%q: got %s, want to be asked like apply_patch", name, a.raw)
		}
	}
	for _, card := range r.waiting(5) {
		if card.Tools[0] != "apply_patch" {
			t.Errorf("a card asks about %q", card.Tools)
		}
	}
}

func TestH14AGrantForOneSpellingIsForTheTool(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	stranger := map[string]any{"sessionKey": "agent:main:x", "senderId": "9"}
	held := r.hold(call{tool: "BASH", params: `{"command":"ls -l"}`, context: stranger})
	card := r.waits()
	if !strings.Contains(card.Text, "exec (sent as BASH)") {
		t.Errorf("the owner sees\n%s", card.Text)
	}
	r.approve(card.Ref, 30)
	if a := <-held; !a.allowed() {
		t.Fatalf("got %s", a.raw)
	}
	r.allow(call{tool: "exec", params: `{"command":"ls"}`, context: stranger})
}

// lookalikes of exec: what an eye takes for it and a machine does not.
var lookalikes = map[string]struct{ name, mark string }{
	"Cyrillic e":         {"\u0435xec", "U+0435"},
	"Cyrillic c":         {"exe\u0441", "U+0441"},
	"all Cyrillic":       {"\u0435\u0445\u0435\u0441", "U+0445"},
	"a zero-width space": {"ex\u200bec", "U+200B"},
	"a joiner at front":  {"\u200dexec", "U+200D"},
	"a soft hyphen":      {"exec\u00ad", "U+00AD"},
	"full width":         {"\uff45xec", "U+FF45"},
	"a hard space":       {"\u00a0exec", "U+00A0"},
	"a direction mark":   {"\u202ecexe", "U+202E"},
	"a byte order mark":  {"\ufeffexec", "U+FEFF"},
	"a null":             {"exec\x00", "U+0000"},
	"an escape":          {"exec\x1b[2K", "U+001B"},
}

func TestH15ALookalikeIsAnUnknownToolAndShownAsSuch(t *testing.T) {
	t.Parallel()
	// Were they taken for exec, they would pass.
	edit := func(c *config.Config) {
		mode := taint.Allow
		c.Policy.ToolOverrides = map[string]policy.Override{"exec": {TaintPolicy: policy.TaintPolicy{
			External: &mode, Untrusted: &mode, Shared: &mode,
		}}}
	}
	r := newRig(t, edit)
	for name, tt := range lookalikes {
		t.Run(name, func(t *testing.T) {
			stranger := map[string]any{"sessionKey": "agent:main:" + strings.ReplaceAll(name, " ", "-"), "senderId": "9"}
			r.allow(call{tool: "exec", params: `{"command":"date"}`, context: stranger})
			id := "lookalike-" + strings.ReplaceAll(name, " ", "-")
			held := r.hold(call{tool: tt.name, params: `{"command":"date"}`, id: id, context: stranger})
			card := r.waits()
			text, tool, _ := strings.Cut(card.Text, "tool ")
			tool, _, _ = strings.Cut(tool, "command")
			if !strings.Contains(tool, "⟨"+tt.mark) {
				t.Errorf("%s is not shown:\n%s", tt.mark, card.Text)
			}
			if strings.Contains(card.Text, tt.name) || strings.ContainsFunc(text+tool, invisible) {
				t.Errorf("the name stands on the card as it was sent:\n%q", card.Text)
			}
			if !strings.Contains(tool, "LOOK-ALIKE: ") {
				t.Errorf("nothing warns of the name:\n%s", card.Text)
			}
			r.approve(card.Ref, 0)
			if a := <-held; !a.allowed() {
				t.Errorf("got %s", a.raw)
			}
			if e := r.decisions(id)[0]; e.Tool == "exec" || e.RaisedTo != "untrusted" {
				t.Errorf("recorded as %q, raised to %q: an unknown tool brings in the worst", e.Tool, e.RaisedTo)
			}
		})
	}
	if out := r.screen.String(); strings.ContainsFunc(out, invisible) {
		t.Error("the terminal was sent characters that can't be seen")
	}
}

// invisible is what has no place on a card, line breaks apart.
func invisible(c rune) bool {
	return c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == '\u00a0')
}

func TestH15AGrantForExecDoesNotCoverALookalike(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	stranger := map[string]any{"sessionKey": "agent:main:x", "senderId": "9"}
	held := r.hold(call{tool: "exec", params: `{"command":"ls -l"}`, context: stranger})
	r.approve(r.waits().Ref, 30)
	if a := <-held; !a.allowed() {
		t.Fatalf("got %s", a.raw)
	}
	r.allow(call{tool: "exec", params: `{"command":"ls"}`, context: stranger})
	for name, tt := range lookalikes {
		if a := r.deny(call{tool: tt.name, params: `{"command":"ls"}`, context: with(stranger, "waitMs", 5001)}); a.Ref == "" && !strings.Contains(a.Reason, "Too many questions") {
			t.Errorf("%s: got %s, want to be asked", name, a.raw)
		}
	}
}

func TestH15ALookalikeIsNoSaferThanExecAtAnyLevel(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Policy.Profile = "paranoid" })
	stranger := map[string]any{"sessionKey": "agent:main:x", "senderId": "9"}
	for name, tt := range lookalikes {
		if a := r.deny(call{tool: tt.name, params: `{"command":"ls"}`, context: stranger}); !strings.HasPrefix(a.Reason, "Not permitted here") {
			t.Errorf("%s: got %s", name, a.raw)
		}
		owner := ownerIn(strings.ReplaceAll(name, " ", "-"))
		r.allow(call{tool: tt.name, params: `{"command":"ls"}`, context: owner})
		if a := r.deny(call{tool: "exec", params: `{"command":"ls"}`, context: owner}); !strings.HasPrefix(a.Reason, "Not permitted here") {
			t.Errorf("%s: what it brought in counts for nothing: %s", name, a.raw)
		}
	}
}
