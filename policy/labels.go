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
	// Destructive says that it can't be undone, as a payment can't: it is always asked about where it acts for a
	// tainted conversation, each time.
	Destructive *bool `yaml:"destructive"`
	// Secret says that it bears secrets: it is never covered by a lasting grant,
	// and the conversation holds secrets once it has returned something.
	Secret *bool `yaml:"secret"`
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
		b.label("tools."+key, b.tools[name], &t)
	}
}

func (b *builder) label(path string, f *facts, t *Tool) { //nolint:gocognit // one key after the other
	f.annotated, f.known = false, true
	if t.Source != nil {
		f.shows = false
		switch source := *t.Source; {
		case source && f.response < external:
			f.response = untrusted
		case !source && f.response >= external:
			f.response = local
		}
	}
	for _, said := range []struct{ to, from *bool }{{&f.sink, t.Sink}, {&f.destructive, t.Destructive},
		{&f.secret, t.Secret}, {&f.safe, t.Safe}} {
		if said.from != nil {
			*said.to = *said.from
		}
	}
	f.looks = f.looks && t.Sink == nil
	harmless, safe := t.Sink != nil && !*t.Sink, t.Safe != nil && *t.Safe
	switch was := shipped[f.name]; {
	case harmless && f.destructive:
		b.fail(path, "is destructive and no sink: what destroys something acts")
	case harmless && was != nil && was.sink && !isServed(f.name):
		b.warn(path+".sink", f.name+" acts outside ("+f.reason+"); as you say it doesn't, outside content may drive it")
	}
	f.strictSink = f.strictSink && !harmless
	switch {
	case t.Leaves != nil:
		f.leaves = *t.Leaves
	case harmless, t.Destinations != nil && len(t.Destinations) == 0: // it goes nowhere
		f.leaves = false
	}
	if safe {
		f.strictSink = f.leaves // as web_fetch
		if f.reason == unknownTool.reason {
			f.reason = "only looks, as your label says"
		}
		if f.sink || f.dangerous || f.destructive || f.runs {
			b.fail(path+".safe", "what acts, runs or destroys is not safe: set sink: false, or leave safe out")
		}
	}
	if t.Destinations != nil {
		f.destinations = t.Destinations
	}
}
