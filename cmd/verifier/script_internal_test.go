package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/server/certtest"
	gw "github.com/openclaw-verifier/verifier/test/gateway"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"verifier": main})
}

// The scripts are sessions at a shell, each in a directory and with a state
// directory of its own.
func TestScripts(t *testing.T) {
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("VERIFIER_STATE", filepath.Join(e.WorkDir, "state"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("DOCS", docs) // the pages that scripts run as written
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Setenv("GOGC", "off") // a command ends before collecting pays; serve sets its own
			return os.WriteFile(filepath.Join(e.WorkDir, ".began"), nil, 0o600)
		},
		Cmds: withChats(map[string]func(*testscript.TestScript, bool, []string){
			"record": writeRecord, "edit": edit, "forge": forge, "ref": takeRef, "code": exitsWith, "await": await, "mode": mode,
			"address": takeAddress, "uncomment": uncomment, "hangup": hangup, "logs": logs, "jsonlines": jsonLines, "certificate": certificate, "listening": listening,
		}),
	})
}

// writeRecord FILE writes a record under the state directory's key.
func writeRecord(ts *testscript.TestScript, _ bool, args []string) {
	state, err := config.OpenState(ts.Getenv("VERIFIER_STATE"))
	ts.Check(err)
	key, err := state.ServerKey()
	ts.Check(err)
	log, err := record.Open(ts.MkAbs(args[0]), record.Options{Key: key})
	ts.Check(err)
	at := time.Date(2026, 10, 3, 14, 2, 11, 0, time.UTC)
	for i, tool := range []string{"read", "exec", "message"} {
		ts.Check(log.Append(record.Entry{
			Kind: record.KindDecision, At: at.Add(time.Duration(i) * time.Hour), Tool: tool, Session: "agent:main:main",
			Agent:    "main",
			Decision: []string{record.Allow, record.Deny, record.Allow}[i], Ref: []string{"", "7Q4K", ""}[i],
			Level: "external",
		}))
	}
	ts.Check(log.Close())
}

// edit FILE OLD NEW replaces the first OLD.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o600))
}

// forge FILE appends a line to a record that fits its chain, without the key.
func forge(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	raw, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(os.WriteFile(path, append(raw, forgedLine(raw)...), 0o600))
}

// takeRef puts the reference that was just printed into $REF.
func takeRef(ts *testscript.TestScript, _ bool, _ []string) {
	m := regexp.MustCompile(`ref ([A-Z0-9]{4})\b`).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("no reference in %q", ts.ReadFile("stdout"))
	}
	ts.Setenv("REF", m[1])
}

// exitsWith CODE PROGRAM ARG… runs a program that must end with the code.
func exitsWith(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// await FILE waits until there is one.
func await(ts *testscript.TestScript, _ bool, args []string) {
	eventually(ts, args[0]+" appears", func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	})
}

// mode FILE PERM checks who may read a file.
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := info.Mode().Perm().String(); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}

// takeAddress puts where the server listens into $VERIFIER_URL.
func takeAddress(ts *testscript.TestScript, _ bool, _ []string) {
	address := strings.TrimSpace(ts.ReadFile("state/address"))
	if !strings.HasPrefix(address, "https://") {
		address = "http://" + address
	}
	ts.Setenv("VERIFIER_URL", address)
}

// listening waits until a server answers where the state directory says, after a
// restart.
func listening(ts *testscript.TestScript, _ bool, _ []string) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 4000 {
		conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", strings.TrimPrefix(strings.TrimSpace(ts.ReadFile("state/address")), "https://"))
		if err == nil {
			ts.Check(conn.Close())
			return
		}
		<-tick.C
	}
	ts.Fatalf("nothing listens at %s", ts.ReadFile("state/address"))
}

// hangup sends SIGHUP to what runs in the background.
func hangup(ts *testscript.TestScript, _ bool, _ []string) {
	for _, c := range ts.BackgroundCmds() {
		ts.Check(c.Process.Signal(syscall.SIGHUP))
	}
}

// logs FILE TEXT waits until the text stands in the file.
func logs(ts *testscript.TestScript, _ bool, args []string) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 4000 {
		if text, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && strings.Contains(string(text), args[1]) {
			return
		}
		<-tick.C
	}
	ts.Fatalf("%s does not say %q:\n%s", args[0], args[1], ts.ReadFile(args[0]))
}

// jsonLines FILE checks that every line is a JSON object.
func jsonLines(ts *testscript.TestScript, _ bool, args []string) {
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if v := jsontext.Value(line); !v.IsValid() || v.Kind() != jsontext.KindBeginObject {
			ts.Fatalf("not JSON: %s", line)
		}
	}
}

// certificate CERT KEY NAME… makes a certificate that is its own authority.
func certificate(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(certtest.Write(ts.MkAbs(args[0]), ts.MkAbs(args[1]), time.Now().Add(-time.Hour), time.Now().Add(30*24*time.Hour), args[2:]...))
}

// uncomment FILE loads it with every commented setting switched on.
func uncomment(ts *testscript.TestScript, _ bool, args []string) {
	setting := regexp.MustCompile(`(?m)^( *)# ( *(?:- )?[a-zA-Z]+: ?.*)$`)
	text := setting.ReplaceAllString(ts.ReadFile(args[0]), "$1$2")
	env := func(name string) (string, bool) { return fmt.Sprintf("%x", sha256.Sum256([]byte(name))), true }
	certificate(ts, false, []string{"cert.pem", "key.pem", "localhost"})
	c, _, err := config.Parse(ts.MkAbs(args[0]), []byte(text), env, builtin.platforms())
	ts.Check(err)
	if len(c.Approvers) != 2 || len(c.Clients()) != 2 || !c.Store.Key.Set() || c.Policy.Agents["main"].ToolOverrides == nil {
		ts.Fatalf("not everything was switched on:\n%s", text)
	}
}

// forgedLine is an allow that looks as if it fitted behind a record: its number is right, and its MAC is a hash of it
// and of the line before. That needs no key.
func forgedLine(raw []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	var last struct {
		Seq int    `json:"seq"`
		MAC string `json:"mac"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
		panic(err)
	}
	body := fmt.Sprintf(
		`{"seq":%d,"kind":"decision","at":"2026-10-03T14:02:11Z","tool":"exec","decision":"allow","by":"person"`,
		last.Seq+1)
	sum := sha256.Sum256([]byte(last.MAC + "\n" + body))
	return fmt.Appendf(nil, "%s,\"mac\":\"%x\"}\n", body, sum[:16])
}

// output is what a command has printed.
type output = gw.Output

// unvouched is a run that nobody vouches for: every acting call is asked about.
func unvouched(session string) gw.Context {
	return gw.Context{"sessionKey": "agent:main:" + session}
}
