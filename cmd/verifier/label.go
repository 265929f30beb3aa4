package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/intent"
	"github.com/openclaw-verifier/verifier/label"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/wholefile"
)

// LabelCmd proposes what tools do from their catalogues.
type LabelCmd struct {
	gatewayFlags
	Catalogues []string `arg:"" optional:"" name:"catalogue" help:"Files with tools: an MCP tools/list answer, OpenAI or Anthropic tools, OpenClaw's list."`
	Seen       bool     `help:"Also the tools that MCP servers have offered through 'verifier mcp'."`
	Server     string   `placeholder:"NAME" help:"The MCP server that the catalogues are of: its tools are labelled as mcp__NAME__tool."`
	Out        string   `placeholder:"FILE" help:"The file to write or to bring up to date. Without it, the labels are printed."`
	Milder     bool     `help:"Also take labels that let more pass than those in the file."`
	AskModel   bool     `help:"Also ask the auditor's model (caution.auditor in the config). What it says can make a label stricter; what would be milder is only noted, for --review."`
	Review     bool     `help:"Go through the labels of the file that you have not looked at."`
}

// Run proposes, or reviews.
func (c *LabelCmd) Run(a *app) error {
	if c.Review {
		return c.review(a)
	}
	tools, err := c.tools()
	if err != nil {
		return err
	}
	if len(tools) == 0 {
		return &failure{"there is no tool to label", "name a catalogue, such as the answer to tools/list, or use --seen"}
	}
	file, known, err := c.file()
	if err != nil {
		return err
	}
	model, err := c.model(a)
	if err != nil {
		return err
	}
	var changes []*label.Change
	shipped := 0
	bar := progress(a.stderr)
	for i := range tools {
		t := &tools[i]
		if policy.IsShipped(t.Name) {
			shipped++
			continue
		}
		p := label.Propose(t)
		if model != nil {
			bar.show(i, len(tools))
			model.propose(a.ctx, t, &p)
		}
		var was *policy.Tool
		if l, ok := known[t.Name]; ok {
			was = &l
		}
		if change := file.Put(t, &p, was, c.Milder); change != nil {
			changes = append(changes, change)
		}
	}
	bar.clear()
	if model != nil && model.silent > 0 {
		a.warnf("The model said nothing that counts of %s. Their labels are as without it.\n", count(model.silent, "tool"))
	}
	if c.Out == "" {
		_, err := a.stdout.Write(file.Text())
		return err
	}
	if err := writeLabels(c.Out, file.Text()); err != nil {
		return err
	}
	c.tell(a, changes)
	a.printf("%s: %s; %d more are in the shipped table.\n", c.Out, count(len(tools)-shipped, "tool"), shipped)
	return nil
}

// tell shows what is new and what was kept.
func (c *LabelCmd) tell(a *app, changes []*label.Change) {
	kept := false
	for _, one := range changes {
		switch {
		case one.Was == "":
			a.printf("+ %s %s\n", printable(one.Name), one.Is)
			c.because(a, one)
			continue
		case one.Kept:
			kept = true
			a.printf("! %s has changed; the file keeps its label\n", printable(one.Name))
		default:
			a.printf("~ %s has changed\n", printable(one.Name))
		}
		a.printf("  - %s\n  + %s\n", printable(one.Was), one.Is)
		c.because(a, one)
	}
	if kept {
		a.printf("A new label that lets more pass is taken only with --milder, and never over a line that you have changed.\n")
	}
}

func (c *LabelCmd) because(a *app, one *label.Change) {
	if one.Why != "" {
		a.printf("    %s\n", printable(one.Why))
	}
}

// tools are those of all catalogues.
func (c *LabelCmd) tools() ([]label.Tool, error) {
	var all []label.Tool
	for _, name := range c.Catalogues {
		var read []label.Tool
		if err := readFrom(name, func(f io.Reader) (err error) { read, err = label.Read(f); return err }); err != nil {
			return nil, err
		}
		for i := range read {
			if c.Server != "" {
				read[i].Name = "mcp__" + c.Server + "__" + read[i].Name
			}
		}
		all = append(all, read...)
	}
	if !c.Seen {
		return label.Merge(all), nil
	}
	kept, err := c.definitions()
	if err != nil {
		return nil, err
	}
	seen, err := kept.List(hook.ToolNames())
	if err != nil {
		return nil, &failure{text: "what servers said of their tools can't be read: " + err.Error(), hint: "look at " + kept.Dir}
	}
	for i := range seen {
		all = append(all, label.ReadOne("mcp__"+seen[i].Server+"__"+seen[i].Tool, []byte(seen[i].Text)))
	}
	return label.Merge(all), nil
}

// file is the one that is kept up to date, and what it says now.
func (c *LabelCmd) file() (*label.File, map[string]policy.Tool, error) {
	if _, err := os.Stat(c.Out); c.Out == "" || errors.Is(err, fs.ErrNotExist) {
		file, err := label.Parse(nil)
		return file, nil, err
	}
	file, known, err := readLabels(c.Out)
	if errors.Is(err, label.ErrForm) {
		err = &failure{c.Out + " " + label.ErrForm.Error(), "name another file with --out"}
	}
	return file, known, err
}

// review asks about each label that the owner has not looked at.
func (c *LabelCmd) review(a *app) error {
	if c.Out == "" {
		return &failure{"--review needs the file", "name it: verifier label --review --out labels.yaml"}
	}
	file, known, err := c.file()
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return &failure{c.Out + " has no labels yet", "write them first: verifier label CATALOGUE --out " + shellWord(c.Out)}
	}
	open := file.Unreviewed()
	if len(open) == 0 {
		a.printf("You have looked at all %d labels of %s.\n", len(known), c.Out)
		return nil
	}
	a.printf("y: the label is right · l: it only looks · Enter: later · q: stop\n\n")
	in := bufio.NewScanner(a.stdin)
	for i, e := range open {
		a.printf("%d of %d  %s\n  %s\n", i+1, len(open), printable(e.Name), e.Label)
		if e.Why != "" {
			a.printf("  %s\n", printable(e.Why))
		}
		a.printf("? ")
		if !in.Scan() {
			break
		}
		switch strings.TrimSpace(in.Text()) {
		case "y":
			file.Reviewed(e.Name)
		case "l":
			if t := known[e.Name]; t.Destructive != nil || t.Money != nil {
				a.printf("It names something that destroys or pays. If that is wrong, write its line in %s yourself.\n", c.Out)
				continue
			}
			file.Set(e.Name, &policy.Tool{Source: new(true), Sink: new(false), Safe: new(true), Leaves: new(true), Secret: known[e.Name].Secret})
		case "q":
			return errors.Join(writeLabels(c.Out, file.Text()), in.Err())
		}
	}
	a.printf("\n")
	return errors.Join(writeLabels(c.Out, file.Text()), in.Err())
}

// includeFlag names labels besides those that the config includes.
type includeFlag struct {
	Include []string `placeholder:"FILE" sep:"none" help:"Labels of tools besides those that the config includes, such as 'verifier label' writes."`
}

// add lays them below what the config says.
func (f *includeFlag) add(c *config.Config) error {
	for _, path := range f.Include {
		l, err := config.LoadLabels(path)
		if err != nil {
			return err
		}
		if err := c.Add(path, l); err != nil {
			return err
		}
	}
	return nil
}

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
				p.Hear(o)
				return
			}
		}
	}
	if err != nil {
		m.failed++
	}
	m.silent++
}

// readLabels reads a file of labels as it is kept up to date, and what it says.
func readLabels(path string) (*label.File, map[string]policy.Tool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	known, err := config.LoadLabels(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := label.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	return file, known.Tools, nil
}

// writeLabels replaces a file of labels at once and whole. A file that is there keeps its owner and its mode, and a link stays one.
func writeLabels(path string, text []byte) error {
	if _, err := config.ParseLabels(path, text); err != nil { // it would not be read again
		return err
	}
	end, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return replaceFile(path, text)
	}
	if err != nil {
		return err
	}
	was, err := os.Stat(end)
	if err != nil {
		return err
	}
	return wholefile.Replace(end, text, was.Mode().Perm(), was)
}
