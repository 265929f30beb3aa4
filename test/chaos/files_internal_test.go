package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestARunIsJudgedByWhatItLeftBehind: the records and logs of two gateways, as
// files, with something planted in them.
func TestARunIsJudgedByWhatItLeftBehind(t *testing.T) {
	const (
		line  = `{"kind":"decision","requestId":"f","tool":"read","decision":"allow","by":"safe"}` + "\n"
		sound = "true" // what `verifier audit verify` says of a chain, as a program that ends so
	)
	for _, c := range []struct{ name, verify, record, log, want string }{
		{"nothing", sound, line, "", ""},
		{"a line that is gone", sound, "", "", lostRecord},
		{"a line that says deny", sound, strings.Replace(line, `"allow"`, `"deny"`, 1), "", lostRecord},
		{"a line of another request", sound, strings.Replace(line, `"f"`, `"g"`, 1), "", lostRecord},
		{"a chain that does not hold", "false", line, "", "record not intact"},
		{"a panic", sound, line, "panic: nobody expected this\n", "a crash"},
		{"a race", sound, line, "WARNING: DATA RACE\n", "a crash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := left(t, c.verify, c.record, c.log)
			r, err := w.judge()
			if err != nil {
				t.Fatal(err)
			}
			if told := fmt.Sprint(r.faulty()); (r.faulty() == nil) != (c.want == "") || !strings.Contains(told, c.want) {
				t.Errorf("want %q, told %s", c.want, told)
			}
		})
	}
	if _, err := left(t, sound, line+"half a li", "").judge(); err == nil {
		t.Error("a record that can't be read is taken for one")
	}
}

// left is a world after a run in which gateway 0 allowed one call.
func left(t *testing.T, verify, record, log string) *world {
	t.Helper()
	w := &world{redis: &redis{knobs: &knobs{}}, chats: &chats{}, tools: tools{verifier: verify}}
	for i := range w.gateways {
		dir := t.TempDir()
		w.gateways[i] = &gateway{process: &process{name: fmt.Sprint("gateway ", i), log: filepath.Join(dir, "log")}, state: dir}
		for name, text := range map[string]string{"record.jsonl": record, "log": log} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.agents = newAgents(w.gateways, 1)
	w.agents.calls = []*call{{id: "f", tool: "read", stamp: at(0), sent: at(0), first: at(0), ended: at(1), answered: true, allowed: true}}
	return w
}
