package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Tool is what the owner says a tool does: the third table, beside what its
// answers are worth and at which level it may be called. What is left out stays
// as the shipped table has it; of a tool that is not in it, source and sink.
type Tool struct {
	// Source says whether its answers hold what others wrote. False counts as
	// local; true as untrusted, unless trust.tools says which level it is.
	Source *bool `yaml:"source"`
	// Sink says whether it acts outside or changes anything.
	Sink *bool `yaml:"sink"`
	// Destinations are the params that say where it goes, whom it reaches, or
	// which thing it gives away. An empty list is none; nil is unknown.
	Destinations []string `yaml:"destinations"`
	// Content are the params that only hold what is said: a consent to calls like
	// one covers others that differ in these, and in nothing else.
	Content []string `yaml:"content"`
	// Destructive says that it can't be undone: it is always asked about where
	// it acts for a tainted conversation, each time.
	Destructive *bool `yaml:"destructive"`
	// Secret says that it bears secrets: it is never covered by a lasting grant,
	// and the conversation holds secrets once it has returned something.
	Secret *bool `yaml:"secret"`
	// Money says that it pays or orders: no lasting grant covers it.
	Money *bool `yaml:"money"`
	// Leaves says that its arguments leave the machine: it asks once the
	// conversation has read secrets, also where it is no sink.
	Leaves *bool `yaml:"leaves"`
	// Safe puts it on the safe list: it only looks, and may be called at every level.
	Safe *bool `yaml:"safe"`
}

// readTools lays the owner's labels over the shipped ones.
func (b *builder) readTools() {
	for key, name := range b.named("tools", slices.Sorted(maps.Keys(b.config.Tools))) {
		t := b.config.Tools[key]
		b.label(key, b.tools[name], &t)
		b.known[name] = true
	}
}

func (b *builder) label(key string, f *facts, t *Tool) {
	path := "tools." + key
	f.annotated = false
	if t.Source != nil {
		f.response, f.shows = sourceLevel(f.response, *t.Source), false
		b.checkSource(path+".source", f.name, *t.Source)
	}
	setIf(&f.sink, t.Sink)
	f.looks = f.looks && t.Sink == nil
	setIf(&f.destructive, t.Destructive)
	setIf(&f.secret, t.Secret)
	setIf(&f.money, t.Money)
	if t.Sink != nil && !*t.Sink {
		b.unsink(path, f)
	}
	if t.Destinations != nil && len(t.Destinations) == 0 { // it goes nowhere
		f.leaves = false
	}
	setIf(&f.leaves, t.Leaves)
	b.readSafe(path, f, t.Safe)
	l := &f.labels
	if t.Destinations != nil {
		l.destinations = t.Destinations
	}
	if t.Content != nil {
		l.content = t.Content
	}
	b.checkNames(path+".destinations", t.Destinations)
	b.checkNames(path+".content", t.Content)
	for _, name := range t.Content {
		if slices.Contains(l.destinations, name) {
			b.fail(path+".content", name+" is a destination: it can't be content as well")
		}
	}
}

// sourceLevel is what a tool's answers are worth by the owner's word. A level
// that says the same stays.
func sourceLevel(level taint.Level, source bool) taint.Level {
	switch {
	case source && level < external:
		return untrusted
	case !source && level >= external:
		return local
	}
	return level
}

// checkSource finds two words about the same thing.
func (b *builder) checkSource(path, name string, source bool) {
	for key, level := range b.config.Trust.Tools {
		if toolcall.Canonical(key) == name && source != (level >= external) {
			b.fail(path, "says the opposite of trust.tools."+key+", which is "+level.String()+": keep one")
		}
	}
}

// unsink says what it means that a tool which acts is called harmless.
func (w *problems) unsink(path string, f *facts) {
	f.strictSink, f.leaves = false, false
	if was := shipped[f.name]; was != nil && was.sink && !isServed(f.name) {
		w.warn(path+".sink", f.name+" acts outside ("+f.reason+"); as you say it does not, outside content may drive it unasked")
	}
	if f.destructive {
		w.fail(path, "is destructive and no sink: what destroys something acts")
	}
}

// readSafe puts a tool on the safe list, or takes it off. Under the profile strict
// one that sends something out is a sink all the same, as web_fetch is.
func (w *problems) readSafe(path string, f *facts, isSafe *bool) {
	setIf(&f.safe, isSafe)
	if isSafe == nil || !*isSafe {
		return
	}
	f.strictSink = f.leaves
	if f.reason == "" || f.reason == unknownTool.reason {
		f.reason = "only looks, as your label says"
	}
	if f.sink || f.dangerous || f.destructive || f.money || f.runs {
		w.fail(path+".safe", "what acts is not safe: only a tool with sink: false that runs, pays and destroys nothing may be")
	}
}

func (w *problems) checkNames(path string, names []string) {
	for i, n := range names {
		if strings.TrimSpace(n) == "" {
			w.fail(path, "has an empty entry")
			return
		}
		if slices.Contains(names[:i], n) {
			w.warn(path, "has "+n+" twice")
		}
	}
}

func setIf(to, from *bool) {
	if from != nil {
		*to = *from
	}
}

// actsBeyond reports whether calls of a tool do more than their arguments say.
func (f *facts) actsBeyond() bool {
	return f.dangerous || f.destructive || f.secret || f.money || f.runs
}
