package policy

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/spelling"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// problems are what is wrong with a config, and what is risky.
type problems struct {
	warnings []Problem
	errors   []error
}

func (w *problems) warn(path, text string) {
	w.warnings = append(w.warnings, Problem{Path: path, Text: text})
}

func (w *problems) fail(path, text string) {
	w.errors = append(w.errors, &Problem{Path: path, Text: text})
}

// loosened reports a row that permitted more to less trusted content: a warning, since it was tightened; an error
// under strict.
func (b *builder) loosened(path, what string, levels []taint.Level) {
	text := fmt.Sprintf(
		"%s would permit more at %s than at a more trusted level: less trusted content never gets more",
		what,
		levelNames(levels),
	)
	if b.profile.strict {
		b.fail(path, text+"; the profile strict refuses that")
		return
	}
	b.warn(path, text+", so these levels were tightened; set the more trusted ones as well")
}

func (b *builder) readProfile() {
	p, ok := profileNamed(b.config.Profile)
	if !ok {
		near, _ := spelling.Nearest(b.config.Profile, Profiles())
		b.fail("profile", fmt.Sprintf("there is no profile %q: did you mean %s? There are %s",
			b.config.Profile, near, strings.Join(Profiles(), ", ")))
	}
	b.profile, b.from = p, p.from
	if from := b.config.Taint.From; from != nil {
		b.from = *from
	}
}

func (b *builder) readTrust() {
	if u := b.config.Trust.UnknownSender; u != nil && *u < external {
		b.warn(
			"trust.unknownSender",
			"a run whose sender we don't know counts as "+u.String()+": anyone who can reach the agent without being "+
				"identified is trusted that far",
		)
	}
	for key, name := range b.named("trust.tools", slices.Sorted(maps.Keys(b.config.Trust.Tools))) {
		b.tools[name].response, b.tools[name].shows = b.config.Trust.Tools[key], false
	}
}

// named are the keys of a part of the file with the tools that they mean, each once.
func (b *builder) named(path string, keys []string) iter.Seq2[string, string] {
	return func(yield func(key, name string) bool) {
		seen := map[string]bool{}
		for _, key := range keys {
			name, ok := b.toolName(path, key)
			if seen[name] {
				b.fail(path+"."+key, key+" is another name for "+name+", which is set as well: keep one")
			}
			seen[name] = true
			if ok && !yield(key, name) {
				return
			}
		}
	}
}

// toolName finds the tool that a key in the file means. An unknown name is fine, plugins bring their own tools,
// unless it looks like a slip.
func (b *builder) toolName(path, key string) (string, bool) {
	name := toolcall.Canonical(key)
	if name == "" {
		b.fail(path, "a tool's name is empty")
		return "", false
	}
	if f, ok := b.tools[name]; ok {
		if f.wrapper {
			b.warn(path+"."+key, "has no effect: "+name+" only wraps another call, which is judged on its own")
		}
		return name, true
	}
	if near, far := spelling.Nearest(name, shippedNames()); far <= 2 {
		b.warn(path+"."+key, "no tool we know has this name: did you mean "+near+"?")
	}
	b.tools[name] = b.unknownFacts(name)
	return name, true
}

func shippedNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(shipped)), isServed)
}

// scope is which tools are judged. The zero scope is every tool.
type scope struct {
	include map[string]bool
	exclude map[string]bool
}

// holds reports whether a tool is in scope; the name "" is for every tool that nothing names.
func (s *scope) holds(name string) bool {
	if len(s.include) > 0 {
		return s.include[name]
	}
	return !s.exclude[name]
}

// readScope reads the scope at a path of the file.
func (b *builder) readScope(path string, s Scope) scope {
	if len(s.Include) > 0 && len(s.Exclude) > 0 {
		b.fail(path, "has both include and exclude: keep one")
	}
	return scope{include: b.readNames(path+".include", s.Include), exclude: b.readNames(path+".exclude", s.Exclude)}
}

// set reports whether a scope names any tool.
func (s *scope) set() bool { return len(s.include)+len(s.exclude) > 0 }

func (b *builder) readNames(path string, names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		if name, ok := b.toolName(path, n); ok {
			set[name] = true
		}
	}
	return set
}

// checkRisks says in words what the owner may not have meant. What a tool out of scope brings in counts all the same.
func (b *builder) checkRisks(p *Policy) {
	if !p.gated {
		b.warn(
			"taint.secrets",
			"a conversation that has read secrets may send to anyone unasked, as long as no secret is recognised in "+
				"what it sends",
		)
	}
	var hidden []string
	for _, name := range p.Tools() {
		if r := p.global.rules[name]; r.sink && !r.inScope {
			hidden = append(hidden, name)
		}
	}
	if len(hidden) > 0 {
		others := ""
		if !p.global.other.inScope {
			others = ", and so does every tool we do not know"
		}
		b.warn(
			"scope",
			"these tools act outside and pass unasked: "+strings.Join(
				hidden,
				", ",
			)+others+"; what they return still counts",
		)
	}
}
