package redact

import (
	"slices"
	"strings"
)

const (
	// maxWork bounds what one call may cost, in characters given to regular
	// expressions; eight decoded ones cost one. What would cost more is hidden
	// unread.
	maxWork = 2 << 20
	// maxDepth is how many encodings, one in another, are undone.
	maxDepth = 4
	// maxAhead bounds how far behind its word a rule looks. A secret that is
	// longer is hidden to its end all the same.
	maxAhead = 1024
	// maxOverlap is how near the end of what is hidden already another secret may
	// start and reach further: KEY=-----BEGIN, of which a word was hidden.
	maxOverlap = 64
)

// finder looks for secrets in one text.
type finder struct {
	looks
	d        *detector
	patterns []pattern
	known    known
	depth    int
	marks    uint8   // of the text's bytes: see [automaton.find]
	places   []int   // where commands may be
	tried    []*rule // on the whole text
}

// find returns the secrets in s, in order and apart from each other, until it is
// asked for the next text. It is not ok when it had to give up.
func (f *finder) find(s string) (spans []span, ok bool) {
	f.s, f.spans, f.covered, f.seen, f.tried, f.failed = s, f.spans[:0], span{}, seen{}, f.tried[:0], false
	f.references, f.places = f.references[:0], f.places[:0]
	f.marks = f.d.words.find(s, f)
	f.byCommand()
	f.byReference()
	f.byValue()
	f.byPattern()
	f.byEscape()
	f.byUnseen()
	f.byBase64()
	if f.failed {
		return nil, false
	}
	return merge(f.spans), true
}

// at does what is to be done where a word is.
func (f *finder) at(word, start int) {
	if f.failed || f.hides(start) && f.covered.end-start > maxOverlap {
		return
	}
	end := start + f.d.words.length[word]
	for _, a := range f.d.acts[word] {
		if a.look != nil {
			a.look(f, start, end)
		} else {
			f.try(a.rule, start, end)
		}
	}
}

// try applies a rule at a word.
func (f *finder) try(r *rule, start, end int) {
	if !r.atWord {
		f.tryAll(r)
		return
	}
	if f.hides(start) || r.boundary && start > 0 && isWord(f.s[start-1]) || r.assigns && (!assignsSoon(f.s, end) || f.assignedAt(end)) {
		return
	}
	ahead := f.s[start:min(len(f.s), start+maxAhead)]
	if !f.spend(64 + min(len(ahead), f.runEnd(start)-start)) {
		return
	}
	m := r.expr.FindStringSubmatchIndex(ahead)
	if m == nil {
		return
	}
	if a, b, ok := r.secret(ahead, m); ok {
		f.add(r.id, start+a, f.tokenEnd(start+b))
	}
}

// tryAll applies a rule to the whole text, once.
func (f *finder) tryAll(r *rule) {
	if slices.Contains(f.tried, r) || !f.spend(len(f.s)) {
		return
	}
	f.tried = append(f.tried, r)
	for _, m := range r.expr.FindAllStringSubmatchIndex(f.s, -1) {
		if a, b, ok := r.secret(f.s, m); ok {
			f.spans = append(f.spans, span{a, f.tokenEnd(b), r.id})
		}
	}
}

// byPattern applies the owner's.
func (f *finder) byPattern() {
	for _, p := range f.patterns {
		if !f.spend(len(f.s)) {
			return
		}
		for _, m := range p.expr.FindAllStringSubmatchIndex(f.s, -1) {
			a, b := p.secret(m)
			if a < b {
				f.spans = append(f.spans, span{a, b, p.name})
			}
		}
	}
}

// within looks for secrets in a text that was made from this one.
func (f *finder) within(s string) []span {
	if f.depth+1 >= maxDepth || !f.spend(1+len(s)/8) {
		return nil
	}
	in := finder{d: f.d, patterns: f.patterns, known: f.known, depth: f.depth + 1}
	in.work = f.work
	spans, ok := in.find(s)
	f.failed = f.failed || !ok
	return spans
}

// merge sorts spans and joins those that overlap or touch.
func merge(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	out := spans[:1]
	for _, s := range spans[1:] {
		last := &out[len(out)-1]
		if s.start <= last.end {
			last.end = max(last.end, s.end)
			continue
		}
		out = append(out, s)
	}
	return out
}

// assignsSoon reports whether an operator follows closely, as the general rule
// for keys demands.
func assignsSoon(s string, i int) bool {
	for n := 0; i < len(s) && n < 24; i, n = i+1, n+1 {
		switch c := s[i]; {
		case strings.IndexByte("=:>|?,", c) >= 0:
			return true
		case !isWord(c) && strings.IndexByte(" \t\n\r\f\v.-'\"", c) < 0:
			return false
		}
	}
	return false
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlnum(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' }
func isWord(c byte) bool  { return isAlnum(c) || c == '_' }
func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// isToken64 is for the letters of base64, in all its dialects.
func isToken64(c byte) bool {
	return isAlnum(c) || c == '-' || c == '_' || c == '+' || c == '/' || c == '='
}
