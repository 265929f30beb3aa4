package redact

import "strings"

// Lines hides the secrets in short texts that stand around a call, such as its
// name and where it comes from, in place. Nearly always there are none: all of
// them together, but those that were clean before, cost one search.
func (r *Redactor) Lines(texts ...*string) {
	p := passes.Get().(*pass) //nolint:errcheck // nothing else is put in
	k := &p.seek
	k.begin(r)
	if k.d == nil {
		k.unready(texts)
	} else {
		var room [16]int
		k.lines(r.usual, texts, r.usual.others(room[:0], texts))
	}
	k.finder.s = "" // nothing of the texts stays
	passes.Put(p)
}

// unready hides all that may be more than a plain name.
func (k *seeker) unready(texts []*string) {
	for _, s := range texts {
		if !isPlain(*s) {
			*s, _ = k.text(*s, nil, &k.why)
		}
	}
}

// lines hides what is found in each of those texts by itself.
func (k *seeker) lines(u *usual, texts []*string, those []int) {
	if len(those) == 0 {
		return
	}
	clean := k.clean(texts, those)
	for _, i := range those {
		s := texts[i]
		switch {
		case !clean:
			*s, _ = k.text(*s, nil, &k.why)
		case u.again(*s):
			if spans, ok := k.finder.find(*s); ok && len(spans) == 0 {
				u.add(*s)
			}
		}
	}
}

// clean reports whether no secret is in any of those texts. An empty line stands
// between them: a line that is all base64 would be read as one with the next. Most
// often there is one text, the id of the request.
func (k *seeker) clean(texts []*string, those []int) bool {
	if len(those) == 1 {
		spans, ok := k.finder.find(*texts[those[0]])
		return ok && len(spans) == 0
	}
	const apart = "\n\n"
	size := 0
	for _, i := range those {
		size += len(*texts[i]) + len(apart)
	}
	var all strings.Builder
	all.Grow(size)
	for _, i := range those {
		all.WriteString(*texts[i])
		all.WriteString(apart)
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
	bare.Lines(&s)
	return s
}

// bare knows nothing of the owner's.
var bare = &Redactor{making: shared, usual: &usual{}}
