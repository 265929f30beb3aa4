package redistest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// Mini is a miniredis, a stand-in for a server with a clock that tests can set.
// It runs in another process, without the race detector, under which its Lua is
// ten times slower.
type Mini struct {
	URL   string // with a password
	Admin *goredis.Client
}

// StartMini starts an empty server that ends with Close, or with this process.
func StartMini() (*Mini, error) {
	p, err := minis()
	if err != nil {
		return nil, err
	}
	url, err := p.start()
	if err != nil {
		return nil, err
	}
	o, err := goredis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	o.Protocol, o.DisableIdentity = 2, true
	o.MaxRetries, o.ReadTimeout = -1, -1 // FastForward must not be done twice
	return &Mini{URL: url, Admin: goredis.NewClient(o)}, nil
}

// SetTime sets the clock. It expires nothing.
func (m *Mini) SetTime(t time.Time) error {
	return m.Admin.Do(context.Background(), "SETTIME", t.UnixNano()).Err()
}

// FastForward expires what has no more than d to live. It does not set the clock.
func (m *Mini) FastForward(d time.Duration) error {
	return m.Admin.Do(context.Background(), "FASTFORWARD", d.Nanoseconds()).Err()
}

// Close ends the server.
func (m *Mini) Close() error {
	return errors.Join(m.Admin.Do(context.Background(), "SHUTDOWN").Err(), m.Admin.Close())
}

// miniProcess is the program in which all of this process's Minis run. It ends
// when its standard input is closed, so also when this process is killed.
type miniProcess struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

var minis = sync.OnceValues(func() (*miniProcess, error) {
	cmd := exec.CommandContext(context.Background(), "go", "run",
		"github.com/openclaw-verifier/verifier/internal/store/redistest/miniredistest")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &miniProcess{in: in, out: bufio.NewReader(out)}, cmd.Start()
})

// start starts a server and returns its URL.
func (p *miniProcess) start() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := io.WriteString(p.in, "\n"); err != nil {
		return "", err
	}
	url, err := p.out.ReadString('\n')
	return strings.TrimSpace(url), err
}
