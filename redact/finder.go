package redact

import (
	"encoding/hex"
	"slices"
	"strings"
)

const (
	// maxWork bounds what one call may cost, in characters given to regular expressions. What would cost more is hidden
	// unread.
	maxWork = 2 << 20
	// maxAhead bounds how far behind its word a rule looks. A secret that is longer is hidden to its end all the same.
	maxAhead = 1024
)

// The kinds of what our own shapes find.
const (
	assignedKind = "secret value"
	headerKind   = "authorization"
	urlKind      = "password in a URL"
	flagKind     = "secret argument"
	pemKind      = "PEM block"
	tokenKind    = "token"
)

// span is a secret in a text.
type span struct {
	start, end int
	kind       string
}

// look is what is done where a word is.
type look func(f *finder, start, end int)

// finder looks for secrets in the texts of one call.
type finder struct {
	words    *words // nil: not ready, hide all
	patterns []pattern
	sure     bool // only what nothing but a secret looks like
	percent  bool // the text was percent-encoded
	work     int  // left for this call
	failed   bool // the work is used up: nothing is known of the text

	s       string
	spans   []span
	covered span    // the one that reaches furthest: what starts in it is hidden
	named   int     // how far names were looked at
	tried   []*rule // on the whole text
}

// find returns the secrets in s, in order and apart from each other, until it is asked for the next text.
func (f *finder) find(s string) []span {
	f.s, f.spans, f.covered, f.named, f.tried, f.failed = s, f.spans[:0], span{}, 0, f.tried[:0], false
	f.words.find(s, f)
	f.byPattern()
	if !f.percent && strings.IndexByte(s, '%') >= 0 {
		f.byPercent()
	}
	return merge(f.spans)
}

// add hides s[start:end], if there is anything to hide there.
func (f *finder) add(kind string, start, end int) {
	if start += maskLength(f.s[start:]); start >= end {
		return
	}
	f.spans = append(f.spans, span{start, end, kind})
	if end > f.covered.end {
		f.covered = f.spans[len(f.spans)-1]
	}
}

// hides reports whether what starts here is hidden already.
func (f *finder) hides(start int) bool { return f.covered.start <= start && start < f.covered.end }

// spend takes n from the work left, and gives up when there is none.
func (f *finder) spend(n int) bool {
	f.work -= n
	f.failed = f.failed || f.work < 0
	return !f.failed
}

// try applies a rule at a word.
func (f *finder) try(r *rule, start, end int) {
	behind := f.s[end:min(len(f.s), end+24)]
	switch {
	case f.sure && r.loose:
	case r.ID == generic && (!strings.ContainsAny(behind, "=:>|?,") || f.covered.kind == assignedKind &&
		f.covered.end > end):
	case r.At == "":
		f.tryAll(r)
	case f.hides(start) && !f.sure || r.At == atBegin && !f.begins(start):
	default:
		f.tryHere(r, start)
	}
}

// begins reports whether no word goes on at start. The letter of an escape, such as \n, belongs to none.
func (f *finder) begins(start int) bool {
	return start == 0 || !isWord(f.s[start-1]) ||
		start > 1 && f.s[start-2] == '\\' && strings.IndexByte("nrt", f.s[start-1]) >= 0
}

func (f *finder) tryHere(r *rule, start int) {
	ahead := f.s[start:min(len(f.s), start+maxAhead)]
	n := strings.IndexByte(ahead, ' ') // few rules look further
	if n < 0 {
		n = len(ahead)
	}
	if !f.spend(64 + n) {
		return
	}
	if m := r.expr.FindStringSubmatchIndex(ahead); m != nil {
		if a, b, ok := r.secret(ahead, m); ok {
			f.add(r.ID, start+a, f.end(r, start+b))
		}
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
			f.spans = append(f.spans, span{a, f.end(r, b), r.ID})
		}
	}
}

// end returns where the token that s[:i] ends in really ends: many of gitleaks' rules know only how long it is at
// least.
func (f *finder) end(r *rule, i int) int {
	for r.ID != tokenKind && !r.loose && i > 0 && i < len(f.s) && inBase64(f.s[i]) && inBase64(f.s[i-1]) {
		i++
	}
	return i
}

// byPattern applies the owner's.
func (f *finder) byPattern() {
	for _, p := range f.patterns {
		if !f.spend(len(f.s)) {
			return
		}
		for _, m := range p.expr.FindAllStringSubmatchIndex(f.s, -1) {
			if a, b := p.secret(m); a < b {
				f.spans = append(f.spans, span{a, b, p.name})
			}
		}
	}
}

// byPercent looks at the text as it reads without %41. A secret found there is hidden where its characters come from.
func (f *finder) byPercent() {
	plain, from := make([]byte, 0, len(f.s)), make([]int, 0, len(f.s)+1)
	for i := 0; i < len(f.s); {
		c, n := f.s[i], 1
		if c == '%' && i+2 < len(f.s) {
			if b, err := hex.DecodeString(f.s[i+1 : i+3]); err == nil {
				c, n = b[0], 3
			}
		}
		plain, from = append(plain, c), append(from, i)
		i += n
	}
	if len(plain) == len(f.s) || !f.spend(len(plain)/8) {
		return
	}
	from = append(from, len(f.s))
	in := finder{words: f.words, patterns: f.patterns, sure: f.sure, percent: true, work: f.work}
	for _, s := range in.find(string(plain)) {
		f.spans = append(f.spans, span{from[s.start], from[s.end], s.kind})
	}
	f.work, f.failed = in.work, in.failed
}

// merge sorts spans and joins those that overlap or touch.
func merge(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	out := spans[:1]
	for _, s := range spans[1:] {
		if last := &out[len(out)-1]; s.start <= last.end {
			last.end = max(last.end, s.end)
		} else {
			out = append(out, s)
		}
	}
	return out
}
