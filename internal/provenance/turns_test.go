package provenance_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/internal/provenance"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/taint"
)

func TestATurnIsNamedByItsTime(t *testing.T) {
	t.Parallel()
	var turns provenance.Turns
	run := provenance.Key{Client: "c", Session: "agent:main:main", Run: "r1"}
	id := turns.ID(run, began, false)
	if want := fmt.Sprintf("%08x", began.Unix()); !strings.HasPrefix(id, want) || len(id) != 16 {
		t.Errorf("%s does not begin with %s", id, want)
	}
	session := run
	session.SessionID = "s1"
	if turns.ID(session, began.Add(time.Minute), false) != id {
		t.Error("the session id of a run makes it another turn")
	}
	others := map[string]bool{id: true}
	for _, k := range []provenance.Key{{"d", run.Session, "r1", ""}, {"c", "x", "r1", ""}, {"c", run.Session, "r2", ""},
		{"c", run.Session, "", "s1"}} {
		others[turns.ID(k, began, false)] = true
	}
	if len(others) != 5 {
		t.Errorf("turns share an id: %v", others)
	}
	turns.ID(run, began.Add(time.Minute), true)
	if over, keep := turns.Over(run, began.Add(time.Minute)); over != id || !keep {
		t.Errorf("over: %s, %v", over, keep)
	}
	if again, keep := turns.Over(run, began.Add(2*time.Minute)); again != id || keep {
		t.Errorf("what comes after the end of a run is of %s, and kept: %v", again, keep)
	}
	session.Run = ""
	first, _ := turns.Over(session, began)
	if turns.ID(session, began.Add(time.Minute), false) == first {
		t.Error("what comes after the end of a session's turn is of the same")
	}
	turns.ID(run, began, false)
	if turns.ID(run, began.Add(61*time.Minute), false) == id {
		t.Error("after an hour it is still the same turn")
	}
	for i := range 10_000 { // bounded
		turns.ID(provenance.Key{Run: fmt.Sprint(i)}, began, false)
	}
	later := began.Add(2 * time.Hour)
	turns.ID(run, later, true)
	for i := range 4_000 {
		turns.ID(provenance.Key{Run: fmt.Sprint("later", i)}, later, false)
	}
	if _, keep := turns.Over(run, later); !keep {
		t.Error("a run under way was forgotten before others that had been silent for an hour")
	}
}

// gateway is one that writes a record.
type gateway struct {
	turns provenance.Turns
	log   *record.Log
	path  string
	now   atomic.Pointer[time.Time]
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	g := &gateway{path: filepath.Join(t.TempDir(), "record.jsonl")}
	g.open(t)
	return g
}

func (g *gateway) open(t *testing.T) {
	t.Helper()
	g.now.Store(&began)
	var err error
	if g.log, err = record.Open(g.path, record.Options{Key: []byte("the server's key"),
		Now:      func() time.Time { return *g.now.Load() },
		Rotation: func() (int64, int) { return 4000, 0 }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.log.Close() })
}

// add writes what happens of a run at a second.
func (g *gateway) add(t *testing.T, second int, run string, e record.Entry) {
	t.Helper()
	e.At, e.Client, e.Session, e.Run = began.Add(time.Duration(second)*time.Second), "c", "agent:main:"+run[:1], run
	g.now.Store(&e.At)
	e.Turn = g.turns.ID(provenance.Key{Client: "c", Session: e.Session, Run: run}, e.At, false)
	if err := g.log.Append(e); err != nil {
		t.Fatal(err)
	}
}

func (g *gateway) files(t *testing.T) []string {
	t.Helper()
	files, err := record.Files(g.path)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func ref(client, session string) string { return fmt.Sprintf("%s-%s", client, session) }

func TestATurnIsFoundInRecordsByAnyOfItsNames(t *testing.T) {
	t.Parallel()
	one, two := newGateway(t), newGateway(t)
	deny := denied("exec", "untrusted", "unanswered", true)
	deny.Ref = "7Q4K"
	for i := range 30 {
		one.add(t, 10*i, "a"+fmt.Sprint(i), called("read", "owner", "local"))
		one.add(t, 10*i+1, "a"+fmt.Sprint(i), event("local", record.Part{What: record.PartSaid},
			record.Part{What: record.PartEnded}))
	}
	one.add(t, 400, "mine", called("read", "owner", "local"))
	two.add(t, 401, "mine", called("web_fetch", "local", "untrusted"))
	one.add(t, 402, "mine", deny)
	one.add(t, 403, "other", called("ls", "owner", "local"))
	two.add(t, 404, "mine", event("untrusted", record.Part{What: record.PartEnded}))
	key := provenance.Key{Client: "c", Session: "agent:main:m", Run: "mine"}
	id := one.turns.ID(key, began.Add(402*time.Second), false)
	later := two.turns.ID(key, began.Add(404*time.Second), false)
	draw := func(name string, records ...[]string) []string {
		t.Helper()
		g, err := provenance.Draw(t.Context(), records, name, ref)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if g.TurnID != id || !g.Sealed && len(records) > 1 || g.Cut {
			t.Errorf("%s: %+v", name, g)
		}
		var tools []string
		for _, n := range g.Nodes {
			if n.Tool != "" {
				tools = append(tools, n.Tool)
			}
		}
		return tools
	}
	for _, name := range []string{id, strings.ToUpper(id), later, "mine", "7q4k", "agent:main:m", "C-agent:main:m"} {
		if got := draw(name, one.files(t), two.files(t)); !slices.Equal(got, []string{"read", "web_fetch", "exec"}) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := draw(id, one.files(t)); !slices.Equal(got, []string{"read", "exec"}) {
		t.Errorf("of one gateway: %v", got)
	}
	three := newGateway(t)
	three.add(t, 0, "long", called("read", "owner", "local"))
	again := &gateway{log: three.log, path: three.path} // after a restart
	again.add(t, 1500, "long", called("ls", "owner", "local"))
	if g, err := provenance.Draw(t.Context(), [][]string{three.files(t)}, "long", ref); err != nil ||
		len(g.Summary.ToolsBlocked) > 0 || g.Summary.IterationCount != 2 {
		t.Errorf("a run that went on after a restart: %+v, %v", g, err)
	}
	four, five := newGateway(t), newGateway(t) // the second meets the run when it is two hours old
	for _, second := range []int{0, 3000, 6000} {
		four.add(t, second, "old", called("read", "owner", "local"))
	}
	five.add(t, 7200, "old", called("ls", "owner", "local"))
	oldest := provenance.Key{Client: "c", Session: "agent:main:o", Run: "old"}
	old := five.turns.ID(oldest, began.Add(2*time.Hour), false)
	for _, name := range []string{old, four.turns.ID(oldest, began.Add(2*time.Hour), false)} {
		if g, err := provenance.Draw(t.Context(), [][]string{four.files(t), five.files(t)}, name, ref); err != nil ||
			g.Summary.IterationCount != 4 {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
	six, seven := newGateway(t), newGateway(t) // the first has its last entry after a gap that the second fills
	six.add(t, 0, "gap", called("read", "owner", "local"))
	for _, second := range []int{3000, 6000, 9000} {
		seven.add(t, second, "gap", called("read", "owner", "local"))
	}
	six.add(t, 10_200, "gap", called("web_fetch", "local", "untrusted"))
	if g, err := provenance.Draw(t.Context(), [][]string{six.files(t), seven.files(t)}, "gap", ref); err != nil ||
		g.Summary.IterationCount != 5 || g.Summary.MaxTaint != taint.Untrusted {
		t.Errorf("a run with a gap in one record: %+v, %v", g, err)
	}
	if len(one.files(t)) < 3 {
		t.Error("the record is in one file")
	}
	for _, name := range []string{"", "nothing", "0000000000000000", id[:15] + "x", "7Q4", `"`, "x",
		strings.Repeat("é", 8)} {
		if _, err := provenance.Draw(t.Context(), [][]string{one.files(t)}, name, ref); !errors.Is(err,
			provenance.ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := provenance.Draw(gone, [][]string{one.files(t)}, "mine", ref); !errors.Is(err, context.Canceled) {
		t.Errorf("a reader who left: %v", err)
	}
}
