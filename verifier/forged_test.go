package verifier_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/verifier"
)

const ls, lsAll, id = `{"command":"ls"}`, `{"command":"ls -a"}`, `{"command":"id"}`

// grantFor is what a 30-minute grant for ls in a session would be.
func grantFor(key string) session.Grant {
	return session.Grant{
		Conversation: conv(key), Tool: "exec", Agent: "main", ID: "card", By: "owner",
		Until: time.Now().Add(30 * time.Minute), Level: taint.Untrusted,
	}
}

func TestH30AGrantWrittenIntoTheStoreApprovesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, v *vault) {
		r := newRig(t, v, 1, nil)
		r.approve(r.asked("the first", call(t, "exec", ls, stranger("real"))), 30)
		r.allow(call(t, "exec", lsAll, stranger("real")))
		at := grantFor("real")
		genuine := v.get(v.grant(conv("real"), at.Field()))
		parts := strings.Split(genuine, "|")
		if len(parts) != 6 {
			t.Fatalf("the grant %q was not found where it stands", genuine)
		}
		edited := func(i int, value string) string {
			p := append([]string(nil), parts...)
			p[i] = value
			return strings.Join(p, "|")
		}
		covers := func(key string) string {
			value := ptr(grantFor(key)).Value(otherKey)
			return value[strings.LastIndexByte(value, '|'):]
		}
		tool, window := grantFor("s"), grantFor("s")
		tool.Tool, window.Session = "write", "s2"
		for name, f := range map[string]struct {
			key, field, value string
		}{
			"made up":                            {"a", "", "9999999999|5|card|6f776e6572|" + strings.Repeat("0", 32) + covers("a")},
			"without a seal":                     {"b", "", "9999999999|5|card|6f776e6572|" + covers("b")},
			"sealed with another key":            {"c", "", ptr(grantFor("c")).Value(otherKey)},
			"a real one of another conversation": {"d", "", genuine},
			"one that claims another's place":    {"g", "", edited(5, covers("g")[1:])},
			"a real one that ends later":         {"real", "", edited(0, "9999999999")},
			"a real one in another's name":       {"real", "", edited(3, hex.EncodeToString([]byte("second")))},
			"a real one that permits more":       {"real", "", edited(5, parts[5]+hex.EncodeToString([]byte("writes x")))},
			"garbage":                            {"e", "", "yes"},
			"nothing":                            {"f", "", ""},
		} {
			r.asked("before", call(t, "exec", ls, stranger(f.key+" before")))
			r.verify(call(t, "read", `{"path":"x"}`, stranger(f.key)))
			g := grantFor(f.key)
			at := v.grant(conv(f.key), g.Field())
			v.put(at, f.value)
			r.asked(name, call(t, "exec", `{"command":"ls -l"}`, stranger(f.key)))
			if f.key == "real" {
				v.put(at, genuine)
			}
		}
		r.allow(call(t, "exec", `{"command":"ls -t"}`, stranger("real")))
		for name, other := range map[string]session.Grant{"moved to another tool": tool, "moved to another session id": window} {
			other.Conversation = conv("real")
			v.put(v.grant(conv("real"), other.Field()), genuine)
			context, params := stranger("real"), `{"path":"x","content":"y"}`
			if other.Session != "" {
				context, params = context+`,"sessionId":"s2"`, lsAll
			}
			r.asked(name, call(t, other.Tool, params, context))
		}
	})
}

func ptr(g session.Grant) *session.Grant { return &g }

// seal is how a vote is sealed. With the server's key it is the real thing, and
// that is the whole difference.
func seal(key hmac.Key, card, digest string, v approval.Vote) approval.Vote {
	v.Seal = key.Seal("vote", card, digest, v.Person, v.ID, v.Via, fmt.Sprint(v.Allow), fmt.Sprint(v.Scope.Turn, v.Scope.Minutes, v.Scope.Like, v.Scope.Exactly), v.Reason, v.For,
		v.At.UTC().Format(time.RFC3339Nano))
	return v
}

func TestH30AVoteWrittenIntoTheStoreApprovesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, v *vault) {
		r := newRig(t, v, 1, nil)
		_, other := v.blob(t, r.asked("another card", call(t, "exec", id, stranger("other"))))
		r.approve(other.Ref(), 0)
		stored, _, err := v.Load(t.Context(), other.ID)
		if err != nil || len(stored) != 1 {
			t.Fatalf("%d cards, %v", len(stored), err)
		}
		voted := readCard(t, v.get(v.card(other.ID))).Questions[0].Votes[0]

		yes := approval.Vote{Person: "owner", ID: ownerID, Via: "terminal", Allow: true, At: time.Now().UTC().Truncate(time.Millisecond)}
		forge := func(key string, vote func(card, digest string) approval.Vote) (retry func() bool) {
			c := call(t, "exec", ls, stranger(key))
			ref := r.asked("the question", c)
			_, card := v.blob(t, ref)
			q := &card.Questions[0]
			q.Votes = append(q.Votes, vote(card.ID, q.Ask.Digest))
			q.Holders = nil
			v.putCard(t, &card)
			return func() bool { return r.verify(call(t, "exec", ls, stranger(key))).Allow }
		}
		for name, vote := range map[string]func(card, digest string) approval.Vote{
			"without a seal":          func(string, string) approval.Vote { return yes },
			"with a made-up seal":     func(string, string) approval.Vote { w := yes; w.Seal = strings.Repeat("0", 32); return w },
			"sealed with another key": func(c, d string) approval.Vote { return seal(otherKey, c, d, yes) },
			"sealed for another card": func(_, d string) approval.Vote { return seal(serverKey, other.ID, d, yes) },
			"a real one copied":       func(string, string) approval.Vote { return voted },
			"under another's id":      func(c, d string) approval.Vote { w := yes; w.ID = "token:second"; return seal(serverKey, c, d, w) },
			"a real one made lasting": func(c, d string) approval.Vote {
				w := seal(serverKey, c, d, yes)
				w.Scope.Minutes = 60
				return w
			},
		} {
			if forge(name, vote)() {
				t.Errorf("a vote %s approved the call", name)
			}
		}
		if !forge("control", func(c, d string) approval.Vote { return seal(serverKey, c, d, yes) })() {
			t.Error("the server's own seal does not count: this test forges nothing")
		}
	})
}

func TestH30ACardChangedInTheStoreApprovesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, v *vault) {
		evil := `{"command":"cat /etc/shadow"}`
		for name, change := range map[string]func(a *approval.Ask, digest string){
			"another call":    func(a *approval.Ask, digest string) { a.Digest = digest },
			"a smaller count": func(a *approval.Ask, _ string) { a.Approvals = 1 },
			"a longer life":   func(a *approval.Ask, _ string) { a.Until = a.Until.Add(time.Hour) },
			"a better level":  func(a *approval.Ask, _ string) { a.Level = taint.Untrusted },
		} {
			approvals := 1
			if name == "a smaller count" {
				approvals = 2
			}
			r := newRig(t, v, approvals, nil)
			key := "card-" + strings.ReplaceAll(name, " ", "-")
			first := call(t, "exec", ls, `"sessionKey":"agent:main:`+key+`","senderId":"1","senderIsOwner":true,"groupId":"7","waitMs":1`)
			_, card := v.blob(t, r.asked(name, first))
			r.approve(card.Ref(), 0)
			card = readCard(t, v.get(v.card(card.ID)))
			wanted := call(t, "exec", evil, stranger(key))
			if name != "another call" {
				wanted = call(t, "exec", ls, stranger(key))
			}
			change(&card.Questions[0].Ask, wanted.Digest().String())
			v.putCard(t, &card)
			v.put(v.question(conv(key), wanted.Digest().String()), card.ID)
			if d := r.verify(wanted); d.Allow {
				t.Errorf("a card with %s approved %s", name, wanted.Params)
			}
		}
	})
}

func readCard(t *testing.T, text string) (c approval.Card) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestH30AStandingDecisionWrittenIntoTheStoreAllowsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, v *vault) {
		r := newRig(t, v, 1, nil)
		r.allow(named(t, "allowed", "read", `{"path":"x"}`, stranger("m")))
		passed := v.get(v.request(conv("m"), "allowed"))
		r.allow(named(t, "allowed", "read", `{"path":"x"}`, stranger("m")))

		c := named(t, "denied", "exec", ls, stranger("m"))
		r.asked("first", c)
		parts := []string{client, "agent:main:m", "denied", hex.EncodeToString(c.Body[:])}
		at := v.request(conv("m"), "denied")
		for name, mark := range map[string]string{
			"a bare A": "A", "a made-up seal": "A" + strings.Repeat("0", 32), "another key's": "A" + otherKey.Seal("allow", parts...),
			"another request's": passed, "a seal for another purpose": "A" + serverKey.Seal("grant", parts...),
			"a grant": "yes", "open again": "P",
		} {
			v.put(at, mark)
			r.deny(name, named(t, "denied", "exec", ls, stranger("m")))
		}
		v.put(at, "A"+serverKey.Seal("allow", parts...))
		r.allow(named(t, "denied", "exec", ls, stranger("m"))) // or this test forges nothing
	})
}

// meddled is a store into which somebody writes between the two trips of a call
// that was not expected to need a person.
type meddled struct {
	verifier.Store
	between func()
}

func (m *meddled) Admit(ctx context.Context, a session.Admission) (session.View, error) {
	if a.Digest != "" {
		m.between()
	}
	return m.Store.Admit(ctx, a)
}

func TestH30ADecisionWrittenBetweenTwoTripsAllowsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, v *vault) {
		newRig(t, v, 1, nil).allow(call(t, "web_fetch", `{"url":"https://example.com"}`, owner("m")))
		for name, mark := range map[string]string{
			"a bare A": "A", "a made-up seal": "A" + strings.Repeat("0", 32), "an allow by the level": "p", "a grant": "yes",
		} {
			trips, id := 0, strings.ReplaceAll(name, " ", "-")
			r := newRig(t, v, 1, func(o *verifier.Options) { // it has not met the conversation
				o.Store = &meddled{Store: v, between: func() {
					v.put(v.request(conv("m"), id), mark)
					trips++
				}}
			})
			r.deny(name, named(t, id, "exec", ls, owner("m")))
			if trips != 1 {
				t.Errorf("%s: nobody meddled between two trips: %d", name, trips)
			}
		}
	})
}

// eager is a store that says of every call that it has passed.
type eager struct{ verifier.Store }

func (e eager) Admit(ctx context.Context, a session.Admission) (session.View, error) {
	view, err := e.Store.Admit(ctx, a)
	view.Entry = session.Passed
	return view, err
}

func TestH30AStoreDoesNotAllowWhatThePolicyAsksAbout(t *testing.T) {
	store, _ := openSQLite(t)
	r := newRig(t, store, 1, func(o *verifier.Options) { o.Store = eager{store} })
	r.allow(call(t, "exec", ls, owner("m")))
	r.deny("of a stranger's", call(t, "exec", ls, stranger("s")))
}

// Levels carry no seal; what this process has seen is the floor.
func TestH18ALevelLoweredByHandStaysWhatThisProcessHasSeen(t *testing.T) {
	store, path := openSQLite(t)
	r := newRig(t, store, 1, nil)
	r.allow(call(t, "exec", ls, owner("m")))
	r.allow(call(t, "web_fetch", `{"url":"https://example.com"}`, owner("m")))
	at := conv("m").Hash()[:2] + ":s:" + conv("m").Hash()
	v := &vault{backend: store, t: t, read: rowReader(t, path), write: rowWriter(t, path)}
	c := v.conversation(at)
	c.Worst, c.Levels = taint.System, nil
	lowered, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	v.write(at, string(lowered))
	r.asked("after the level was lowered", call(t, "exec", ls, owner("m")))
	r.asked("with a session id", call(t, "exec", ls, owner("m")+`,"sessionId":"s1"`))
}
