package main

import (
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/intent"
	"github.com/openclaw-verifier/verifier/label"
)

// labelModel is the auditor's model as `verifier label --ask-model` asks it.
type labelModel struct {
	model   intent.Model
	timeout time.Duration // of one answer
	failed  int           // in a row
	silent  int           // tools of which it said nothing
}

// mostFailures is how often a model may fail in a row before it is asked no more.
const mostFailures = 3

// model is the one that the config names, if it is to be asked.
func (c *LabelCmd) model(a *app) (*labelModel, error) {
	if !c.AskModel {
		return nil, nil
	}
	cfg, err := (&configFlag{Config: c.Config}).quietConfig(a)
	if err != nil {
		return nil, err
	}
	model, err := modelOf(cfg)
	if err != nil {
		return nil, err
	}
	if model == nil {
		return nil, &failure{"--ask-model needs an auditor, and the config names none", "see caution.auditor in docs/auditor.md, and name the config with --config"}
	}
	return &labelModel{model: model, timeout: cfg.Caution.Auditor.Timeout()}, nil
}

// propose lets the model make a proposal stricter. Without an answer it stays as it is.
func (m *labelModel) propose(ctx context.Context, t *label.Tool, p *label.Proposal) {
	if m.failed >= mostFailures {
		m.silent++
		return
	}
	q := t.Question()
	prompt, err := q.Prompt(nil)
	if err == nil {
		var reply intent.Reply
		ctx, cancel := context.WithTimeout(ctx, m.timeout)
		defer cancel()
		if reply, err = m.model.Answer(ctx, prompt); err == nil {
			m.failed = 0
			if o, ok := intent.ParseTool(reply.Text); ok {
				p.Hear(t, o)
				return
			}
		}
	}
	if err != nil {
		m.failed++
	}
	m.silent++
}
