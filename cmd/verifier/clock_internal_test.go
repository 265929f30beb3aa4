package main

import (
	"encoding/binary"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/test/long"
)

// handClock is a clock that a test sets, and time that passes whatever it is set
// to.
type handClock struct {
	mu     sync.Mutex
	set    time.Duration // how far it is from the real time
	passed time.Duration
}

func (c *handClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.set)
}

func (c *handClock) elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passed
}

// pass lets time pass; setBack sets the clock, while none does.
func (c *handClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set, c.passed = c.set+d, c.passed+d
}

func (c *handClock) setBack(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set -= d
}

// timeRig is a gateway on SQLite whose clock the test sets.
func timeRig(t *testing.T) (*rig, *handClock) {
	t.Helper()
	r := cold(t, nil)
	c := &handClock{}
	r.time = storeTime{now: c.now, elapsed: c.elapsed}
	r.start()
	t.Cleanup(func() { r.quit() })
	untilReady(t, r) // before that all arguments are hidden, and what is hidden gets no grant
	return r, c
}

// logsAndRecords waits until the log and the record say something.
func (r *rig) logsAndRecords(text string) {
	r.t.Helper()
	redistest.Eventually(r.t, "the log and the record say: "+text, func() bool {
		return strings.Contains(r.log.String(), text) && strings.Contains(r.record(), text)
	})
}

// grantsWork shows that time has not stopped: a new yes works, and ends.
func (r *rig) grantsWork(clock *handClock) {
	r.t.Helper()
	r.consented(sh("uname -r", unvouched("new")), 1)
	r.allow(sh("uname", unvouched("new")))
	clock.pass(61 * time.Second)
	r.mustAsk(sh("uname -a", unvouched("new")))
}

// A minute is a minute, though the clock is set back by an hour.
func TestH120AClockThatIsSetBackProlongsNothing(t *testing.T) {
	t.Parallel()
	t.Run("a grant", func(t *testing.T) {
		t.Parallel()
		r, clock := timeRig(t)
		r.consented(sh("ls", unvouched("m")), 1)
		r.allow(sh("ls -l", unvouched("m")))
		clock.setBack(time.Hour)
		clock.pass(50 * time.Second)
		r.allow(sh("ls -a", unvouched("m")))
		clock.pass(11 * time.Second)
		r.mustAsk(sh("ls -la", unvouched("m")))
		r.logsAndRecords("The clock was set back by")
		if _, health := r.ready(); !strings.Contains(health, "clock: The clock was set back") {
			t.Errorf("health says %q", health)
		}
		r.grantsWork(clock)
	})
	t.Run("a question", func(t *testing.T) {
		t.Parallel()
		r, clock := timeRig(t)
		r.mustAsk(sh("ls", unvouched("m")))
		card := r.waits()
		clock.setBack(time.Hour)
		clock.pass(approval.DefaultTTL + 5*time.Second)
		if left := r.pending(); len(left) > 0 {
			t.Errorf("it still waits: %+v", left)
		}
		if v := r.approve(card.Ref, 30); v.Kind == "counted" {
			t.Errorf("a late yes is told %+v", v)
		}
		r.mustAsk(sh("ls", unvouched("m")))
	})
	t.Run("a yes that no call has taken", func(t *testing.T) {
		t.Parallel()
		r, clock := timeRig(t)
		r.mustAsk(sh("ls", unvouched("m")))
		r.approve(r.waits().Ref, 0)
		clock.setBack(time.Hour)
		clock.pass(approval.DefaultTTL + 5*time.Second)
		r.mustAsk(sh("ls", unvouched("m")))
	})
	t.Run("forward and right again", func(t *testing.T) {
		t.Parallel()
		r, clock := timeRig(t)
		clock.setBack(-365 * 24 * time.Hour)
		r.consented(sh("ls", unvouched("m")), 1)
		clock.setBack(365 * 24 * time.Hour)
		r.allow(sh("ls -l", unvouched("m")))
		clock.pass(61 * time.Second)
		r.mustAsk(sh("ls -a", unvouched("m")))
		r.consented(sh("ls -A", unvouched("m")), 1)
		clock.pass(61 * time.Second)
		r.mustAsk(sh("ls -la", unvouched("m")))
	})
}

// The gateway starts with a clock that is behind what its store has seen: because
// it was set back, or because it was ahead before.
func TestH121AStartWithAClockBehindEndsWhatWasGranted(t *testing.T) {
	t.Parallel()
	for what, ahead := range map[string]time.Duration{"set back": 0, "ahead before": 365 * 24 * time.Hour} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r, clock := timeRig(t)
			clock.setBack(-ahead)
			r.consented(sh("ls", unvouched("m")), 30)
			r.allow(sh("ls -l", unvouched("m")))
			r.mustAsk(sh("date", unvouched("late"))) // its yes is not taken
			r.approve(r.waits().Ref, 0)
			r.mustAsk(sh("id", unvouched("open"))) // nor is this one answered
			open := r.waits()
			r.quit()
			clock.setBack(max(ahead, time.Hour))
			r.start()
			untilReady(t, r)
			for _, said := range []string{r.log.String(), r.record()} {
				if !strings.Contains(said, "All grants (1) and all questions with their answers (3) were ended") {
					t.Errorf("nobody is told:\n%s", said)
				}
			}
			if left := r.pending(); len(left) > 0 {
				t.Errorf("questions still wait: %+v", left)
			}
			if v := r.approve(open.Ref, 30); v.Kind == "counted" {
				t.Errorf("an old question was answered: %+v", v)
			}
			r.mustAsk(sh("ls -a", unvouched("m")))
			r.mustAsk(sh("date", unvouched("late")))
			r.grantsWork(clock)
			r.quit()
			r.soundRecord()
		})
	}
}

// Clocks are put right by a little all the time: that ends nothing, and prolongs
// nothing either.
func TestAStartWithAClockASecondBehindGoesOn(t *testing.T) {
	t.Parallel()
	r, clock := timeRig(t)
	r.consented(sh("ls", unvouched("m")), 1)
	r.quit()
	clock.setBack(time.Second)
	r.start()
	untilReady(t, r)
	r.allow(sh("ls -l", unvouched("m")))
	clock.pass(61 * time.Second)
	r.mustAsk(sh("ls -a", unvouched("m")))
}

// fakedRedis is a real redis-server whose clock the test sets, by the library that
// the chaos run preloads into it.
func fakedRedis(t *testing.T) (s *redistest.Server, setBack func(d time.Duration)) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the clock of redis-server can be set on Linux only")
	}
	long.Only(t, "a real Redis")
	dir := t.TempDir()
	library, knobs := filepath.Join(dir, "shim.so"), filepath.Join(dir, "knobs")
	build := exec.CommandContext(t.Context(), "cc", "-O1", "-shared", "-fPIC", "-o", library, "../../test/chaos/shim/redis.c")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the library that sets the clock: %v\n%s", err, out)
	}
	write := func(d time.Duration) {
		both := binary.NativeEndian.AppendUint64(nil, uint64(-d.Milliseconds())) // the library reads it as a signed number
		f, err := os.OpenFile(knobs, os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			_, err = f.Write(append(both, make([]byte, 8)...))
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write(0)
	s = redistest.StartWith(t, []string{"LD_PRELOAD=" + library, "CHAOS_SHIM=" + knobs})
	return s, func(d time.Duration) {
		t.Helper()
		before, err := s.Admin.Time(t.Context()).Result()
		if err != nil {
			t.Fatal(err)
		}
		write(d)
		redistest.Eventually(t, "Redis' clock is set", func() bool {
			now, err := s.Admin.Time(t.Context()).Result()
			return err == nil && now.Sub(before).Abs() > d.Abs()/2
		})
	}
}

// redisTimeRig is a gateway on a Redis whose clock the test sets.
func redisTimeRig(t *testing.T) (r *rig, clock *handClock, setBack func(time.Duration)) {
	t.Helper()
	server, setBack := fakedRedis(t)
	r = cold(t, func(c *config.Config) { c.Store.URL = config.NewSecret(server.URL()) })
	clock = &handClock{}
	r.redis, r.time = server, storeTime{elapsed: clock.elapsed}
	r.start()
	t.Cleanup(func() { r.quit() })
	untilReady(t, r) // before that all arguments are hidden, and what is hidden gets no grant
	return r, clock, setBack
}

func TestH120RedisClockThatIsSetBackProlongsNothing(t *testing.T) {
	t.Parallel()
	r, clock, setBack := redisTimeRig(t)
	r.consented(sh("ls", unvouched("m")), 1)
	r.mustAsk(sh("date", unvouched("late"))) // its yes is not taken
	r.approve(r.waits().Ref, 0)
	r.mustAsk(sh("id", unvouched("open"))) // nor is this one answered
	open := r.waits()
	setBack(time.Hour)
	r.allow(sh("ls -l", unvouched("m")))
	clock.pass(approval.DefaultTTL + 5*time.Second)
	if v := r.approve(open.Ref, 30); v.Kind == "counted" {
		t.Errorf("a late yes is told %+v", v)
	}
	r.mustAsk(sh("ls -a", unvouched("m")))
	r.mustAsk(sh("date", unvouched("late")))
	r.logsAndRecords("The clock was set back by")
	r.grantsWork(clock)
}

func TestH121AStartWithRedisClockBehindEndsWhatWasGranted(t *testing.T) {
	t.Parallel()
	r, clock, setBack := redisTimeRig(t)
	r.consented(sh("ls", unvouched("m")), 30)
	r.mustAsk(sh("date", unvouched("late")))
	r.approve(r.waits().Ref, 0)
	redistest.Eventually(t, "the time is kept with the data", func() bool { return r.redis.Admin.Exists(t.Context(), "v2:{00}:time").Val() == 1 })
	r.quit()
	setBack(time.Hour)
	r.start()
	untilReady(t, r)
	r.mustAsk(sh("ls -a", unvouched("m")))
	r.mustAsk(sh("date", unvouched("late")))
	r.logsAndRecords("All grants (1)")
	r.grantsWork(clock)
}

// pageLives reports whether a session of the page is one.
func (v *visit) pageLives() bool {
	v.t.Helper()
	status, _ := v.load(http.MethodGet, "/page/record", nil)
	return status == http.StatusOK
}

// A login link lives for ten minutes and a session for a week by the store's time,
// whatever the machine's clock is set to. That clock does not move in these tests.
func TestH151AClockThatIsSetBackProlongsNoLoginAndNoSession(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	t.Run("while the gateway runs", func(t *testing.T) {
		t.Parallel()
		r, clock := timeRig(t)
		v := r.visit()
		v.enter(r.loginLink())
		link := r.loginLink()
		clock.setBack(time.Hour)
		clock.pass(9 * time.Minute)
		r.visit().enter(r.loginLink())
		clock.pass(2 * time.Minute)
		if r.opens(link) {
			t.Error("a link of eleven minutes ago logs in")
		}
		clock.pass(week - 12*time.Minute)
		if !v.pageLives() {
			t.Error("the session ended early")
		}
		clock.pass(15 * time.Minute) // a store whose clock is behind counts a thousandth slower, see store.Clock
		if v.pageLives() {
			t.Error("a session of more than a week ago is one")
		}
		r.visit().enter(r.loginLink())
	})
	t.Run("at a start", func(t *testing.T) {
		t.Parallel()
		r, clock := timeRig(t)
		v := r.visit()
		v.enter(r.loginLink())
		link := r.loginLink()
		clock.pass(week - time.Hour)
		r.quit()
		clock.setBack(6 * 24 * time.Hour)
		r.start()
		if r.opens(link) {
			t.Error("a link of a week ago logs in")
		}
		if !v.pageLives() {
			t.Error("the session ended early")
		}
		clock.pass(time.Hour + time.Minute)
		if v.pageLives() {
			t.Error("a session of more than a week ago is one")
		}
		r.visit().enter(r.loginLink())
	})
}

// opens reports whether a link logs in, or says that it would.
func (r *rig) opens(link string) bool {
	r.t.Helper()
	_, text, _ := strings.Cut(link, "link=")
	v, form := r.visit(), url.Values{"link": {text}}
	about, _ := v.load(http.MethodPost, "/page/login/link", form)
	login, _ := v.load(http.MethodPost, "/page/login", form)
	again, _ := v.load(http.MethodPost, "/page/login", form)
	return about == http.StatusOK || login == http.StatusOK || again == http.StatusOK
}

// A call is held, the owner says yes, and the process is killed before the call
// has taken it: the identical call has it right after the start.
func TestH122AfterKill9AYesThatWaitsIsTakenAtOnce(t *testing.T) {
	t.Parallel()
	onBothCold(t, nil, func(t *testing.T, r *rig) {
		p := r.spawn(blow{})
		c := sh("ls", unvouched("m"))
		held := p.hold(c)
		ref := p.card(held)
		p.kill()
		<-held
		r.start()
		if v := r.approve(ref, 0); v.Kind != "counted" {
			t.Fatalf("the owner's yes is told %+v", v)
		}
		if a := r.send(c); !a.allowed() {
			t.Errorf("the identical call got %s", a.raw)
		}
		r.mustAsk(c) // once is once
	})
}
