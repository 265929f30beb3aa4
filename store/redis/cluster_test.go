package redis_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/taint"
)

// startCluster joins three nodes that share the slots.
func startCluster(t *testing.T) (url string, nodes []*server) {
	t.Helper()
	var addrs []string
	for range 3 {
		s := startServer(t, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(redistest.FreePort(t)))
		nodes, addrs = append(nodes, s), append(addrs, s.Addr())
	}
	for i, s := range nodes {
		must(t, s.Admin.ClusterAddSlotsRange(t.Context(), i*16384/3, (i+1)*16384/3-1).Err())
		must(t, s.Admin.Do(t.Context(), "cluster", "meet", "127.0.0.1", nodes[0].Port, nodes[0].Args[3]).Err())
	}
	for _, s := range nodes {
		redistest.Eventually(t, "the cluster is complete", func() bool {
			info, err := s.Admin.ClusterInfo(t.Context()).Result()
			return err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
		})
	}
	return "redis://" + strings.Join(addrs, ","), nodes
}

// Whatever is known of a conversation, its children, questions, grants and
// requests, stands in one slot, so that a script sees all of it at once; other
// conversations stand elsewhere.
func TestClusterKeepsAConversationInOneSlot(t *testing.T) {
	url, nodes := startCluster(t)
	store := open(t, url, redis.Options{Epoch: epoch(t), Timeout: patient})
	const conversations = 12
	for i := range conversations {
		parent, child := conv(fmt.Sprint("parent", i)), conv(fmt.Sprint("child", i))
		a := call(parent, "r1")
		a.Modes, a.Run, a.RunCap = taint.Every(taint.Confirm), "run", 10
		_, err := store.Admit(t.Context(), a)
		must(t, err)
		_, _, err = store.Link(t.Context(), child, parent)
		must(t, err)
		id := parent.Hash()[:2] + fmt.Sprint("card", i)
		_, err = store.Place(t.Context(), approval.Draft{ID: id, Conversation: parent, Digests: []string{a.Digest}, CodeSeal: fmt.Sprint("seal", i), Live: 1e12, MaxOpen: 1})
		must(t, err)
		must(t, store.Swap(t.Context(), approval.Change{ID: id, Version: 1, Conversation: parent, Grants: map[string]string{"f1": "v1"}}))
	}
	slots, used := map[int]map[int64]int{}, map[int]bool{}
	for n, s := range nodes {
		keys, err := s.Admin.Keys(t.Context(), "*").Result()
		must(t, err)
		for _, key := range keys {
			i, ok := whose(key, conversations)
			if !ok {
				continue
			}
			slot, err := s.Admin.ClusterKeySlot(t.Context(), key).Result()
			must(t, err)
			if slots[i] == nil {
				slots[i] = map[int64]int{}
			}
			slots[i][slot]++
			used[n] = true
		}
	}
	if len(slots) != conversations || len(used) != len(nodes) {
		t.Errorf("%d conversations on %d nodes", len(slots), len(used))
	}
	for i, in := range slots {
		total := 0
		for _, n := range in {
			total += n
		}
		if len(in) != 1 || total < 4 {
			t.Errorf("conversation %d: %d keys in the slots %v", i, total, in)
		}
	}
}

// whose is the number of the conversation that a key is about.
func whose(key string, conversations int) (int, bool) {
	for i := range conversations {
		if hash := conv(fmt.Sprint("parent", i)).Hash(); strings.Contains(key, hash) || strings.HasSuffix(key, fmt.Sprint("k:", hash[:2], "card", i)) {
			return i, true
		}
	}
	return 0, false
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Every method works where the conversations of one family, their cards and
// codes stand on different nodes.
func TestCluster(t *testing.T) {
	url, nodes := startCluster(t)
	store := open(t, url, redis.Options{Epoch: epoch(t), Timeout: patient})
	for _, o := range ops() {
		if err := o.do(t.Context(), store, "1"); err != nil {
			t.Errorf("%s: %v", o.name, err)
		}
	}
	for i := range 20 {
		parent, child := conv(fmt.Sprint("parent", i)), conv(fmt.Sprint("child", i))
		a := call(parent, "r1")
		a.Modes = taint.Every(taint.Confirm)
		v, err := store.Admit(t.Context(), a)
		must(t, err)
		root, _, err := store.Link(t.Context(), child, parent)
		if err != nil || root != parent {
			t.Fatalf("%v, %v", root, err)
		}
		d := approval.Draft{ID: parent.Hash()[:2] + fmt.Sprint(i), Conversation: parent, Digests: []string{a.Digest}, CodeSeal: fmt.Sprint("seal", i), Live: 1e12, MaxOpen: 1}
		placed, err := store.Place(t.Context(), d)
		if err != nil || placed.State != approval.New {
			t.Fatalf("%+v, %v", placed, err)
		}
		must(t, store.Swap(t.Context(), approval.Change{ID: d.ID, Version: 1, Conversation: parent, Grants: map[string]string{"f1": "v1"}}))
		settled, err := store.Settle(t.Context(), session.Settlement{
			Conversation: parent, Session: a.Session, RequestID: a.RequestID, Body: a.Body, Version: v.Version,
			Decision: "A", Keep: 1e12, Claim: &session.Claim{Card: d.ID, Version: 2},
		})
		if err != nil || settled.State != session.Done {
			t.Fatalf("%+v, %v", settled, err)
		}
		if got, err := store.Reset(t.Context(), child.Ref()); err != nil || got != parent {
			t.Fatalf("%v, %v", got, err)
		}
	}
	open, err := store.Open(t.Context())
	if err != nil || len(open) != 21 { // with the one of ops
		t.Fatalf("%d open cards, %v", len(open), err)
	}
	nodes[1].Config("maxmemory", "100mb", "maxmemory-policy", "allkeys-lru")
	if err := store.Ready(t.Context()); err == nil {
		t.Fatal("a cluster of which one node evicts is ready")
	}
}
