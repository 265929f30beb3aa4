package redact

import "strings"

// span is a secret in a text.
type span struct {
	start, end int
	kind       string
}

// hits are the secrets that were found in a text so far, and what is left of the work.
type hits struct {
	s          string
	work       *int // left for this call
	failed     bool // the work is used up: nothing is known of the text
	spans      []span
	covered    span // the span that reaches furthest: what starts in it is hidden
	seen       seen
	references []reference
}

// seen is how far looks have gone, so that no place is looked at twice.
type seen struct {
	name, run, line int
}

// add hides s[start:end], if there is anything to hide there.
func (h *hits) add(kind string, start, end int) {
	if start >= end || isMask(h.s[start:end]) {
		return
	}
	h.spans = append(h.spans, span{start, end, kind})
	if end > h.covered.end {
		h.covered = h.spans[len(h.spans)-1]
	}
}

// hides reports whether what starts here is hidden already.
func (h *hits) hides(start int) bool { return h.covered.start <= start && start < h.covered.end }

// spend takes n from the work left, and gives up when there is none.
func (h *hits) spend(n int) bool {
	*h.work -= n
	h.failed = h.failed || *h.work < 0
	return !h.failed
}

// secretIn hides s[a:b], unless it says where a secret is, or that there is none.
func (h *hits) secretIn(a, b int) {
	if w := (word{s: h.s}); !h.harmless(w, a, h.s[a:b]) {
		h.add(assignedKind, a, b)
	}
}

// assignedAt reports whether a value that is given to the name that ends here is
// hidden already.
func (h *hits) assignedAt(end int) bool {
	return h.covered.kind == assignedKind && end <= h.covered.start && h.covered.start < end+32
}

// runEnd returns where the characters that are not spaces end. Asked for places
// in order, it walks over the text once.
func (h *hits) runEnd(i int) int {
	if i < h.seen.run {
		return h.seen.run
	}
	for i < len(h.s) && !isSpace(h.s[i]) {
		i++
	}
	h.seen.run = i
	return i
}

// tokenEnd returns where the token that s[:i] ends in really ends.
func (h *hits) tokenEnd(i int) int {
	for i > 0 && i < len(h.s) && isToken64(h.s[i]) && isToken64(h.s[i-1]) {
		i++
	}
	return i
}

// lineEnd returns the end of the line, or of the quotes that it is in. Asked for
// places in order, it looks for the end of each line once.
func (h *hits) lineEnd(i int, quote byte) int {
	if i > h.seen.line || h.seen.line == 0 {
		h.seen.line = lineEnd(h.s, i)
	}
	if quote != 0 {
		if n := strings.IndexByte(h.s[i:h.seen.line], quote); n >= 0 {
			return i + n
		}
	}
	return h.seen.line
}

// harmless reports whether the value at i is no secret but says where one is,
// or that there is none. A variable is remembered: what it is given is a secret.
func (h *hits) harmless(w word, i int, v string) bool {
	if !w.harmless(i, v) {
		return false
	}
	h.refer(v, false)
	return true
}

// refer remembers a variable.
func (h *hits) refer(v string, maybe bool) {
	name := variableName(v)
	if name == "" || len(h.references) == maxReferences {
		return
	}
	for i := range h.references {
		if r := &h.references[i]; r.name == name {
			r.maybe = r.maybe && maybe
			return
		}
	}
	h.references = append(h.references, reference{name, maybe})
}
