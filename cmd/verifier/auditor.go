package main

import (
	"context"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/intent"
	"github.com/openclaw-verifier/verifier/intent/provider"
)

// modelOf is the second model that a config names, or nil.
func modelOf(c *config.Config) (intent.Model, error) {
	a := &c.Caution.Auditor
	if a.Provider == "" {
		return nil, nil
	}
	model, err := provider.New(provider.Config{Kind: a.Provider, BaseURL: a.BaseURL, Model: a.Model, Key: a.Key.Reveal()})
	if err != nil {
		return nil, &failure{err.Error(), "see caution.auditor in the config"}
	}
	return model, nil
}

// auditorOf is the auditor that a config names, or nil. What tools said of
// themselves is taken over from the one before.
func (g *gateway) auditorOf(c *config.Config, model intent.Model) (*intent.Auditor, error) {
	if model == nil {
		return nil, nil
	}
	a := &c.Caution.Auditor
	caution := intent.NewCaution(c.Caution.Defaults, c.CautionTools())
	if before := g.live.Load(); before != nil && before.auditor != nil {
		caution.Adopt(before.auditor.Caution())
	}
	return intent.New(intent.Options{
		Model: model, Mode: intent.Mode(a.Mode), FailMode: intent.FailMode(a.FailMode), Timeout: a.Timeout(), Caution: caution,
		Observe: func(o intent.Observation) { g.metrics.Audited(o) },
	})
}

// summariserOf sums up long texts on cards, where the config wants that; else it
// is nil.
func summariserOf(c *config.Config, model intent.Model) *intent.Summariser {
	if model == nil || !c.Caution.Auditor.Summary {
		return nil
	}
	return intent.NewSummariser(model, nil)
}

// summarise is what the model says about the text of a call, as far as its card
// shows it.
func (g *gateway) summarise(ctx context.Context, a *approval.Ask) string {
	s := g.live.Load().summariser
	if s == nil {
		return ""
	}
	return s.Summarise(ctx, a.Tool, a.Shown)
}
