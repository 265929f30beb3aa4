package redact

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
)

// rulesOnce reads the rules when they are needed first: to compile them takes about as long as the whole start of the
// program may.
var rulesOnce = sync.OnceValues(loadRules)

// make makes the table of words, off the path of New.
func (r *Redactor) make(secrets []string) {
	defer close(r.done)
	defer func() {
		if p := recover(); p != nil {
			r.err = fmt.Errorf("redact: the rules can't be compiled: %v", p)
		}
	}()
	rules, err := rulesOnce()
	if err != nil {
		r.err = err
		return
	}
	all := []word{{"-----begin", (*finder).pem}}
	for w := range strings.FieldsSeq(nameWords) {
		all = append(all, word{w, (*finder).name})
	}
	for w := range byProgram {
		all = append(all, word{w, (*finder).program})
	}
	for _, rule := range rules {
		for _, w := range rule.Words {
			all = append(all, word{w, func(f *finder, start, end int) { f.try(rule, start, end) }})
		}
	}
	for _, s := range secrets {
		for _, text := range written(s) {
			all = append(all, word{text[:minKnown], func(f *finder, start, _ int) {
				if hasFold(f.s[start:], text) {
					f.add(OwnSecret, start, start+len(text))
				}
			}})
		}
	}
	r.ready.Store(newWords(all))
}

// minKnown is the shortest secret that is looked for by its value, in bytes: a shorter one could be any word.
const minKnown = 8

// written are the forms in which a secret is looked for, in small letters: as it is, in hex, and in base64 wherever it
// begins there. The secret that is a key in hex is also one in base64.
func written(secret string) (out []string) {
	if len(secret) < minKnown {
		return nil
	}
	out = append(out, secret, hex.EncodeToString([]byte(secret)))
	raws := []string{secret}
	if key, err := hex.DecodeString(secret); err == nil && len(key) >= minKnown {
		raws = append(raws, string(key))
	}
	for _, raw := range raws {
		for shift := range 3 {
			// Without the letters in which the neighbours have a part.
			letters := base64.RawStdEncoding.EncodeToString([]byte("\x00\x00"[:shift] + raw))
			letters = letters[(8*shift+5)/6 : 8*(shift+len(raw))/6]
			out = append(out, letters, strings.NewReplacer("+", "-", "/", "_").Replace(letters))
		}
	}
	for i, text := range out {
		small := []byte(text)
		for j, c := range small {
			if 'A' <= c && c <= 'Z' {
				small[j] |= 0x20
			}
		}
		out[i] = string(small)
	}
	return out
}

// IsReady reports whether anything can be shown. Until then all is hidden.
func (r *Redactor) IsReady() bool { return r.ready.Load() != nil }

// Wait waits until the Redactor is ready, which takes about a tenth of a second from the first New. An error means
// that it is not, and that it still hides everything: call Params all the same.
func (r *Redactor) Wait(ctx context.Context) error {
	if r.IsReady() {
		return nil
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
