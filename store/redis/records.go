package redis

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/store"
)

//go:embed commit.lua
var commitLua string

//go:embed list.lua
var listLua string

// Scripts are sent by their hash, and whole where a server does not know them yet: after a restart, on a new node.
var commitScript, listScript = goredis.NewScript(commitLua), goredis.NewScript(listLua)

const (
	prefix      = "v3:"
	earlier     = "v2:{00}:epoch" // what an earlier version of this program wrote has it
	wakeChannel = prefix + "wake"
)

// keyOf is where a record is: all keys of a bucket share a slot.
func keyOf(k store.Key) string { return prefix + "{" + k.Bucket() + "}:" + k.Name() }

// keyFrom reads such a key.
func keyFrom(text string) (store.Key, bool) {
	rest, ok := strings.CutPrefix(text, prefix+"{")
	if !ok || len(rest) < 5 || rest[2:4] != "}:" {
		return "", false
	}
	return store.Key(rest[:2] + ":" + rest[4:]), true
}

// errReply says that Redis holds or answered what we do not write.
var errReply = errors.New("redis: Redis gave an answer that makes no sense")

// value writes a record; parse reads one.
func value(r *store.Record) (text string, until int64) {
	if r.Version == (store.Version{}) {
		return "", 0
	}
	if !r.Until.IsZero() {
		until = r.Until.UnixMilli()
	}
	return string(r.Version[:]) + strconv.FormatInt(until, 10) + ":" + r.Data, until
}

func parse(text string) (r store.Record, err error) {
	if text == "" {
		return r, nil
	}
	if len(text) < 8 {
		return r, fmt.Errorf("%w: a record of %d bytes", errReply, len(text))
	}
	until, data, found := strings.Cut(text[8:], ":")
	ms, err := strconv.ParseInt(until, 10, 64)
	if !found || err != nil {
		return r, fmt.Errorf("%w: a record without an end", errReply)
	}
	copy(r.Version[:], text)
	if r.Data = data; ms > 0 {
		r.Until = time.UnixMilli(ms)
	}
	return r, nil
}

// Now implements store.Records: it is the earliest that it can be by what this process has seen of Redis' clock.
func (r *records) Now() time.Time { return r.clock.Floor().Truncate(time.Millisecond) }

// now is the store's time where Redis' clock shows this.
func (r *records) now(reading time.Time) time.Time {
	return r.clock.Now(reading).Truncate(time.Millisecond)
}

// loadAtOnce is how many keys one pipeline reads: well within its timeout.
const loadAtOnce = 1000

// Load implements store.Records.
func (r *records) Load(ctx context.Context, keys ...store.Key) ([]store.Record, time.Time, error) {
	found := make([]store.Record, 0, len(keys))
	var now time.Time
	for some := range slices.Chunk(keys, loadAtOnce) {
		part, at, err := r.load(ctx, some)
		if err != nil {
			return nil, time.Time{}, err
		}
		found, now = append(found, part...), at
	}
	return found, now, nil
}

func (r *records) load(ctx context.Context, keys []store.Key) ([]store.Record, time.Time, error) {
	var clock *goredis.TimeCmd
	texts, members := make([]*goredis.StringCmd, len(keys)), make([]*goredis.BoolCmd, len(keys))
	_, err := r.client.Pipelined(ctx, func(p goredis.Pipeliner) error {
		clock = p.Time(ctx)
		for i, k := range keys {
			if set, member, is := k.Member(); is {
				members[i] = p.SIsMember(ctx, keyOf(set), member)
			} else {
				texts[i] = p.Get(ctx, keyOf(k))
			}
		}
		return nil
	})
	if ifThere(err) != nil {
		return nil, time.Time{}, errors.Join(err, ctx.Err())
	}
	now, found := r.now(clock.Val()), make([]store.Record, len(keys))
	for i, k := range keys {
		switch {
		case members[i] != nil && members[i].Val():
			found[i].Data = "1"
		case members[i] != nil:
		case ifThere(texts[i].Err()) != nil:
			return nil, time.Time{}, texts[i].Err()
		default:
			if found[i], err = read(k, texts[i].Val(), now); err != nil {
				return nil, time.Time{}, err
			}
		}
	}
	return found, now, nil
}

// read reads a record or a counter; one that is over is none.
func read(k store.Key, text string, now time.Time) (r store.Record, err error) {
	if k.IsCounter() {
		if text != "" {
			r.Count, err = strconv.ParseInt(text, 10, 64)
		}
		return r, err
	}
	r, err = parse(text)
	if !r.Until.IsZero() && !now.Before(r.Until) {
		return store.Record{}, err
	}
	return r, err
}

// ifThere makes nothing of the error that says that nothing is there.
func ifThere(err error) error {
	if errors.Is(err, goredis.Nil) {
		return nil
	}
	return err
}

// Commit implements store.Records. Those who come at the same moment share a trip.
func (r *records) Commit(ctx context.Context, commits ...*store.Commit) error {
	by := time.Now().Add(r.timeout) // a caller who is in a hurry leaves; the trip is others' too
	if len(commits) == 1 {
		c := commits[0]
		reply, err := r.batcher.send(ctx, scriptCall(c, r.Now()), by)
		if err != nil {
			return err
		}
		return r.result(c, reply)
	}
	for some := range slices.Chunk(commits, loadAtOnce) {
		together := make([]*request, len(some))
		for i, c := range some {
			together[i] = newRequest(scriptCall(c, r.Now()), by)
		}
		r.batcher.run(together)
		for i, c := range some {
			<-together[i].done
			if together[i].err != nil {
				return together[i].err
			}
			if err := r.result(c, together[i].reply); err != nil {
				return err
			}
		}
	}
	return nil
}

// call is a script with all it takes.
type call struct {
	keys []string
	args []any
}

// scriptCall is a commit as commit.lua takes it.
func scriptCall(c *store.Commit, now time.Time) call {
	number := make(map[store.Key]int, len(c.Reads)+len(c.Writes))
	out := call{keys: make([]string, 0, len(c.Reads)+len(c.Writes)+len(c.Counts)), args: make([]any, 6, 16)}
	for _, read := range c.Reads {
		number[read.Key] = len(out.keys) + 1
		out.keys = append(out.keys, keyOf(read.Key))
		want := ""
		if read.Version != (store.Version{}) {
			want = string(read.Version[:])
		}
		out.args = append(out.args, want)
	}
	for i := range c.Writes {
		if k := c.Writes[i].Key; number[k] == 0 { // it was not read: it is replaced, whatever it is
			number[k] = len(out.keys) + 1
			out.keys, out.args = append(out.keys, keyOf(k)), append(out.args, "*")
		}
	}
	out.args[0], out.args[1] = len(out.keys), len(c.Counts)
	out.args[2], out.args[3], out.args[4], out.args[5] = max(0, now.UnixMilli()), c.NotAfter.UnixMilli(), wakeChannel, c.Announce
	for i := range c.Counts {
		n := &c.Counts[i]
		want, set := "", 0
		if n.Exact {
			want = strconv.FormatInt(n.Had, 10)
		}
		if n.Set {
			set = 1
		}
		out.keys = append(out.keys, keyOf(n.Key))
		out.args = append(out.args, n.By, set, want, n.Cap, max(1, n.Keep.Milliseconds()))
	}
	for _, j := range c.Joins {
		out.keys, out.args = append(out.keys, keyOf(j.Set)), append(out.args, j.Member)
	}
	for i := range c.Writes {
		text, until := value(&c.Writes[i].Record)
		out.args = append(out.args, number[c.Writes[i].Key], text, until)
	}
	return out
}

// result reads what commit.lua answers.
func (r *records) result(c *store.Commit, reply any) error {
	list, ok := reply.([]any)
	if !ok || len(list) < 2+len(c.Counts) {
		return fmt.Errorf("%w: %v", errReply, reply)
	}
	numbers := make([]int64, 2+len(c.Counts))
	for i := range numbers {
		if numbers[i], ok = list[i].(int64); !ok {
			return fmt.Errorf("%w: %v", errReply, list[i])
		}
	}
	now := time.UnixMilli(numbers[1])
	r.clock.Saw(now)
	c.Result = store.Result{Done: numbers[0] == 1, Late: now.After(c.NotAfter), Now: now, Counts: numbers[2:], Moved: map[store.Key]store.Record{}}
	for moved := list[len(numbers):]; len(moved) >= 2; moved = moved[2:] {
		n, isNumber := moved[0].(int64)
		text, isText := moved[1].(string)
		if !isNumber || !isText || n < 1 || int(n) > len(c.Reads) {
			return fmt.Errorf("%w: %v", errReply, moved[0])
		}
		record, err := parse(text)
		if err != nil {
			return err
		}
		c.Result.Moved[c.Reads[n-1].Key] = record
	}
	return nil
}

// Members implements store.Records.
func (r *records) Members(ctx context.Context, sets ...store.Key) (members []string, err error) {
	for _, set := range sets {
		scan := r.client.SScan(ctx, keyOf(set), 0, "", 1000).Iterator()
		for scan.Next(ctx) {
			members = append(members, scan.Val())
		}
		if err := scan.Err(); err != nil {
			return nil, err
		}
	}
	slices.Sort(members) // a scan may name one twice
	return slices.Compact(members), nil
}

// Append implements store.Records.
func (r *records) Append(ctx context.Context, lists ...store.List) error {
	for _, l := range lists {
		args := []any{max(0, r.Now().UnixMilli()), l.Most, max(1, l.Keep.Milliseconds())}
		for _, e := range l.Entries {
			args = append(args, e)
		}
		if err := listScript.Run(ctx, r.client, []string{keyOf(l.Key)}, args...).Err(); err != nil {
			return err
		}
	}
	return nil
}

// Entries implements store.Records.
func (r *records) Entries(ctx context.Context, list store.Key) ([][]byte, error) {
	found, err := listScript.Run(ctx, r.client, []string{keyOf(list)}, max(0, r.Now().UnixMilli()), 0, 1).StringSlice()
	entries := make([][]byte, len(found))
	for i, e := range found {
		entries[i] = []byte(e)
	}
	return entries, err
}

// Each implements store.Records, on every server.
func (r *records) Each(ctx context.Context, do func(store.Key, store.Record) error) error {
	cluster, ok := r.client.(*goredis.ClusterClient)
	if !ok {
		return r.each(ctx, r.client, do)
	}
	nodes := make(chan *goredis.Client, store.Buckets) // the servers are asked at the same time
	if err := cluster.ForEachMaster(ctx, func(_ context.Context, node *goredis.Client) error {
		nodes <- node
		return nil
	}); err != nil {
		return err
	}
	close(nodes)
	for node := range nodes {
		if err := r.each(ctx, node, do); err != nil {
			return err
		}
	}
	return nil
}

func (r *records) each(ctx context.Context, node goredis.UniversalClient, do func(store.Key, store.Record) error) error {
	scan := node.ScanType(ctx, 0, prefix+"*", 1000, "string").Iterator()
	for scan.Next(ctx) {
		k, ok := keyFrom(scan.Val())
		if !ok || k.IsCounter() {
			continue
		}
		text, err := node.Get(ctx, scan.Val()).Result()
		if err != nil {
			if ifThere(err) == nil {
				continue
			}
			return err
		}
		record, err := parse(text)
		if err == nil {
			err = do(k, record)
		}
		if err != nil {
			return err
		}
	}
	return scan.Err()
}
