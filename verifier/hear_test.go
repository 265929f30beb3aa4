package verifier_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/verifier"
)

// told decodes an event as the server does.
func told(t *testing.T, name loop.Name, about, members string) *loop.Event {
	t.Helper()
	count++
	e, err := loop.Decode(name, fmt.Appendf(nil, `{"version":1,"timestamp":"2026-10-03T14:02:11Z","requestId":"event-%d","context":{%s},"event":%s}`, count, members, about))
	if err != nil {
		t.Fatal(err)
	}
	e.Call.Client = client
	return &e
}

// refused checks that an event was not taken in, and blocks where it may.
func (r *rig) refused(what string, e *loop.Event) {
	r.t.Helper()
	a := r.v.Hear(r.t.Context(), e)
	if a.Accepted || a.Reason == "" || a.Block != e.Name.MayBlock() || a.Block && a.BlockReason == "" || a.Tools != nil {
		r.t.Errorf("%s: %+v", what, a)
	}
}

func TestAnyFailureOfTheStoreRefusesAnEvent(t *testing.T) {
	cron := `"sessionKey":"agent:main:cron:j:run:1","trigger":"cron"`
	for method, e := range map[string]struct {
		name           loop.Name
		about, members string
	}{
		"Hear":            {loop.BeforeLLMCall, `{"tools":[]}`, owner("m")},
		"Link":            {loop.SubagentSpawned, `{"childSessionKey":"agent:main:subagent:1"}`, owner("m")},
		"AutomationFloor": {loop.ContextAssembled, `{"sources":[]}`, cron},
		"Raise":           {loop.SessionEnd, `{"nextSessionKey":"agent:main:n"}`, owner("m")},
	} {
		for how, err := range map[string]error{"panics": nil, "fails": errors.New("store: out of order")} {
			t.Run(method+" "+how, func(t *testing.T) {
				store, _ := openSQLite(t)
				b := &broken{Store: store, err: err, method: method}
				r := newRig(t, store, 1, func(o *verifier.Options) { o.Store = b })
				r.refused(method, told(t, e.name, e.about, e.members))
				b.method = ""
				if a := r.v.Hear(t.Context(), told(t, e.name, e.about, e.members)); !a.Accepted {
					t.Errorf("afterwards: %+v", a)
				}
			})
		}
	}
}

func TestAPanicAnywhereRefusesAnEvent(t *testing.T) {
	for name, edit := range map[string]func(*verifier.Options){
		"the policy":   func(o *verifier.Options) { o.Policy = func() *policy.Policy { panic("boom") } },
		"the redactor": func(o *verifier.Options) { o.Redactor = func() *redact.Redactor { panic("boom") } },
	} {
		store, _ := openSQLite(t)
		r := newRig(t, store, 1, edit)
		r.refused(name, told(t, loop.BeforeResponseEmit, `{"content":"x"}`, owner("m")))
	}
}

func TestWhatCannotBeRecordedIsNotTakenIn(t *testing.T) {
	store, _ := openSQLite(t)
	r := newRig(t, store, 1, nil)
	r.allow(call(t, "exec", ls, owner("m")))
	r.record.fail(true)
	r.refused("a rise", told(t, loop.AfterToolCall, `{"toolName":"web_fetch"}`, owner("m")))
	if a := r.v.Notice(t.Context(), call(t, "web_fetch", `{"url":"https://example.com"}`, owner("n"))); a.Accepted {
		t.Errorf("a notice: %+v", a)
	}
	r.record.fail(false)
	r.asked("the rise stands all the same", call(t, "exec", ls, owner("m")))
	r.asked("and that of the notice", call(t, "exec", ls, owner("n")))
}
