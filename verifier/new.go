package verifier

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/openclaw-verifier/verifier/intent"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/turns"
)

// New makes a Verifier.
func New(o Options) (*Verifier, error) {
	if o.Policy == nil || o.Redactor == nil || o.Store == nil || o.Record == nil || o.Desk == nil || o.Pauses == nil || o.Grants == nil || o.Consents == nil || o.Visible == nil {
		return nil, errors.New("verifier: policy, redactor, store, record, desk and visible are all needed")
	}
	if len(o.Key) < 32 {
		return nil, errors.New("verifier: the server key must be at least 32 bytes")
	}
	if o.Cards == nil {
		o.Cards = o.Redactor
	}
	if o.Bodies == nil {
		o.Bodies = o.Redactor
	}
	if o.Settings == nil {
		o.Settings = func() Settings { return Settings{} }
	}
	if o.Auditor == nil {
		o.Auditor = func() *intent.Auditor { return nil }
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Lineage == nil {
		o.Lineage = func(string) []lineage.Key { return nil }
	}
	if o.Observe == nil {
		o.Observe = func(Observation) {}
	}
	if o.Used == nil {
		o.Used = func(loop.Tokens, time.Duration) {}
	}
	o.StoreWait = cmp.Or(o.StoreWait, defaultWait)
	return assemble(&o), nil
}

// assemble makes the parts of a Verifier, and gives each those that it uses.
func assemble(o *Options) *Verifier {
	v := &Verifier{o: o, hide: &hiding{o: o}, results: &resultLevels{}}
	hide, seen, floor := v.hide, &exposure{}, &session.Floor{}
	v.turns = turns.New(turns.Options{
		Store: o.Store, Wait: o.StoreWait,
		Record: o.Record.Append, Hide: hide.fact, Key: o.Key, Log: o.Log,
	})
	v.fresh, v.runtimes.o, v.runtimes.hide = &fresh{o: o}, o, hide
	v.workspace = &workspace{o: o, hide: hide}
	known := &texts{o: o, hide: hide}
	v.judging = &judging{o: o, hide: hide, texts: known, workspace: v.workspace}
	v.admitter = &admitter{o: o, kin: &kin{o: o, exposure: seen, floor: floor}, jobs: &jobs{o: o, hide: hide}, exposure: seen, floor: floor}
	v.people = &people{o: o, hide: hide, judging: v.judging, texts: known, results: v.results, over: v.turns.IsOver}
	v.auditing = &auditing{o: o, hide: hide, kin: v.admitter.kin, exposure: seen, people: v.people}
	v.recorder = &recorder{o: o, hide: hide, turns: v.turns}
	v.listener = &listener{
		o: o, hide: hide, judging: v.judging, admitter: v.admitter, fresh: v.fresh, auditing: v.auditing,
		results: v.results, texts: known, turns: v.turns,
	}
	return v
}

// Turns keeps the graphs of turns.
func (v *Verifier) Turns() *turns.Keeper { return v.turns }
