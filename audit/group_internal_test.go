package audit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// these are notes, to be written together.
func these(texts ...string) (entries []Entry) {
	for _, text := range texts {
		entries = append(entries, Entry{Kind: KindNote, Note: text})
	}
	return entries
}

// written are the notes in a sound record.
func written(t *testing.T, path string) (texts []string) {
	t.Helper()
	verifies(t, path, nil)
	for l := range Read(bytes.NewReader(contents(t, path))) {
		if l.Kind == KindNote {
			texts = append(texts, l.Note)
		}
	}
	return texts
}

// counted is a disk that counts how often it is written to.
type counted struct {
	disk
	writes int
}

func (c *counted) Write(p []byte) (int, error) {
	c.writes++
	return c.disk.Write(p)
}

func TestEntriesThatComeTogetherAreOneWriteInTheirOrder(t *testing.T) {
	for _, each := range []bool{false, true} {
		for _, patience := range []time.Duration{0, time.Minute} {
			o := testOptions()
			o.SyncEach, o.Patience, o.CheckpointEvery = each, patience, 100
			l, _, path := faultyLog(t, o)
			disk := &counted{disk: l.disk}
			l.disk = disk
			mustAppend(t, l, "a")
			if failed := l.AppendAll(these("b", "c", "d")); failed != nil {
				t.Fatal(failed)
			}
			mustAppend(t, l, "e")
			if got := fmt.Sprint(written(t, path)); got != "[a b c d e]" || disk.writes != 3 {
				t.Errorf("sync %v, patience %v: %s in %d writes", each, patience, got, disk.writes)
			}
			if failed := l.AppendAll(nil); failed != nil || disk.writes != 3 {
				t.Errorf("nothing at all: %v in %d writes", failed, disk.writes)
			}
			mustClose(t, l)
			if failed := l.AppendAll(these("f", "g")); len(failed) != 2 || !errors.Is(failed[0], ErrClosed) || !errors.Is(failed[1], ErrClosed) {
				t.Errorf("after close: %v", failed)
			}
		}
	}
}

func TestAnEntryThatCannotBeWrittenLeavesItsNeighboursBe(t *testing.T) {
	l, _, path := faultyLog(t, testOptions())
	entries := these("a", strings.Repeat("x", MaxLine), "b", "forged", "c")
	entries[3].Kind = KindCheckpoint
	failed := l.AppendAll(entries)
	if len(failed) != 5 || failed[0] != nil || !errors.Is(failed[1], ErrTooLong) || failed[2] != nil || failed[3] == nil || failed[4] != nil {
		t.Errorf("errors %v", failed)
	}
	if got := fmt.Sprint(written(t, path)); got != "[a b c]" {
		t.Errorf("the record has %s", got)
	}
	mustClose(t, l)
}

func TestH46EntriesThatComeTogetherAreWrittenAllOrNone(t *testing.T) {
	boom := errors.New("boom")
	for name, fail := range map[string]func(*faulty){
		"a write that stops after the first": func(f *faulty) { f.write, f.partial = boom, 400 },
		"a sync":                             func(f *faulty) { f.gate = make(chan error, 1); f.gate <- boom },
	} {
		o := testOptions()
		o.SyncEach, o.CheckpointEvery = true, 100
		l, f, path := faultyLog(t, o)
		mustAppend(t, l, "a")
		fail(f)
		failed := l.AppendAll(these("b", "c", "d"))
		if len(failed) != 3 || !errors.Is(failed[0], boom) || !errors.Is(failed[1], boom) || !errors.Is(failed[2], boom) {
			t.Errorf("%s: errors %v", name, failed)
		}
		f.write, f.gate, f.partial = nil, nil, 0
		mustAppend(t, l, "e")
		if got := fmt.Sprint(written(t, path)); got != "[a e]" {
			t.Errorf("%s: the record has %s", name, got)
		}
		mustClose(t, l)
	}
}

func TestH46EntriesThatComeTogetherToADiskThatHangsAreToldInTime(t *testing.T) {
	o := testOptions()
	o.Patience = 10 * time.Millisecond
	l, f, path := faultyLog(t, o)
	s := &stuck{f, make(chan struct{}, 1), make(chan struct{})}
	l.disk = s
	failed := l.AppendAll(these("a", "b"))
	if len(failed) != 2 || !errors.Is(failed[0], ErrSlow) || !errors.Is(failed[1], ErrSlow) {
		t.Errorf("errors %v", failed)
	}
	close(s.gate)
	for tick := time.Tick(time.Millisecond); l.queued.Load() > 0; {
		<-tick
	}
	if got := fmt.Sprint(written(t, path)); got != "[a b]" {
		t.Errorf("the record has %s", got)
	}
	mustClose(t, l)
}
