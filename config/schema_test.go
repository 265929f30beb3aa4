package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/openclaw-verifier/verifier/config"
)

// resolved is our schema as a library that others wrote understands it.
func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	text, err := config.Schema(chats)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// accepted says what an editor would say to a file.
func accepted(t *testing.T, r *jsonschema.Resolved, file string) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(file), &v); err != nil {
		t.Fatalf("%v in\n%s", err, file)
	}
	if v == nil {
		v = map[string]any{}
	}
	return r.Validate(v)
}

func anySecret(string) (string, bool) { return "bd6c8a0f3e517294bd6c8a0f3e517294", true }

// What the loader takes, an editor must not underline.
func TestSchemaAcceptsWhatTheLoaderAccepts(t *testing.T) {
	r := resolved(t)
	for _, file := range []string{
		"",
		"listen: 127.0.0.1:1\nwebhook: {hold: 10, maxHold: 1m30s, tolerance: 2.5, clients: {a: [\"${A}\"]}}",
		"profile: paranoid\ntaintPolicy: {system: allow, untrusted: restrict}\ntoolOverrides: {exec: {\"*\": confirm, external: restrict}}",
		"trust: {tools: {x: shared}, unknownSender: external}\ntaint: {from: shared}\nscope: {exclude: [read]}",
		"agents: {main: {maxIterations: 3, toolOverrides: {exec: {\"*\": confirm}}}}\nmaxIterations: 5",
		"approvers: []",
		"caution: {defaults: false, tools: {browser: true}, auditor: {provider: openai, baseUrl: \"http://127.0.0.1:1/v1\", model: m, timeoutMs: 500, failMode: warn, mode: advise}}",
		"approvers: [{name: Ann, ids: [\"token:owner\"]}]\napproval: {maxMinutes: 5, maxOpen: 1, approvals: 1}\napprovalTtlSeconds: 60",
		"channels: {telegram: {token: \"${T}\", deep: {more: [1]}}}",
		"redact: {fields: [iban], showFileBodies: true, patterns: [{name: card, regex: \"[0-9]{16}\", example: \"card 4111111111111111\"}]}\naudit: {path: /tmp/r, params: names, sync: each}\nlog: {format: json, level: debug}",
		"tools: {verifier: {enabled: true, failMode: deny, scope: {include: [exec]}, webhook: {url: \"https://a.example\", timeout: 30, headers: {A: b}, secret: \"${A}\"}, telegram: {enabled: false}}, web_fetch: {source: true}}",
		"tools: {caution: {defaults: true, tools: {exec: false}, auditor: {model: fast, timeoutMs: 3000, failMode: block}}}",
		"agents: {list: [{id: main, tools: {verifier: {enabled: true, failMode: deny, scope: {include: [read]}, maxIterations: 3, telegram: {enabled: false}}}}], other: {maxIterations: 3}}",
		"agents: {list: {maxIterations: 3}}", // an agent of that name
		"plugins: {entries: {provenance: {config: {maxIterations: 5}}}}\nhooks: {internal: {enabled: true}}",
	} {
		if _, _, err := config.Parse("f", []byte(file), anySecret, chats); err != nil {
			t.Errorf("the loader refuses what this test calls good: %v\n%s", err, file)
		}
		if err := accepted(t, r, file); err != nil {
			t.Errorf("%v\n%s", err, file)
		}
	}
}

func TestSchemaRefusesSlips(t *testing.T) {
	r := resolved(t)
	for _, file := range []string{
		"lisen: 127.0.0.1:1",
		"listen: 8787",
		"webhook: {hold: soon}",
		"webhook: {hold: -1}",
		"webhook: {secrets: one}",
		"profile: lax",
		"taintPolicy: {system: yes please}",
		"taintPolicy: {sistem: allow}",
		"toolOverrides: {exec: confirm}",
		"trust: {tools: {x: fine}}",
		"agents: {main: {failMode: allow}}",
		"approvers: {name: Ann}",
		"approvers: [{nam: Ann}]",
		"maxIterations: ten",
		"channels: {telegramm: {}}",
		"redact: {showFileBodies: sometimes}",
		"redact: {patterns: [{regexp: x}]}",
		"audit: {sync: often}",
		"caution: {auditor: {mode: decide}}",
		"caution: {auditor: {failMode: open}}",
		"failMode: allow",
		"tools: {verifier: {scoop: {include: [exec]}}}",
		"tools: {verifier: {webhook: {scret: x}}}",
		"tools: {verifier: {maxIterations: ten}}",
		"tools: {caution: {auditor: {mode: decide}}}",
		"agents: {list: [{id: main, tools: {verifier: {maxIterations: ten}}}]}",
		"agents: {list: [{id: main, tool: {}}]}",
	} {
		if _, _, err := config.Parse("f", []byte(file), anySecret, chats); err == nil {
			t.Errorf("the loader takes what this test calls a slip:\n%s", file)
		}
		if err := accepted(t, r, file); err == nil {
			t.Errorf("no word against\n%s", file)
		}
	}
}

// The file that init writes, with every setting in it switched on by hand or
// left as a comment, is one that its own hint does not complain about.
func TestSchemaAcceptsTheFileOfInit(t *testing.T) {
	text, err := os.ReadFile("../cmd/verifier/verifier.yaml.in")
	if err != nil {
		t.Fatal(err)
	}
	file := strings.NewReplacer("@SECRET@", "x", "@TOKEN@", "y", "@WORKSPACE@", `"/home/me/work"`).Replace(string(text))
	if err := accepted(t, resolved(t), file); err != nil {
		t.Error(err)
	}
}

func TestSchemaCarriesWordsAndDefaults(t *testing.T) {
	s := resolved(t).Schema()
	hold := s.Properties["webhook"].Properties["hold"]
	if string(hold.Default) != `"25s"` || hold.Description != "How long a call waits for a person." {
		t.Errorf("webhook.hold: default %s, description %q", hold.Default, hold.Description)
	}
	for name, want := range map[string]string{
		"profile": "default,paranoid,permissive,interactive,strict",
		"from":    "system,owner,local,shared,external,untrusted",
		"mode":    "allow,confirm,restrict",
	} {
		at := map[string]*jsonschema.Schema{
			"profile": s.Properties["profile"],
			"from":    s.Properties["taint"].Properties["from"],
			"mode":    s.Properties["toolOverrides"].AdditionalProperties.Properties["*"],
		}[name]
		var words []string
		for _, w := range at.Enum {
			words = append(words, fmt.Sprint(w))
		}
		if got := strings.Join(words, ","); got != want {
			t.Errorf("%s may be %s, want %s", name, got, want)
		}
	}
}
