package main

import (
	"strings"
	"testing"
	"time"
)

// TestH319WhatWasAnsweredIsNotAskedAgain: an agent that repeats a call which a person denied, or left unanswered, gets the same no without a
// card. Another call, another message of the user and ten minutes end that.
func TestH319WhatWasAnsweredIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	said := func(texts ...string) map[string]any {
		var messages []map[string]any
		for _, text := range texts {
			messages = append(messages, map[string]any{"text": text, "senderIsOwner": true})
		}
		return with(unvouched("h319"), "waitMs", 5001, "userMessages", messages)
	}
	cards := func(r *rig, want int, what string) {
		t.Helper()
		if got := len(r.pending()); got != want {
			t.Errorf("%s: %d cards wait, want %d", what, got, want)
		}
	}
	t.Run("denied", func(t *testing.T) {
		t.Parallel()
		r, clock := timeRig(t)
		held := r.hold(sh("make deploy", said("deploy it")))
		r.refuse(r.waits().Ref, "not today")
		<-held
		for range 3 {
			if a := r.deny(sh("make deploy", said("deploy it"))); !strings.Contains(a.Reason, "not today") {
				t.Errorf("again: %s", a.raw)
			}
		}
		clock.pass(9 * time.Minute)
		r.deny(sh("make deploy", said("deploy it")))
		cards(r, 0, "nine minutes later")
		r.deny(sh("make deploy-all", said("deploy it")))
		cards(r, 1, "another call")
		r.deny(sh("make deploy", said("deploy it", "yes, really")))
		cards(r, 2, "another message")
	})
	t.Run("unanswered", func(t *testing.T) {
		t.Parallel()
		r, clock := timeRig(t)
		r.deny(sh("make deploy", said("deploy it")))
		cards(r, 1, "first")
		clock.pass(31 * time.Minute)
		cards(r, 0, "its time is over")
		if a := r.deny(sh("make deploy", said("deploy it"))); !strings.Contains(a.Reason, "did not answer in time") {
			t.Errorf("again: %s", a.raw)
		}
		cards(r, 0, "again")
		r.deny(sh("make deploy", said("deploy it", "go on")))
		cards(r, 1, "another message")
		clock.pass(45 * time.Minute)
		r.deny(sh("make deploy", said("deploy it", "go on")))
		cards(r, 1, "later")
	})
}
