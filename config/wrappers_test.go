package config_test

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/taint"
)

// The configs of the seeds, word for word: the schema of seed 003, seed 001 in JSON5 with bare keys and a comma at the
// end, the installation of seed 000.
//
//go:embed testdata/seed003.json5
var seed003 string

//go:embed testdata/seed001.json5
var seed001 string

//go:embed testdata/seed000.json
var seed000 string

// said reports whether a finding has this place and these words.
func said(findings []config.Finding, want string) bool {
	return slices.ContainsFunc(findings, func(f config.Finding) bool {
		return strings.Contains(fmt.Sprintf("%d:%d %v", f.Line, f.Col, f), want)
	})
}

func TestSeed003LoadsWordForWord(t *testing.T) {
	c, findings := parse(t, seed003)
	if c.Clients()["default"][0].Reveal() != other || strings.Join(c.Policy.Scope.Include, " ") != "exec write edit apply_patch" {
		t.Errorf("%+v %+v", c.Webhook, c.Policy.Scope)
	}
	if _, set := c.Channels["telegram"]; !set {
		t.Error("there is no Telegram")
	}
	for _, want := range []string{
		"6:7 tools.verifier.enabled: is the client's switch", "16:7 tools.verifier.failMode: belongs to the client",
		"20:9 tools.verifier.webhook.url: belongs to the client", "21:9 tools.verifier.webhook.timeout", "22:9 tools.verifier.webhook.headers",
	} {
		if !said(findings, want) {
			t.Errorf("%q is missing in\n%+v", want, findings)
		}
	}
}

func TestSeed001LoadsWordForWord(t *testing.T) {
	c, findings := parse(t, seed001)
	tools, a := c.CautionTools(), &c.Caution.Auditor
	if !c.Caution.Defaults || len(tools) != 7 || !tools["web_fetch"] || tools["web_search"] || a.TimeoutMs != 3000 || a.FailMode != "block" {
		t.Errorf("%+v", c.Caution)
	}
	if a.Provider != "" || !said(findings, "tools.caution.auditor.model: names a model of the runtime's, which this program can't ask") {
		t.Errorf("%+v", findings)
	}
}

func TestSeed000LoadsWordForWord(t *testing.T) {
	c, findings := parse(t, seed000)
	if p := c.Policy.TaintPolicy; *p.Shared != taint.Confirm || *p.Local != taint.Allow || c.ApprovalTTLSeconds != 120 || *c.Policy.ToolOverrides["gateway"].Any != taint.Confirm {
		t.Errorf("%+v", c.Policy)
	}
	if !said(findings, "plugins: belongs to the client") || !said(findings, "hooks: belongs to the client") {
		t.Errorf("%+v", findings)
	}
}

func FuzzCommentsInBraces(f *testing.F) {
	for _, s := range []string{seed003, seed001, "{/* a */}", `{"a":"//"}`, "{a: 'b' // c", "{'\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// It ends, and what is no comment stays: a text without a slash is read as before.
		config.Parse("v.yaml", []byte(text), env, chats) //nolint:errcheck // it may be anything
	})
}

func TestCommentsAreReadOnlyWhereTheyCanBeNothingElse(t *testing.T) {
	c, _ := parse(t, "{ /* one */ listen: '127.0.0.1:1' /* two\n lines */, // three\n}")
	if c.Listen != "127.0.0.1:1" {
		t.Errorf("%+v", c)
	}
	c, _ = parse(t, `{web: {url: https://page.example.org}, webhook: {bearer: "u9-4f1c7be20d5a83e6//*shared*/"}}`)
	if c.Web.URL != "https://page.example.org" || c.Webhook.Bearer.Reveal() != "u9-4f1c7be20d5a83e6//*shared*/" {
		t.Errorf("%+v", c)
	}
	for _, text := range []string{"listen: 127.0.0.1:1 // here\n", "// here\nlisten: 127.0.0.1:1\n", "{listen: '127.0.0.1:1' /* and so on }"} {
		refusals(t, text)
	}
}
