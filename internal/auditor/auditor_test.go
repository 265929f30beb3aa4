package auditor_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/taint"
)

// Idle connections are let go after a minute.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

// model is a model that answers as a test says.
type model func(ctx context.Context, p auditor.Prompt) (auditor.Reply, error)

func (m model) Answer(ctx context.Context, p auditor.Prompt) (auditor.Reply, error) { return m(ctx, p) }

func says(text string) model {
	return func(context.Context, auditor.Prompt) (auditor.Reply, error) {
		return auditor.Reply{Text: text, Input: 120, Output: 3}, nil
	}
}

var errModel = errors.New("500 from the model")

// watch is an auditor and what it was seen doing.
type watch struct {
	*auditor.Auditor
	mu   sync.Mutex
	seen []auditor.Observation
}

func newAuditor(t *testing.T, m auditor.Model) *watch {
	t.Helper()
	w := &watch{}
	w.Auditor = auditor.New(auditor.Options{
		Model: m, Timeout: auditor.DefaultTimeout, Observe: func(o auditor.Observation) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.seen = append(w.seen, o)
		},
	})
	return w
}

func (w *watch) last() auditor.Observation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[len(w.seen)-1]
}

func question(params string) auditor.Question {
	return auditor.Question{Messages: []string{"email Bob a recommendation"}, Sources: []string{"web_fetch"},
		Tool: "send_email", Params: jsontext.Value(params)}
}

func TestWithoutAUsersWordNobodyIsAsked(t *testing.T) {
	a := newAuditor(t, model(func(context.Context, auditor.Prompt) (auditor.Reply, error) {
		t.Error("the model was asked")
		return auditor.Reply{Text: "allow"}, nil
	}))
	q := question("{}")
	q.Messages = nil
	if o := a.Ask(t.Context(), q); o.Verdict != auditor.NoAnswer || a.last().Cause != "no_messages" {
		t.Errorf("%+v", o)
	}
}

func TestAnAnswerHasThreeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuditor(t, model(func(ctx context.Context, _ auditor.Prompt) (auditor.Reply, error) {
			<-ctx.Done()
			return auditor.Reply{Text: "allow"}, errModel // as a library may put it
		}))
		began := time.Now()
		o := a.Ask(t.Context(), question("{}"))
		if took := time.Since(began); o.Verdict != auditor.NoAnswer || took != auditor.DefaultTimeout ||
			a.last().Cause != "timeout" {
			t.Errorf("%+v after %s (%s)", o, took, a.last().Cause)
		}
		left, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if o := a.Ask(left, question("{}")); o.Verdict != auditor.NoAnswer || a.last().Cause != "left" {
			t.Errorf("%+v (%s)", o, a.last().Cause)
		}
	})
}

func TestAModelThatKeepsFailingIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, works := 0, false
		a := newAuditor(t, model(func(context.Context, auditor.Prompt) (auditor.Reply, error) {
			if asked++; works {
				return auditor.Reply{Text: "allow"}, nil
			}
			return auditor.Reply{}, errModel
		}))
		ask := func() auditor.Opinion { return a.Ask(t.Context(), question("{}")) }
		for range 20 {
			ask()
		}
		if asked != 5 || a.last().Cause != "resting" {
			t.Errorf("asked %d times (%s)", asked, a.last().Cause)
		}
		if err := a.Err(); err == nil || !strings.Contains(err.Error(), "failed 5 times in a row") {
			t.Errorf("its health: %v", err)
		}
		<-time.After(31 * time.Second)
		ask()
		ask()
		if asked != 6 {
			t.Errorf("after a rest it was asked %d times, want one try", asked-5)
		}
		<-time.After(31 * time.Second)
		works = true
		if o := ask(); o.Verdict != auditor.Allow {
			t.Errorf("%+v", o)
		}
		if err := a.Err(); err != nil {
			t.Errorf("its health once it works: %v", err)
		}
	})
}

func TestACallerWhoLeavesSaysNothingOfTheModel(t *testing.T) {
	a := newAuditor(t, model(func(ctx context.Context, _ auditor.Prompt) (auditor.Reply, error) {
		if err := ctx.Err(); err != nil {
			return auditor.Reply{}, err
		}
		return auditor.Reply{Text: "allow"}, nil
	}))
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 10 {
		a.Ask(gone, question("{}"))
	}
	if o := a.Ask(t.Context(), question("{}")); o.Verdict != auditor.Allow {
		t.Errorf("%+v", o)
	}
}

func TestAPanicOfTheModelDoesNotJamTheAuditor(t *testing.T) {
	bad := true
	a := newAuditor(t, model(func(context.Context, auditor.Prompt) (auditor.Reply, error) {
		if bad {
			panic("model")
		}
		return auditor.Reply{Text: "allow"}, nil
	}))
	for range 40 { // more than there are places
		func() {
			defer func() { _ = recover() }()
			a.Ask(t.Context(), question("{}"))
			bad = bad && a.last().Cause != "resting"
		}()
	}
	if bad {
		t.Error("panics do not count as failures")
	}
}

func TestTokensAndTimeAreTold(t *testing.T) {
	a := newAuditor(t, says("allow"))
	a.Ask(t.Context(), question("{}"))
	if o := a.last(); o.Input != 120 || o.Output != 3 || o.Took <= 0 || o.Verdict != auditor.Allow {
		t.Errorf("%+v", o)
	}
}

// The table "Default Caution Settings" of seed 001, row by row.
func TestSeed001Caution(t *testing.T) {
	c := auditor.NewCaution(true, nil)
	for tool, want := range map[string]bool{
		"web_fetch": true, "email": true, "webhook": true, "browser": true, "web_search": false,
	} {
		if got := c.On(tool, false, taint.Untrusted); got != want {
			t.Errorf("%s: %t, want %t", tool, got, want)
		}
	}
	// Local and output tools are off. What others wrote needs caution by whatever
	// tool it comes in, also if the owner switched that tool off.
	owners := auditor.NewCaution(true, map[string]bool{"exec": false, "message": false})
	for _, tool := range []string{"read", "write", "exec", "nodes", "message"} {
		if c.On(tool, false, taint.Local) || owners.On(tool, false, taint.Shared) {
			t.Errorf("%s: on for what is on the machine", tool)
		}
		if !c.On(tool, false, taint.External) || !owners.On(tool, false, taint.Untrusted) {
			t.Errorf("%s: off for what others wrote", tool)
		}
	}
	if !c.On("hooks", false, taint.Untrusted) {
		t.Error("what a webhook brought in needs no caution")
	}
	// Its principle: any tool that ingests content from outside defaults to on.
	if !c.On("mcp_reader", false, taint.Untrusted) || c.On("tts", false, taint.Local) {
		t.Error("the principle does not hold for tools that the table does not name")
	}
}

func TestTheOwnersWordComesFirstAndAToolCanOnlySwitchItselfOn(t *testing.T) {
	c := auditor.NewCaution(true, map[string]bool{"web_fetch": false, "exec": true})
	if c.On("web_fetch", false, taint.Untrusted) || !c.On("exec", false, taint.Local) {
		t.Error("the owner's word does not hold")
	}
	if c.On("web_fetch", true, taint.Untrusted) {
		t.Error("a tool switched on what the owner switched off")
	}
	off := auditor.NewCaution(false, nil)
	if !c.On("read", true, taint.Local) || !c.On("my_mail", true, taint.Local) ||
		!off.On("my_mail", true, taint.Local) {
		t.Error("a tool's own word does not hold")
	}
	if off.On("browser", false, taint.Untrusted) {
		t.Error("the shipped table holds although it is switched off")
	}
}
