package approval_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// amnesia is a store that has let go of every card.
type amnesia struct{ approval.Store }

func (amnesia) Load(context.Context, ...string) ([]approval.Stored, time.Time, error) {
	return nil, time.Now(), nil
}

// A card that could not be edited may have buttons long after it was approved.
func TestH53WhatBecameOfAForgottenCardIsNotMadeUp(t *testing.T) {
	s, c := openStore(t), newChat()
	d := openDesk(t, s, func(o *approval.Options) { o.Channels = map[string]approval.Channel{"chat": c} })
	ruling := ask(t, d, nil)
	k := c.card(t)
	tap(t, d, alice, k.Handle(approval.AllowOnce), "")
	if r := <-ruling; !r.Yes {
		t.Fatalf("ruled %+v", r)
	}
	later := openDesk(t, amnesia{s}, nil)
	for name, a := range map[string]approval.Answer{
		"a tap": {ID: bob, Via: "chat", Handle: k.Handle(approval.DenyCall)}, "a line": {ID: bob, Via: "chat", Text: ".deny " + k.Code},
	} {
		o, err := later.Answer(t.Context(), a)
		if err != nil || o.Kind != approval.TooLate || !strings.Contains(o.Text, "changed nothing") || strings.Contains(o.Text, "Nothing was approved") {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}
