package approval_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

func TestWhoeverLooksSeesCardsWithoutTheirCodes(t *testing.T) {
	d, c := withChat(t, nil)
	ask(t, d, nil)
	card := c.card(t)
	waiting, now, err := d.Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].ID != card.ID || waiting[0].Code != "" || now.IsZero() {
		t.Fatalf("waiting: %+v, %v", waiting, err)
	}
	if waiting[0].Handle(approval.AllowOnce) != card.Handle(approval.AllowOnce) {
		t.Error("its buttons do not work")
	}
	looked, o, _, err := d.Look(t.Context(), card.ID)
	if err != nil || looked.Code != "" || o.State != approval.Open {
		t.Errorf("open: %+v, %+v, %v", looked, o, err)
	}
	tap(t, d, alice, card.Handle(approval.DenyCall), "")
	if _, o, _, err = d.Look(t.Context(), card.ID); err != nil || o.State != approval.Denied || o.By != "alice" {
		t.Errorf("denied: %+v, %v", o, err)
	}
	if _, _, _, err := d.Look(t.Context(), strings.Repeat("0", 34)); !errors.Is(err, approval.ErrGone) {
		t.Errorf("no such card: %v", err)
	}
	if !d.Lists(alice) || d.Lists(mallory) {
		t.Error("who is listed is not")
	}
}

// The list of what waits offers no line that looks like another, or that a shell
// would take for something.
func TestH15TheListOfWhatWaitsNamesNoToolThatCanNotBeTyped(t *testing.T) {
	for tool, want := range map[string]string{
		"exec": ".approve exec ", "my-plugin.send": ".approve my-plugin.send ",
		"ехес": ".approve all ", "x;reboot": ".approve all ", "$(id)": ".approve all ", "`id`": ".approve all ", "a b": ".approve all ", strings.Repeat("x", 5000): ".approve all ",
	} {
		d, c := withChat(t, nil)
		ask(t, d, func(r *approval.Request) { r.Ask.Tool, r.Hold = tool, time.Millisecond })
		k := c.card(t)
		o, err := d.Answer(t.Context(), approval.Answer{ID: alice, Via: "chat", Text: ".pending"})
		if err != nil || !strings.HasSuffix(o.Text, "  "+want+k.Code) {
			t.Errorf("%.20q: %.200q, %v", tool, o.Text, err)
		}
	}
}

// A chat shows the beginning of a list that is too long for it.
func TestH31ALongNameDoesNotHideWhatElseWaits(t *testing.T) {
	d, c := withChat(t, nil)
	ask(t, d, func(r *approval.Request) { r.Ask.Tool, r.Hold = strings.Repeat("x", 100_000), time.Millisecond })
	c.card(t)
	ask(t, d, func(r *approval.Request) { r.Hold = time.Millisecond })
	second := c.card(t)
	o, err := d.Answer(t.Context(), approval.Answer{ID: alice, Via: "chat", Text: ".pending"})
	if err != nil || len(o.Text) > 400 || !strings.Contains(o.Text, ".approve exec "+second.Code) {
		t.Errorf("%d characters: %.400q, %v", len(o.Text), o.Text, err)
	}
}
