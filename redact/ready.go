package redact

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// detector is what every Redactor of the process shares: the table of words,
// and what to do where one is. It is made once and then only read.
type detector struct {
	words *automaton
	acts  [][]act // by word
}

// act is what is done where a word is: a look by a function of ours, or by
// a rule.
type act struct {
	look look
	rule *rule
}

// making is the detector on its way: compiling the rules takes about as long as
// the whole start of the program may.
type making struct {
	once  sync.Once
	done  chan struct{}
	ready atomic.Pointer[detector]
	err   error // once done
}

var shared = &making{done: make(chan struct{})}

// start has the detector made, off the caller's path. The goroutine ends with
// it.
func (m *making) start() { m.once.Do(func() { go m.make() }) }

func (m *making) make() {
	defer close(m.done)
	defer func() {
		if p := recover(); p != nil {
			m.err = fmt.Errorf("redact: the rules can't be compiled: %v", p)
		}
	}()
	d, err := newDetector()
	if err != nil {
		m.err = err
		return
	}
	m.ready.Store(d)
}

func newDetector() (*detector, error) {
	_, byWord, err := loadRules()
	if err != nil {
		return nil, err
	}
	d := &detector{}
	index := map[string]int{}
	var words []string
	at := func(word string) int {
		i, ok := index[word]
		if !ok {
			i = len(words)
			index[word] = i
			words, d.acts = append(words, word), append(d.acts, nil)
		}
		return i
	}
	for _, t := range triggers() {
		i := at(t.word)
		d.acts[i] = append(d.acts[i], act{look: t.look})
	}
	for word, rules := range byWord {
		i := at(word)
		for _, r := range rules {
			d.acts[i] = append(d.acts[i], act{rule: r})
		}
	}
	d.words = newAutomaton(words)
	return d, nil
}

// Ready is closed when the detector has been made, or can't be: see
// [Redactor.Wait]. It takes about a tenth of a second from the first New.
func (r *Redactor) Ready() <-chan struct{} { return r.making.done }

// IsReady reports whether anything can be shown. Until then all is hidden.
func (r *Redactor) IsReady() bool { return r.making.ready.Load() != nil }

// Wait waits until the Redactor is ready. An error means that it is not, and
// that it still hides everything: call Params all the same.
func (r *Redactor) Wait(ctx context.Context) error {
	if r.IsReady() {
		return nil
	}
	select {
	case <-r.making.done:
		return r.making.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
