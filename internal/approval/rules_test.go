package approval_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/taint"
)

// What a yes covers afterwards. Columns: the call that is asked about, what is typed, and for each later call by what
// it passes ("" it asks).
func TestWhatAScopeGrants(t *testing.T) {
	type edit = func(*approval.Ask)
	shell := func(a *approval.Ask) { a.Tool, a.Shell = "exec", true }
	mail := func(to string) edit {
		return func(a *approval.Ask) {
			a.Tool, a.Same, a.Goes, a.TargetParams = "message", "to="+to, []string{to}, []string{"to"}
		}
	}
	both := func(all ...edit) edit {
		return func(a *approval.Ask) {
			for _, e := range all {
				e(a)
			}
		}
	}
	plain := func(*approval.Ask) {}
	other := func(a *approval.Ask) { a.Digest = "another " + a.Digest }
	r := newRig(t, nil)
	for row, c := range []struct {
		call  edit
		typed string // behind the code
		later edit
		by    string
	}{
		{plain, "", plain, ""},
		{plain, "30", plain, "grant"},
		{plain, "30", other, "grant"},
		{plain, "99999", other, "grant"},
		{plain, "turn", other, "grant"},
		{plain, "turn", func(a *approval.Ask) { a.Run = "r2" }, ""},
		{plain, "exactly", plain, "grant"},
		{plain, "exactly 5", other, ""},
		{plain, "exactly turn", plain, "grant"},
		{plain, "same 5", plain, ""}, // it has no recipients: once
		{plain, "30", func(a *approval.Ask) { a.Level = taint.Untrusted }, ""},
		{plain, "30", func(a *approval.Ask) { a.Window = "s2" }, ""},
		{plain, "30", func(a *approval.Ask) { a.Window = "" }, ""},
		{plain, "30", func(a *approval.Ask) { a.Agent = "helper" }, ""},
		{plain, "30", func(a *approval.Ask) { a.Tool = "write" }, ""},
		{plain, "30", func(a *approval.Ask) { a.Direct = false }, ""},
		{plain, "30", func(a *approval.Ask) { a.Lasting = false }, ""},
		{plain, "30", func(a *approval.Ask) { a.Marked = true }, ""},
		{plain, "30", func(a *approval.Ask) { a.Hidden = 1 }, ""},
		{plain, "30", func(a *approval.Ask) { a.HeldOnly = true }, ""},
		{func(a *approval.Ask) { a.Marked = true }, "30", plain, ""}, // the yes was for this call only
		{func(a *approval.Ask) { a.Lasting = false }, "30", plain, ""},
		{func(a *approval.Ask) { a.Run = "" }, "turn", plain, ""},
		{func(a *approval.Ask) { a.Unsure = true }, "30", plain, "grant"}, // exactly, for it may have recipients
		{func(a *approval.Ask) { a.Unsure = true }, "30", both(func(a *approval.Ask) { a.Unsure = true }, other), ""},
		{mail("bob"), "30", both(mail("bob"), other), "grant"},
		{mail("bob"), "30", both(mail("eve"), other), ""},
		{mail("bob"), "same", both(mail("bob"), other), "grant"},
		{mail("bob"), "exactly", both(mail("bob"), other), ""},
		{shell, "30", both(shell, other), "grant"},
		{shell, "30", both(shell, other, func(a *approval.Ask) { a.Network = true }), ""},
		{shell, "30", both(shell, other, func(a *approval.Ask) { a.Marked = true }), ""},
		{both(shell, func(a *approval.Ask) { a.Network = true }), "30", both(shell, other), ""},
		{both(shell, func(a *approval.Ask) { a.Network = true }), "30", both(shell,
			func(a *approval.Ask) { a.Network = true }), "grant"},
	} {
		q := request(func(q *approval.Request) { c.call(&q.Ask) })
		q.Ask.Conversation.Key = fmt.Sprint("row ", row)
		card := r.waits(q)
		if o := r.types(alice, strings.TrimSpace(fmt.Sprintf(".approve %s %s %s", q.Ask.Tool, card.Code,
			c.typed))); o.State != approval.Allowed {
			t.Fatalf("%+v: %+v", c.typed, o)
		}
		if _, by := r.claim(q, nil); by == "" { // uses up the yes
			t.Fatalf("%q: the call itself does not pass", c.typed)
		}
		again := *q
		again.ID, again.Ask.Tool = "later", "read_mail"
		again.Ask.Shell, again.Ask.Network, again.Ask.Marked, again.Ask.Unsure, again.Ask.Lasting,
			again.Ask.Run = false, false, false, false, true, q.Ask.Run
		again.Ask.Tool = q.Ask.Tool
		c.later(&again.Ask)
		if _, by := r.claim(&again, nil); by != c.by {
			t.Errorf("%s %q, then %+v passes by %q, want %q", q.Ask.Tool, c.typed, again.Ask, by, c.by)
		}
	}
}

func TestWhatIsCutOffAScopeIsSaid(t *testing.T) {
	for _, c := range []struct {
		edit        func(*approval.Ask)
		typed, says string
	}{
		{func(*approval.Ask) {}, "99999", "60 minutes is the most"}, // H30
		{func(a *approval.Ask) { a.Run = "" }, "turn", "names no run"},
		{func(a *approval.Ask) { a.Marked = true }, "30", "can't get a lasting grant"},
		{func(a *approval.Ask) { a.Shell, a.Network = true, true }, "30", "exactly this one"},
		{func(a *approval.Ask) { a.Shell = true }, "30", "A page that is read meanwhile may use it."},
		{func(a *approval.Ask) { a.Same, a.Goes = "to=bob", []string{"bob"} }, "30", "to the same recipients"},
		{func(*approval.Ask) {}, "same", "can't tell where such calls go"},
	} {
		r := newRig(t, nil)
		card := r.waits(request(func(q *approval.Request) { c.edit(&q.Ask) }))
		if o := r.types(alice, ".approve read_mail "+card.Code+" "+c.typed); !strings.Contains(o.Text, c.says) {
			t.Errorf("%s: %q", c.typed, o.Text)
		}
		r.Close()
	}
}

// Who may answer: people by id, what is special about the agent, and whose answer it is.
func TestWhoMayAnswer(t *testing.T) {
	r := newRig(t, func(o *approval.Options) {
		o.Terms.Agents = map[string]approval.Agent{"HELPER": {Approvers: []string{"bob"}}}
	})
	for _, c := range []struct {
		agent, id string
		kind      approval.Kind
	}{
		{"main", alice, approval.Counted},
		{"main", bob, approval.Counted},
		{"main", mallory, approval.Unauthorised},
		{"main", "", approval.Unauthorised},
		{"main", "alice", approval.Unauthorised}, // H34: a name is no id
		{"helper", bob, approval.Counted},
		{"helper", alice, approval.Unauthorised},
	} {
		q := request(func(q *approval.Request) { q.Ask.Agent, q.Ask.Conversation.Key = c.agent, c.agent+c.id })
		card := r.waits(q)
		for i, a := range []approval.Answer{
			{Text: ".approve read_mail " + card.Code}, {Handle: card.Handle(approval.AllowOnce)}, {Ref: card.Ref(),
				Allow: true},
		} {
			a.ID = c.id
			if o := r.answer(a); (i == 0 || c.kind != approval.Counted) && o.Kind != c.kind {
				t.Errorf("%s, %q, way %d: %+v", c.agent, c.id, i, o)
			}
		}
		if _, o, _, err := r.Look(t.Context(), card.ID); err != nil ||
			(o.State == approval.Allowed) != (c.kind == approval.Counted) {
			t.Errorf("%s, %q: the card is %s, %v", c.agent, c.id, o.State, err)
		}
	}
	for name, o := range map[string]approval.Terms{
		"H33 no people": {},
		"no one for the agent": {People: people,
			Agents: map[string]approval.Agent{"main": {Approvers: []string{}}}},
		"fewer than it takes": {People: people, Config: approval.Config{Approvals: 3}},
		"it names no agent, one has none": {People: people,
			Agents: map[string]approval.Agent{"x": {Approvers: []string{}}}},
	} {
		r := newRig(t, func(p *approval.Options) { p.Terms = o })
		q := request(nil)
		if strings.Contains(name, "names no agent") {
			q.Ask.Agent = ""
		}
		if h := get(t, r.ask(r.Desk, q)); h.err == nil {
			t.Errorf("%s: asked, and told %+v", name, h.Ruling)
		}
		r.Close()
	}
}

var people = []approval.Person{{Name: "alice", IDs: []string{alice}}, {Name: "bob", IDs: []string{bob}}}

// Any no is final, and a yes takes as many different people as it says, in whatever order they answer.
func TestFirstTerminalAnswerWins(t *testing.T) {
	const carol = "chat:3"
	r := newRig(t, func(o *approval.Options) {
		o.Terms.Approvals, o.Terms.MaxPromptsPerHour = 2, 1000
		o.Terms.People = append(people[:2:2], approval.Person{Name: "carol", IDs: []string{carol}})
	})
	for order := range 3 * 3 * 3 {
		for says := range 8 { // a bit an answer: yes or no
			q := request(nil)
			q.Ask.Conversation.Key = fmt.Sprint(order, says)
			card := r.waits(q)
			yes, want := map[string]bool{}, approval.Open
			for i, at := range []int{order % 3, order / 3 % 3, order / 9} {
				who, allow := []string{alice, bob, carol}[at], says>>i&1 == 1
				var o approval.Outcome
				if allow {
					o = r.tap(who, card, approval.AllowOnce)
				} else {
					o = r.tap(who, card, approval.DenyCall)
				}
				if want == approval.Open && !allow {
					want = approval.Denied
				} else if yes[who] = true; want == approval.Open && len(yes) == 2 {
					want = approval.Allowed
				}
				if o.State != want && (o.Kind != approval.Misunderstood || want != approval.Open) {
					t.Fatalf("order %d, says %b, answer %d: %+v, want %s", order, says, i, o, want)
				}
			}
		}
	}
}

// H25, H27: one yes lets one of many identical calls through.
func TestOneYesLetsOneCallThrough(t *testing.T) {
	r := newRig(t, nil)
	q := request(nil)
	card := r.waits(q)
	r.tap(alice, card, approval.AllowOnce)
	var passed sync.Map
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			one := *q
			one.ID = fmt.Sprint("request of many ", i)
			if _, by := r.claim(&one, nil); by != "" {
				passed.Store(one.ID, by)
			}
		})
	}
	all.Wait()
	n := 0
	passed.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d calls passed by one yes", n)
	}
}

// A yes that comes too late for its call is for one identical call, while nothing has changed.
func TestWhatALateYesIsFor(t *testing.T) {
	for name, c := range map[string]struct {
		between func(r *rig, card *approval.Card)
		edit    func(*approval.Ask)
		passes  bool
		quiet   bool // its caller is told nothing either
	}{
		"the same call":             {passes: true},
		"H28 another digest":        {edit: func(a *approval.Ask) { a.Digest += "0" }},
		"H26 another conversation":  {edit: func(a *approval.Ask) { a.Conversation.Key = "agent:main:other" }},
		"a worse level":             {edit: func(a *approval.Ask) { a.Level = taint.Untrusted }},
		"a better level":            {edit: func(a *approval.Ask) { a.Level = taint.Owner }, passes: true},
		"files were written unseen": {edit: func(a *approval.Ask) { a.Unseen = true }},
		"another message":           {edit: func(a *approval.Ask) { a.Said = []string{"go on"} }, passes: true},
		"a pause and its end": {between: func(r *rig, _ *approval.Card) {
			r.types(alice, ".pause")
			r.types(alice,
				".resume")
		}},
		"a reset": {between: func(r *rig, card *approval.Card) {
			r.types(alice,
				".reset-trust "+talk.Ref())
		}},
		"its time is over": {between: func(r *rig,
			card *approval.Card) {
			r.clock.Add(int64(31 * time.Minute))
		}},
		"the clock was set back": {between: func(r *rig, card *approval.Card) {
			r.clock.Add(-int64(time.Hour))
			r.until("the store has noticed", func() bool {
				_, _, _, err := r.Look(r.Context(), card.ID)
				return err != nil
			})
		}},
		"the session has ended": {between: func(r *rig, card *approval.Card) {
			if err := r.Abandon(r.Context(), approval.Ending{Conversation: talk, SessionKey: talk.Key,
				SessionID: "s"}); err != nil {
				r.Fatal(err)
			}
		}},
		"the conversation got worse meanwhile": {between: func(r *rig, _ *approval.Card) {
			err := r.store.Update(r.Context(), talk, func(t *store.Tx) error {
				t.C.Raise("s", taint.Untrusted, "web_fetch", t.Now)
				return nil
			})
			if err != nil {
				r.Fatal(err)
			}
		}, edit: func(a *approval.Ask) { a.Level = taint.Untrusted }, quiet: true},
		"its giver may not any more": {between: func(r *rig, card *approval.Card) {
			if err := r.Configure(approval.Terms{People: []approval.Person{{Name: "alice",
				IDs: []string{"chat:9"}}}}); err != nil {
				r.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			q := request(nil)
			card := r.waits(q)
			if o := r.tap(alice, card, approval.AllowOnce); o.State != approval.Allowed {
				t.Fatalf("%+v", o)
			}
			if c.between != nil {
				c.between(r, card)
			}
			told := r.Answered(r.Context(), "default", []string{approval.TicketOf(r.Desk, "default", card)}, 0)
			if (c.edit == nil || c.quiet) && (len(told) == 1) != c.passes {
				t.Errorf("its caller is told of %q", told)
			}
			again := *q
			again.ID = "a retry"
			if c.edit != nil {
				c.edit(&again.Ask)
			}
			if said, by := r.claim(&again, nil); (by == "yes") != c.passes {
				t.Errorf("it passes by %q: %+v", by, said)
			}
		})
	}
}

func TestHandlesAreShortAndOnlyOurs(t *testing.T) {
	r := newRig(t, nil)
	card := r.waits(request(nil))
	genuine := card.Handle(approval.AllowOnce)
	raw, err := base64.RawURLEncoding.DecodeString(genuine)
	if err != nil || len(genuine) > 64 || strings.Contains(string(raw), card.Code) {
		t.Fatalf("%q, %v", genuine, err)
	}
	forged := []string{"x", genuine[:43], genuine + "A", genuine + "=", "\n" + genuine}
	for i := range raw {
		raw[i] ^= 1
		forged = append(forged, base64.RawURLEncoding.EncodeToString(raw))
		raw[i] ^= 1
	}
	raw[0] = byte(approval.AllowMinutes)
	forged = append(forged, base64.RawURLEncoding.EncodeToString(raw))
	for _, h := range forged {
		if o := r.answer(approval.Answer{ID: alice, Handle: h}); o.Kind != approval.NotFound {
			t.Errorf("%q: %+v", h, o)
		}
	}
	other := newRig(t, func(o *approval.Options) { o.Key = []byte(strings.Repeat("k", 32)) })
	if o := other.answer(approval.Answer{ID: alice, Handle: genuine}); o.Kind != approval.NotFound {
		t.Errorf("another server takes the button: %+v", o)
	}
}

// What a button allows, and what it does where not all of a call is on the card.
func TestEachButtonDoesWhatItSays(t *testing.T) {
	minutes := func(target approval.Target) approval.Scope { return approval.Scope{Target: target, Minutes: 30} }
	for action, want := range map[approval.Action]struct {
		state  approval.State
		scope  approval.Scope
		hidden approval.Kind // where a value is hidden
	}{
		approval.AllowOnce:    {approval.Allowed, approval.Scope{}, approval.Misunderstood}, // H39
		approval.AllowMinutes: {approval.Allowed, minutes(approval.AnyCall), approval.Misunderstood},
		approval.AllowExactly: {approval.Allowed, minutes(approval.Exactly), approval.Misunderstood},
		approval.AllowTurn:    {approval.Allowed, approval.Scope{Turn: true, Minutes: 60}, approval.Misunderstood},
		approval.AllowSeen:    {approval.Allowed, approval.Scope{}, approval.Counted},
		approval.AllowFile:    {approval.Allowed, approval.Scope{}, approval.Counted},
		approval.DenyCall:     {approval.Denied, approval.Scope{}, approval.Counted},
		approval.Details:      {approval.Open, approval.Scope{}, approval.Shown},
		approval.AllowAlways:  {approval.Open, approval.Scope{}, approval.Misunderstood}, // only with the page's form
		'?':                   {approval.Open, approval.Scope{}, approval.NotFound},
	} {
		t.Run(string(rune(action)), func(t *testing.T) {
			r := newRig(t, nil)
			if o := r.tap(alice, r.waits(request(nil)), action); o.State != want.state || o.Scope != want.scope {
				t.Errorf("%+v", o)
			}
			card := r.waits(request(func(q *approval.Request) { q.Ask.Hidden = 1 }))
			if o := r.tap(alice, card, action); o.Kind != want.hidden {
				t.Errorf("with a hidden value: %+v", o)
			}
		})
	}
}

func TestAnAlwaysGrantIsGivenOnThePageForItsAgentAlone(t *testing.T) {
	r := newRig(t, nil)
	owned := func(a *approval.Ask) { a.Owner, a.Always, a.Tool, a.Shell = true, "exact abc", "exec", true }
	q := request(func(q *approval.Request) { owned(&q.Ask) })
	card := r.waits(q)
	for _, days := range []int{0, 31} {
		o := r.answer(approval.Answer{ID: alice, Handle: card.Handle(approval.AllowAlways),
			Scope: approval.Scope{Days: days}})
		if o.Kind != approval.Misunderstood {
			t.Errorf("for %d days: %+v", days, o)
		}
	}
	if o := r.answer(approval.Answer{ID: alice, Handle: card.Handle(approval.AllowAlways),
		Scope: approval.Scope{Days: 30}}); o.State != approval.Allowed {
		t.Fatalf("%+v", o)
	}
	r.claim(q, nil)
	for name, c := range map[string]struct {
		edit   func(*approval.Ask)
		passes bool
	}{
		"elsewhere":                  {func(*approval.Ask) {}, true},
		"another call":               {func(a *approval.Ask) { a.Always = "exact abd" }, false},
		"another agent":              {func(a *approval.Ask) { a.Agent = "helper" }, false},
		"not the owner's run":        {func(a *approval.Ask) { a.Owner = false }, false},
		"a worse level":              {func(a *approval.Ask) { a.Level = taint.Untrusted }, false},
		"the conversation holds one": {func(a *approval.Ask) { a.Holds = true }, false},
		"written unseen":             {func(a *approval.Ask) { a.Unseen = true }, false},
		"marked":                     {func(a *approval.Ask) { a.Marked = true }, false},
	} {
		later := request(func(q *approval.Request) {
			owned(&q.Ask)
			q.Ask.Conversation = store.Name{Client: "default", Key: "agent:main:other"}
			c.edit(&q.Ask)
		})
		if _, by := r.claim(later, nil); (by == "grant") != c.passes {
			t.Errorf("%s: it passes by %q", name, by)
		}
	}
	open, _, err := r.Grants.List(t.Context())
	if err != nil || len(open) != 1 || !open[0].Always {
		t.Fatalf("%+v, %v", open, err)
	}
	if o := r.types(alice, ".revoke "+card.Ref()); o.Kind != approval.Replied {
		t.Errorf("%+v", o)
	}
	if _, by := r.claim(request(func(q *approval.Request) { owned(&q.Ask) }), nil); by != "" {
		t.Errorf("after it was revoked a call passes by %q", by)
	}
}
