package approval_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

const carol = "chat:3"

// routed is a desk with two chats, three people and settings of agents.
func routed(t testing.TB, s approval.Store, edit func(*approval.Options), agents map[string]approval.Agent) (d *approval.Desk, first, second *chat) {
	t.Helper()
	first, second = newChat(), newChat()
	d = openDesk(t, s, func(o *approval.Options) {
		o.Channels, o.Together = map[string]approval.Channel{"first": first, "second": second}, time.Millisecond
		o.Terms.People = append(o.Terms.People, approval.Person{Name: "carol", IDs: []string{carol, "telegram:33"}})
		o.Terms.Agents = agents
		if edit != nil {
			edit(o)
		}
	})
	return d, first, second
}

// nothing says that a chat shows no card.
func (c *chat) nothing(t testing.TB) {
	t.Helper()
	select {
	case k := <-c.sent:
		t.Errorf("a card came: %v %s", k.Ref(), k.Notice())
	default:
	}
}

// broken is a chat that is down.
type broken struct{ *chat }

var errDown = errors.New("the chat is down")

func (broken) Send(context.Context, *approval.Card) (string, error) { return "", errDown }

// stuck is a chat that takes all the time it gets.
type stuck struct{ *chat }

func (stuck) Send(ctx context.Context, _ *approval.Card) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func TestAQuestionGoesWhereItsAgentSays(t *testing.T) {
	agents := map[string]approval.Agent{"MAIN": {Channels: []string{"second"}}, "quiet": {Channels: []string{"first"}}}
	for name, c := range map[string]struct {
		agent         string
		first, second bool
	}{
		"in any spelling":   {"main", false, true},
		"another agent":     {"quiet", true, false},
		"nothing is said":   {"other", true, true},
		"it names no agent": {"", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			d, first, second := routed(t, openStore(t), nil, agents)
			ruling := ask(t, d, func(r *approval.Request) { r.Ask.Agent = c.agent })
			var card *approval.Card
			if c.first {
				card = first.card(t)
			}
			if c.second {
				card = second.card(t)
			}
			tap(t, d, alice, card.Handle(approval.DenyCall), "")
			<-ruling
			first.nothing(t)
			second.nothing(t)
		})
	}
}

func TestH198ThePendingListShowsNoCodeOfAnotherAgent(t *testing.T) {
	s := openStore(t)
	d, first, second := routed(t, s, nil, map[string]approval.Agent{
		"main": {Channels: []string{"second"}, Approvers: []string{"bob", "carol"}}, "helper": {Channels: []string{"first"}},
	})
	ask(t, d, func(r *approval.Request) { r.Hold = time.Millisecond })
	ask(t, d, func(r *approval.Request) { r.Ask.Tool, r.Ask.Agent, r.Hold = "write", "helper", time.Millisecond })
	exec, write := second.card(t), first.card(t)
	for _, c := range []struct {
		id, via     string
		exec, write bool
	}{
		{alice, "second", false, false}, {alice, "first", false, true}, {alice, approval.Terminal, false, true},
		{bob, "second", true, false}, {bob, "first", false, true}, {bob, approval.Terminal, true, true},
	} {
		o, err := d.Answer(t.Context(), approval.Answer{ID: c.id, Via: c.via, Text: ".pending"})
		if err != nil || strings.Contains(o.Text, exec.Code) != c.exec || strings.Contains(o.Text, write.Code) != c.write {
			t.Errorf("%s in %s reads %q, %v", c.id, c.via, o.Text, err)
		}
		if strings.Contains(o.Text, "Nothing is waiting") != (!c.exec && !c.write) {
			t.Errorf("%s in %s reads %q", c.id, c.via, o.Text)
		}
	}
}

func TestTheCardNamesWhoStartedTheRun(t *testing.T) {
	d, first, _ := routed(t, openStore(t), nil, nil)
	ruling := ask(t, d, func(r *approval.Request) {
		r.Ask.Started, r.Ask.Senders = "the owner wrote directly", []string{"telegram:33"}
	})
	card := first.card(t)
	if started := card.Questions[0].Ask.Started; started != "the owner wrote directly (carol, telegram:33)" {
		t.Errorf("the card says that the run was started by %q", started)
	}
	tap(t, d, alice, card.Handle(approval.AllowOnce), "")
	<-ruling
}

// denied asks and gives the error.
func denied(t testing.TB, d *approval.Desk, edit func(*approval.Request)) error {
	t.Helper()
	r := request(edit)
	_, err := d.Ask(t.Context(), &r)
	return err
}

func TestH54ACardThatReachesNobodyIsNoCard(t *testing.T) {
	for name, edit := range map[string]func(o *approval.Options){
		"all chats are down, and the inbox does not count": func(o *approval.Options) {
			o.Channels = map[string]approval.Channel{"first": broken{newChat()}, "second": broken{newChat()}}
		},
		"the only chat of the agent is not there": func(o *approval.Options) {
			o.Terms.Agents = map[string]approval.Agent{"main": {Channels: []string{"third"}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, _, _ := routed(t, openStore(t), edit, nil)
			began := time.Now()
			if err := denied(t, d, nil); !errors.Is(err, approval.ErrNobody) {
				t.Errorf("%v", err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %s to say so", took)
			}
			if cards, err := d.Pending(t.Context(), alice); err != nil || len(cards) != 0 {
				t.Errorf("%d cards wait, %v", len(cards), err)
			}
		})
	}
	t.Run("the terminal counts where there is no chat, or where the agent has it", func(t *testing.T) {
		for _, edit := range []func(o *approval.Options){
			func(o *approval.Options) { o.Channels = nil },
			func(o *approval.Options) {
				o.Channels["first"] = broken{newChat()}
				o.Terms.Agents = map[string]approval.Agent{"main": {Channels: []string{"first", approval.Terminal}}}
			},
		} {
			d, _, _ := routed(t, openStore(t), edit, nil)
			unheld := request(func(r *approval.Request) { r.Hold = 0 })
			if r, err := d.Ask(t.Context(), &unheld); err != nil || r.Ref == "" {
				t.Errorf("%+v, %v", r, err)
			}
		}
	})
}

// A channel that hangs is given up before the caller gives up.
func TestH43AChannelThatHangsIsADenyInTime(t *testing.T) {
	d, _, _ := routed(t, openStore(t), func(o *approval.Options) {
		o.Channels = map[string]approval.Channel{"first": stuck{newChat()}}
	}, nil)
	began := time.Now()
	err := denied(t, d, func(r *approval.Request) { r.Hold = 100 * time.Millisecond })
	if took := time.Since(began); !errors.Is(err, approval.ErrNobody) || took > 4*time.Second {
		t.Errorf("%v after %s", err, took)
	}
}

// What goes another way does not stand on the same list: the list is shown where
// its first question is.
func TestAListHoldsOnlyWhatGoesTheSameWay(t *testing.T) {
	d, first, second := routed(t, openStore(t), func(o *approval.Options) {
		o.Terms.MaxOpen, o.Collect = 1, 2*time.Second
	}, map[string]approval.Agent{"helper": {Channels: []string{"second"}, Approvers: []string{"bob"}}, "main": {Channels: []string{"first"}}})
	one := ask(t, d, nil)
	open := first.card(t)
	brief := func(agent string) approval.Ruling {
		t.Helper()
		unheld := request(func(r *approval.Request) { r.Ask.Agent, r.Hold = agent, 0 })
		r, err := d.Ask(t.Context(), &unheld)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := brief("main"); r.Ref == "" {
		t.Fatalf("the first on the list: %+v", r)
	}
	if r := brief("helper"); !r.Full {
		t.Errorf("what goes to bob alone: %+v", r)
	}
	listed := ask(t, d, nil)
	list := first.card(t)
	if len(list.Questions) != 2 {
		t.Fatalf("%d questions", len(list.Questions))
	}
	second.nothing(t)
	tap(t, d, alice, list.Handle(approval.AllowOnce), "")
	if r := <-listed; !r.Yes {
		t.Errorf("%+v", r)
	}
	tap(t, d, alice, open.Handle(approval.DenyCall), "")
	<-one
}

// TestH212AListThatWasNotShownYetIsNotAnswered: its calls are still being gathered. What was shown is answered, and
// nothing else.
func TestH212AListThatWasNotShownYetIsNotAnswered(t *testing.T) {
	d, first, _ := routed(t, openStore(t), func(o *approval.Options) { o.Terms.MaxOpen, o.Collect = 1, 2*time.Second }, nil)
	one := ask(t, d, nil)
	open := first.card(t)
	brief := func() approval.Ruling {
		t.Helper()
		unheld := request(func(r *approval.Request) { r.Hold = 0 })
		r, err := d.Ask(t.Context(), &unheld)
		if err != nil || r.Ref == "" {
			t.Fatalf("a call for the list: %+v, %v", r, err)
		}
		return r
	}
	ref := brief().Ref
	for _, allow := range []bool{true, false} {
		o, err := d.Answer(t.Context(), approval.Answer{ID: alice, Via: "chat", Ref: ref, Allow: allow})
		if err != nil || o.Kind != approval.Misunderstood || !strings.Contains(o.Text, "Several calls are being put on one card.") {
			t.Errorf("before it was shown: %+v, %v", o, err)
		}
	}
	brief()
	list := first.card(t)
	if len(list.Questions) != 2 {
		t.Fatalf("%d questions", len(list.Questions))
	}
	o, err := d.Answer(t.Context(), approval.Answer{ID: alice, Via: "chat", Ref: ref, Allow: true})
	if err != nil || o.Kind != approval.Counted || !strings.Contains(o.Text, "2 calls") {
		t.Errorf("after it was shown: %+v, %v", o, err)
	}
	tap(t, d, alice, open.Handle(approval.DenyCall), "")
	<-one
}
