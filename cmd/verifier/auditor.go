package main

import (
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/auditor"
)

// modelOf is the second model that a config names, or nil.
func modelOf(c *config.Config) auditor.Model {
	a := &c.Caution.Auditor
	if a.Provider == "" {
		return nil
	}
	return auditor.NewModel(auditor.ModelConfig{
		Kind: a.Provider, BaseURL: a.BaseURL, Model: a.Model, Key: a.Key.Reveal(),
	})
}

// auditorOf is the auditor that a config names, or nil.
func (g *gateway) auditorOf(c *config.Config) *auditor.Auditor {
	a, model := &c.Caution.Auditor, modelOf(c)
	if model == nil {
		return nil
	}
	return auditor.New(auditor.Options{
		Model: model, Mode: auditor.Mode(a.Mode), FailMode: auditor.FailMode(a.FailMode), Timeout: a.Timeout(),
		Caution: auditor.NewCaution(c.Caution.Defaults, c.CautionTools()),
		Observe: func(o auditor.Observation) { g.metrics.Audited(o) },
	})
}
