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
		var room [16]*string
		k.lines(r.usual, r.usual.others(room[:0], texts))
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

// lines hides what is found in each text by itself.
func (k *seeker) lines(u *usual, texts []*string) {
	if len(texts) == 0 {
		return
	}
	clean := k.clean(texts)
	for _, s := range texts {
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

// clean reports whether no secret is in any of the texts. An empty line stands
// between them: a line that is all base64 would be read as one with the next. Most
// often there is one text, the id of the request.
func (k *seeker) clean(texts []*string) bool {
	if len(texts) == 1 {
		spans, ok := k.finder.find(*texts[0])
		return ok && len(spans) == 0
	}
	const apart = "\n\n"
	size := 0
	for _, s := range texts {
		size += len(*s) + len(apart)
	}
	var all strings.Builder
	all.Grow(size)
	for _, s := range texts {
		if *s != "" {
			all.WriteString(*s)
			all.WriteString(apart)
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
	bare.Lines(&s)
	return s
}

// bare knows nothing of the owner's.
var bare = &Redactor{making: shared, usual: &usual{}}
