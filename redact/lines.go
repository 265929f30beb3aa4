package redact

import "strings"

// Lines hides the secrets in short texts that stand around a call, such as its
// name and where it comes from, in place. Nearly always there are none: all of
// them together cost one search.
func (r *Redactor) Lines(texts ...*string) {
	p := passes.Get().(*pass) //nolint:errcheck // nothing else is put in
	k := &p.seek
	k.begin(r)
	if k.d == nil || !k.clean(texts) {
		for _, s := range texts {
			if k.d != nil || !isPlain(*s) {
				*s, _ = k.text(*s, nil, &k.why)
			}
		}
	}
	k.finder.s = "" // nothing of the texts stays
	passes.Put(p)
}

// clean reports whether no secret is in any of the texts, each a line.
func (k *seeker) clean(texts []*string) bool {
	size := 0
	for _, s := range texts {
		size += len(*s) + 1
	}
	var all strings.Builder
	all.Grow(size)
	for _, s := range texts {
		if *s != "" {
			all.WriteString(*s)
			all.WriteByte('\n')
		}
	}
	spans, ok := k.finder.find(all.String())
	return ok && len(spans) == 0
}

// Line is the same for one text and without the owner's patterns, for whoever
// has no Redactor at hand. It waits until the rules are ready: a tenth of a
// second, once.
func Line(s string) string {
	shared.start()
	<-shared.done
	(&Redactor{making: shared}).Lines(&s)
	return s
}
