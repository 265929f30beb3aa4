package redis_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/store/storetest"
	"github.com/openclaw-verifier/verifier/taint"
)

func TestConformance(t *testing.T)         { storetest.Run(t, startServer(t).open) }
func TestConformanceMini(t *testing.T)     { storetest.Run(t, openMini) }
func TestConformanceMiniLate(t *testing.T) { storetest.Run(t, openLate) }
func TestCompareMiniLate(t *testing.T)     { storetest.Compare(t, openLate) }
func TestCompare(t *testing.T)             { storetest.Compare(t, startServer(t).open) }
func TestCompareMini(t *testing.T)         { storetest.Compare(t, openMini) }

// conv is some conversation.
func conv(name string) session.Conversation {
	return session.Conversation{Client: "laptop", Key: "agent:main:" + name}
}

// call is the owner's, and allowed by the level alone.
func call(c session.Conversation, id string) session.Admission {
	return session.Admission{
		Conversation: c, Session: "s1", RequestID: id, Initial: taint.Owner, Sender: "owner", Modes: taint.Every(taint.Allow),
		Final: true, Source: "read notes.txt", Digest: "0f4e8a5d6c7b", Decision: "A|0123456789abcdef", Keep: 11 * time.Minute,
		Run: "run-1", RunCap: 1_000_000_000, Grants: []string{"f1", "f2"},
	}
}

// countingConn counts what leaves the process.
type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countingConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

func TestAdmitIsOneRoundTrip(t *testing.T) {
	s := startServer(t)
	var writes atomic.Int64
	store := open(t, "redis://"+s.Addr(), redis.Options{Epoch: epoch(t), Timeout: patient, Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		return countingConn{conn, &writes}, err
	}})
	for i := range 50 { // meets the epoch, loads the script, and then what is known of each conversation
		if _, err := store.Admit(t.Context(), call(conv(fmt.Sprint(i)), "warm")); err != nil {
			t.Fatal(err)
		}
	}
	writes.Store(0)
	for i := range 1000 {
		a := call(conv(fmt.Sprint(i%50)), fmt.Sprint("r", i))
		if i%3 == 0 {
			a.Modes = taint.Every(taint.Confirm)
		}
		if _, err := store.Admit(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if n := writes.Load(); n != 1000 {
		t.Fatalf("1000 admits were %d writes", n)
	}
}

func TestAScriptThatTheServerForgotIsSentAgain(t *testing.T) {
	s := startServer(t)
	store := open(t, "redis://"+s.Addr(), redis.Options{Epoch: epoch(t), Timeout: patient})
	for _, id := range []string{"r1", "r2"} {
		if _, err := store.Admit(t.Context(), call(conv("a"), id)); err != nil {
			t.Fatal(err)
		}
		if err := s.Admin.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadyRefusesEviction(t *testing.T) {
	s := startServer(t)
	store := open(t, "redis://"+s.Addr(), redis.Options{Epoch: epoch(t), Timeout: patient})
	for _, c := range []struct {
		memory, policy string
		ready          bool
	}{
		{"0", "noeviction", true}, {"0", "allkeys-lru", true}, {"100mb", "noeviction", true},
		{"100mb", "allkeys-lru", false}, {"100mb", "volatile-ttl", false},
	} {
		s.Config("maxmemory", c.memory, "maxmemory-policy", c.policy)
		if err := store.Ready(t.Context()); (err == nil) != c.ready {
			t.Errorf("maxmemory %s, policy %s: %v", c.memory, c.policy, err)
		}
	}
}

// TestReadySaysWhatToDo where Redis is not there, or wants a password.
func TestReadySaysWhatToDo(t *testing.T) {
	s := startServer(t)
	s.Config("requirepass", "a password of the server's")
	for url, hint := range map[string]string{
		"redis://127.0.0.1:1":      "is redis-server running there?",
		"redis://" + s.Addr():      "another user or password",
		"redis://:no@" + s.Addr():  "another user or password",
		"redis://u:no@" + s.Addr(): "another user or password",
	} {
		err := open(t, url, redis.Options{Epoch: epoch(t), Timeout: patient}).Ready(t.Context())
		if err == nil || !strings.Contains(err.Error(), "\nhint: ") || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
