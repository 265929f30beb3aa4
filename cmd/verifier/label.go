package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/files"
	"github.com/openclaw-verifier/verifier/internal/label"
	"github.com/openclaw-verifier/verifier/policy"
)

// LabelCmd asks the owner what the tools of a catalogue do.
type LabelCmd struct {
	gatewayFlags
	Catalogues []string `arg:"" optional:"" name:"catalogue" help:"Files with tools: MCP's tools/list or OpenClaw's."`
	Seen       bool     `help:"Also the tools that MCP servers have offered through 'verifier mcp'."`
	Server     string   `placeholder:"NAME" help:"The MCP server that the catalogues are of: its tools are labelled as mcp__NAME__tool."`
	Out        string   `placeholder:"FILE" default:"labels.yaml" help:"The file of labels."`
	AskModel   bool     `help:"Also show what the auditor's model thinks. It can only make a label stricter."`
}

// Run shows the tools that the file does not have yet, one screen each, and writes the owner's word for each at once.
func (c *LabelCmd) Run(a *app) error {
	tools, err := c.tools()
	if err != nil {
		return err
	}
	file, err := c.file()
	if err != nil {
		return err
	}
	model, err := c.model(a)
	if err != nil {
		return err
	}
	open := file.Open(tools)
	in := bufio.NewScanner(a.stdin)
	for i := range open {
		t := &open[i]
		opinion := model.opinion(a.ctx, t)
		showTool(a, t, strings.Join(opinion, ", "), i+1, len(open))
		key := "q"
		if in.Scan() {
			key = strings.TrimSpace(in.Text())
		}
		if key == "q" {
			break
		}
		said, ok := label.Label(t, key, opinion)
		if !ok {
			continue
		}
		file.Set(t, &said)
		if err := writeLabels(c.Out, file.Text()); err != nil {
			return err
		}
	}
	left := len(file.Open(tools))
	a.printf("\n%d of %d tools are labelled.", len(tools)-left, len(tools))
	switch {
	case left > 0:
		a.printf(" Run the same command again to go on. Until then the others both read and act.\n")
	default:
		a.printf(" Include them in the config: include: [%s]\n", c.Out)
	}
	return in.Err()
}

// showTool is one screen. What the catalogue says is another's text.
func showTool(a *app, t *label.Tool, opinion string, n, of int) {
	a.printf("\n%d of %d  %s\n\n", n, of, printable(t.Name))
	for l := range strings.Lines(clipText(t.Description, mostShown)) {
		a.printf("  %s\n", printable(strings.TrimSpace(l)))
	}
	for _, said := range []struct{ what, text string }{
		{"arguments", strings.Join(t.Arguments, ", ")}, {"its server claims", strings.Join(t.Claims, ", ")},
		{"the model thinks", opinion},
	} {
		if said.text != "" {
			a.printf("  %s: %s\n", said.what, printable(said.text))
		}
	}
	a.printf("\n  %s · Enter later · q leave\n> ", label.Keys)
}

// mostShown is how much of a description is shown, in bytes: a screen.
const mostShown = 1200

func clipText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// tools are those of all catalogues, without those that this program has in its own table.
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
	if c.Seen {
		seen, err := c.seen()
		if err != nil {
			return nil, err
		}
		all = append(all, seen...)
	}
	all = slices.DeleteFunc(all, func(t label.Tool) bool { return policy.IsShipped(t.Name) })
	if len(all) == 0 {
		return nil, &failure{
			"there is no tool to label",
			"name a catalogue, such as the answer to tools/list, or use --seen",
		}
	}
	return label.Sorted(all)
}

// seen are the tools that servers have offered through the gate.
func (c *LabelCmd) seen() ([]label.Tool, error) {
	kept, err := c.definitions()
	if err != nil {
		return nil, err
	}
	offered, err := kept.List(hook.ToolNames())
	if err != nil {
		return nil, &failure{
			text: "what servers said of their tools can't be read: " + err.Error(),
			hint: "look at " + kept.Dir,
		}
	}
	tools := make([]label.Tool, len(offered))
	for i := range offered {
		name := "mcp__" + offered[i].Server + "__" + offered[i].Tool
		if tools[i], err = label.ReadOne(name, []byte(offered[i].Text)); err != nil {
			return nil, err
		}
	}
	return tools, nil
}

// file is the one that is kept up to date.
func (c *LabelCmd) file() (*label.File, error) {
	text, err := os.ReadFile(c.Out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if _, err := config.ParseLabels(c.Out, text); err != nil {
		return nil, err
	}
	file, err := label.Parse(text)
	if errors.Is(err, label.ErrForm) {
		err = &failure{c.Out + " " + label.ErrForm.Error(), "name another file with --out"}
	}
	return file, err
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

// labelModel is the auditor's model as `verifier label --ask-model` asks it. Nil thinks nothing.
type labelModel struct {
	model   auditor.Model
	timeout time.Duration // of one answer
}

// model is the one that the config names, if it is to be asked.
func (c *LabelCmd) model(a *app) (*labelModel, error) {
	if !c.AskModel {
		return nil, nil
	}
	cfg, err := (&configFlag{Config: c.Config}).quietConfig(a)
	if err != nil {
		return nil, err
	}
	model := modelOf(cfg)
	if model == nil {
		return nil, &failure{
			"--ask-model needs an auditor, and the config names none",
			"see caution.auditor in docs/auditor.md, and name the config with --config",
		}
	}
	return &labelModel{model: model, timeout: cfg.Caution.Auditor.Timeout()}, nil
}

// opinion is what the model thinks of a tool; without an answer that can be read, nothing.
func (m *labelModel) opinion(ctx context.Context, t *label.Tool) (o auditor.ToolOpinion) {
	if m == nil {
		return o
	}
	q := t.Question()
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	if reply, err := m.model.Answer(ctx, q.Prompt()); err == nil {
		o = auditor.ParseTool(reply.Text)
	}
	return o
}

// writeLabels replaces a file of labels at once and whole. A file that is there keeps its owner and its mode, and a
// link stays one.
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
	return files.Replace(end, text, was.Mode().Perm(), was)
}
