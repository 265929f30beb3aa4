package redact

// Lines hides the secrets in short texts that are around a call, such as its
// name and where it comes from, in place.
func (r *Redactor) Lines(texts ...*string) {
	var k seeker
	k.begin(r)
	for _, s := range texts {
		if k.d != nil || !isPlain(*s) {
			*s, _ = k.text(*s, nil, &k.why)
		}
	}
}

// Line is the same for one text and without the owner's patterns, for a caller who
// has no Redactor at hand. It waits until the rules are ready: a tenth of a
// second, once.
func Line(s string) string {
	shared.start()
	<-shared.done
	bare.Lines(&s)
	return s
}

// bare knows nothing of the owner's.
var bare = &Redactor{making: shared}
