package session_test

import (
	"testing"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

func classify(ctx toolcall.Context) session.Initiator {
	return session.Classify(&toolcall.Call{Context: ctx}, taint.Untrusted)
}

// The table "How OpenClaw channels map to trust levels" of seed 000, row by
// row. A row that we change says so: docs/decisions.md, 2.
func TestSeed000InitialTrustByChannel(t *testing.T) {
	rows := []struct {
		row  string
		ctx  toolcall.Context
		want taint.Level
	}{
		{"Discord DM, owner", toolcall.Context{MessageProvider: "discord", SenderID: "1", SenderIsOwner: true}, taint.Owner},
		{"Discord DM, non-owner", toolcall.Context{MessageProvider: "discord", SenderID: "2"}, taint.External},
		{"Discord server channel, owner", toolcall.Context{MessageProvider: "discord", SenderID: "1", SenderIsOwner: true, GroupID: "general"}, taint.Shared},
		{"Discord server channel, non-owner", toolcall.Context{MessageProvider: "discord", SenderID: "2", GroupID: "general"}, taint.External},
		{"Slack DM, owner", toolcall.Context{MessageProvider: "slack", SenderID: "1", SenderIsOwner: true}, taint.Owner},
		{"Slack channel, owner", toolcall.Context{MessageProvider: "slack", SenderID: "1", SenderIsOwner: true, GroupID: "eng"}, taint.Shared},
		{"Slack channel, non-owner", toolcall.Context{MessageProvider: "slack", SenderID: "2", GroupID: "eng"}, taint.External},
		{"Telegram DM, owner", toolcall.Context{MessageProvider: "telegram", SenderID: "1", SenderIsOwner: true}, taint.Owner},
		{"Telegram group, owner", toolcall.Context{MessageProvider: "telegram", SenderID: "1", SenderIsOwner: true, GroupID: "-1"}, taint.Shared},
		{"Telegram group, anyone else", toolcall.Context{MessageProvider: "telegram", SenderID: "2", GroupID: "-1"}, taint.External},
		{"Signal DM, owner", toolcall.Context{MessageProvider: "signal", SenderID: "1", SenderIsOwner: true}, taint.Owner},
		{"Cron job, attested", toolcall.Context{Trigger: "cron"}, taint.System},
		{"Cron job without attestation: no messageProvider is not enough", toolcall.Context{SessionKey: "agent:main:cron:job:run:1"}, taint.Untrusted},
		{"Heartbeat, attested", toolcall.Context{Trigger: "heartbeat"}, taint.System},
		{"Heartbeat without attestation", toolcall.Context{}, taint.Untrusted},
		{"Webhook", toolcall.Context{SessionKey: "hook:6f1c"}, taint.Untrusted},
	}
	for _, r := range rows {
		t.Run(r.row, func(t *testing.T) {
			if got := classify(r.ctx); got.Level != r.want || got.Why == "" {
				t.Errorf("%s because %s, want %s", got.Level, got.Why, r.want)
			}
		})
	}
	t.Run("Sub-agent: its parent's conversation, not local", func(t *testing.T) {
		if got := classify(toolcall.Context{SpawnedBy: "agent:main:main"}); !got.Spawned || got.System {
			t.Errorf("%+v", got)
		}
	})
}

func TestGroupsAreSeenInTheSessionKeyToo(t *testing.T) {
	for key, want := range map[string]taint.Level{
		"agent:main:main":                        taint.Owner,
		"agent:main:direct:1":                    taint.Owner,
		"agent:main:telegram:direct:1":           taint.Owner,
		"agent:main:telegram:group:-1":           taint.Shared,
		"agent:main:telegram:group:-1:topic:4":   taint.Shared,
		"agent:main:discord:channel:9":           taint.Shared,
		"agent:main:discord:channel:9:thread:10": taint.Shared,
		"agent:main:matrix:room:!a":              taint.Shared,
	} {
		if got := classify(toolcall.Context{SessionKey: key, SenderID: "1", SenderIsOwner: true}).Level; got != want {
			t.Errorf("the owner in %s is %s, want %s", key, got, want)
		}
	}
}

func TestH23AWebhookThatLooksLikeCronIsNotSystem(t *testing.T) {
	for what, ctx := range map[string]toolcall.Context{
		"a hook's key":               {Trigger: "cron", SessionKey: "hook:6f1c"},
		"a hook's key in an agent":   {Trigger: "cron", SessionKey: "agent:main:hook:gmail:1"},
		"marked as outside content":  {Trigger: "cron", InputProvenance: toolcall.Provenance{Kind: "external_webhook"}},
		"a mark nobody knows":        {Trigger: "heartbeat", InputProvenance: toolcall.Provenance{Kind: "new_kind"}},
		"a trigger nobody knows":     {Trigger: "webhook"},
		"no trigger, but cron's key": {SessionKey: "agent:main:cron:job:run:1"},
		"the trigger in other case":  {Trigger: "Cron"},
	} {
		if got := classify(ctx); got.Level != taint.Untrusted || got.System {
			t.Errorf("%s: %+v", what, got)
		}
	}
	withSender := classify(toolcall.Context{Trigger: "cron", SenderID: "2"})
	if withSender.Level != taint.External {
		t.Errorf("a cron run with a sender is %s, want external", withSender.Level)
	}
}

func TestOutsideContentIsWorseThanWhoeverCarriesIt(t *testing.T) {
	web := toolcall.Provenance{Kind: "web"}
	for what, ctx := range map[string]toolcall.Context{
		"the owner":     {SenderID: "1", SenderIsOwner: true, InputProvenance: web},
		"a spawned run": {SpawnedBy: "agent:main:main", InputProvenance: web},
	} {
		if got := classify(ctx); got.Level != taint.Untrusted {
			t.Errorf("%s with outside content is %s", what, got.Level)
		}
	}
	chat := toolcall.Provenance{Kind: "external_user"}
	if got := classify(toolcall.Context{SenderID: "1", SenderIsOwner: true, InputProvenance: chat}).Level; got != taint.Owner {
		t.Errorf("the owner's chat message is %s", got)
	}
}

func TestWhoCannotBeToldIsWhatTheOwnerSays(t *testing.T) {
	got := session.Classify(&toolcall.Call{}, taint.External)
	if got.Level != taint.External {
		t.Errorf("%s, want external", got.Level)
	}
	// The owner's mark without an id still counts: the client vouches for it.
	if got := classify(toolcall.Context{SenderIsOwner: true}).Level; got != taint.Owner {
		t.Errorf("an owner without an id is %s", got)
	}
}

func TestH160ARunThatTheRuntimeResumesBringsNothingIn(t *testing.T) {
	got := classify(toolcall.Context{Trigger: "resume", SessionKey: "agent:main:main"})
	if got.Level != taint.System || !got.Resumed || got.System {
		t.Errorf("a resumed run: %+v", got)
	}
	for what, ctx := range map[string]toolcall.Context{
		"with a sender":             {Trigger: "resume", SenderID: "9"},
		"in a webhook's session":    {Trigger: "resume", SessionKey: "hook:6f1c"},
		"marked as outside content": {Trigger: "resume", InputProvenance: toolcall.Provenance{Kind: "outside_content"}},
		"marked as a user's":        {Trigger: "resume", InputProvenance: toolcall.Provenance{Kind: "external_user"}},
		"in other case":             {Trigger: "Resume"},
	} {
		if got := classify(ctx); got.Level < taint.External || got.Resumed {
			t.Errorf("%s: %+v", what, got)
		}
	}
}
