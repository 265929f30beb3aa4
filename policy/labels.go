package policy

import (
	"maps"
	"slices"
)

// Tool is what the owner says a tool does: the third table, beside what its answers are worth and at which level it may
// be called. What is left out stays as the shipped table has it; of a tool that is not in it, source and sink.
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

func (b *builder) label(key string, f *facts, t *Tool) { //nolint:gocognit // one key after the other
	path, l := "tools."+key, &f.labels
	f.annotated = false
	if t.Source != nil {
		f.shows = false
		switch source := *t.Source; {
		case source && f.response < external:
			f.response = untrusted
		case !source && f.response >= external:
			f.response = local
		}
	}
	setIf(&f.sink, t.Sink)
	f.looks = f.looks && t.Sink == nil
	setIf(&f.destructive, t.Destructive)
	setIf(&f.secret, t.Secret)
	setIf(&f.money, t.Money)
	harmless := t.Sink != nil && !*t.Sink
	if harmless {
		f.strictSink, f.leaves = false, false
		if was := shipped[f.name]; was != nil && was.sink && !isServed(f.name) {
			b.warn(
				path+".sink",
				f.name+" acts outside ("+f.reason+"); as you say it does not, outside content may drive it unasked",
			)
		}
	}
	f.leaves = f.leaves && (t.Destinations == nil || len(t.Destinations) > 0) // else it goes nowhere
	setIf(&f.leaves, t.Leaves)
	setIf(&f.safe, t.Safe)
	if t.Safe != nil && *t.Safe {
		f.strictSink = f.leaves // as web_fetch
		if f.reason == unknownTool.reason {
			f.reason = "only looks, as your label says"
		}
	}
	switch {
	case harmless && f.destructive:
		b.fail(path, "is destructive and no sink: what destroys something acts")
	case t.Safe != nil && *t.Safe && (f.sink || f.dangerous || f.destructive || f.money || f.runs):
		b.fail(
			path+".safe",
			"what acts is not safe: only a tool with sink: false that runs, pays and destroys nothing may be",
		)
	}
	if t.Destinations != nil {
		l.destinations = t.Destinations
	}
	if t.Content != nil {
		l.content = t.Content
	}
	if slices.ContainsFunc(t.Content, func(name string) bool { return slices.Contains(l.destinations, name) }) {
		b.fail(path+".content", "names a destination: it can't be content as well")
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
