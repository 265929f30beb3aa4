package hook

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Flags say where the gateway is, and what its owner says of the agent. What they name counts; the environment, which an
// injected shell could set, is looked at only where they name nothing.
type Flags struct {
	Config     string        `short:"c" placeholder:"FILE" help:"The gateway's config."`
	State      string        `placeholder:"DIR" help:"The gateway's state directory."`
	URL        string        `name:"url" placeholder:"URL" help:"Where the gateway is, if it is on another machine."`
	SecretFile string        `placeholder:"FILE" help:"The file that holds what calls are signed with."`
	CA         string        `name:"ca" placeholder:"FILE" help:"The certificate of the authority that signed the gateway's, a PEM file."`
	Notes      string        `placeholder:"DIR" help:"Where hooks keep notes for each other. Without it: in the state directory."`
	Timeout    time.Duration `placeholder:"TIME" help:"How long the agent waits for the hook, as its settings say. The hook answers 10 s before."`
	Dialogs    bool          `help:"The agent shows its own dialog where the hook tells it to ask: Gemini CLI from 0.61.0 on, before commands."`
	Edits      bool          `help:"The agent runs the arguments of an answer instead of its own: Claude Code from 2.1.325 on, Codex from 0.166.0 on, Gemini CLI from 0.61.0 on. An older one may run its own."`
	Owner      bool          `help:"Runs are yours even without a person at the terminal, as with -p and exec. Don't use it if others can start such runs, by an issue or a message."`
}

// Named reports whether the flags say which gateway is meant.
func (f *Flags) Named() bool { return f.Config != "" || f.State != "" || f.URL != "" }

// FromEnv fills in what the environment says, where the flags say nothing.
func (f *Flags) FromEnv(env func(string) string) {
	if f.Named() {
		return
	}
	f.URL, f.SecretFile = env("VERIFIER_URL"), cmp.Or(f.SecretFile, env("VERIFIER_SECRET_FILE"))
	f.Config, f.CA = env("VERIFIER_CONFIG"), cmp.Or(f.CA, env("VERIFIER_CA"))
	if f.Config == "" && f.SecretFile == "" {
		f.Config = FoundConfig(env)
	}
}

// Simple reports whether a gateway can be found without its config: that takes a program that knows it.
func (f *Flags) Simple() bool {
	if f.SecretFile != "" && f.URL != "" {
		return f.CA != "" || !strings.HasPrefix(f.URL, "https:")
	}
	return f.Config == "" && f.URL == ""
}

// secretHint is what to do without a secret.
const secretHint = " Name the file that holds it with --secret-file or VERIFIER_SECRET_FILE."

// Find finds the gateway by an address and a file, or by what a gateway on this machine has left in its state directory.
func (f *Flags) Find(env func(string) string) (g Gateway, err error) {
	file, address := f.SecretFile, f.URL
	if address == "" {
		dir := StateDir(f.State, env)
		text, err := os.ReadFile(filepath.Join(dir, "address"))
		if err != nil {
			return g, failure("No verifier has run on this machine with the state directory " + printable(dir) + ". Nothing was run. Start `verifier serve`, or name its --config, --state or --url.")
		}
		address, file = Reachable(strings.TrimSpace(string(text))), cmp.Or(file, filepath.Join(dir, "webhook.secret"))
	}
	g.URL = CallsAt(address)
	if g.Secret, err = ReadSecret(file); err != nil {
		return g, err
	}
	if f.CA != "" {
		text, err := os.ReadFile(f.CA)
		g.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		if err != nil || !g.TLS.RootCAs.AppendCertsFromPEM(text) {
			return g, failure("The file that --ca names holds no certificates. Nothing was run.")
		}
	}
	return g, nil
}

// leastSecret is how long a secret is at least, as in the gateway's config.
const leastSecret = 16

// ReadSecret reads what calls are signed with.
func ReadSecret(file string) ([]byte, error) {
	if file == "" {
		return nil, failure("The verifier's hook has no secret to sign with. Nothing was run." + secretHint)
	}
	text, err := os.ReadFile(file)
	secret := strings.TrimSpace(string(text))
	if err != nil || len(secret) < leastSecret {
		return nil, failure("The file " + printable(file) + " holds no secret that the verifier's hook can read. Nothing was run.")
	}
	return []byte(secret), nil
}

// CallsAt is the address of calls, where only the server's is given.
func CallsAt(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if host, path, _ := strings.Cut(rest, "/"); ok && path == "" {
		return scheme + "://" + host + "/verify"
	}
	return address
}

// Reachable turns what a server has left of its address into one that can be called.
func Reachable(listen string) string {
	scheme, rest, ok := strings.Cut(listen, "://")
	if !ok {
		scheme, rest = "http", listen
	}
	host, port, err := net.SplitHostPort(rest)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		rest = net.JoinHostPort("127.0.0.1", port)
	}
	return scheme + "://" + rest
}

// NotesDir is where hooks leave word for each other.
func (f *Flags) NotesDir(env func(string) string) (string, error) {
	switch {
	case f.Notes != "":
		return filepath.Abs(f.Notes)
	case f.State != "" || !f.Named():
		return filepath.Join(StateDir(f.State, env), "hook"), nil
	}
	home := cmp.Or(accountHome(), env("HOME")) // an injected shell could set the variable
	if home == "" {
		return "", failure("The verifier's hook does not know where to leave word for later ones. Nothing was run. Name a directory with --notes.")
	}
	return filepath.Join(home, ".local", "state", "verifier", "hook"), nil
}

// accountHome is the home directory of the account, or "" where the system does not say it.
func accountHome() string {
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		return ""
	}
	return u.HomeDir
}

// StateDir is the gateway's state directory, found as the gateway finds it.
func StateDir(dir string, env func(string) string) string {
	systemd, _, _ := strings.Cut(env("STATE_DIRECTORY"), ":")
	dir = cmp.Or(dir, env("VERIFIER_STATE"), systemd)
	if home := env("XDG_STATE_HOME"); dir == "" && filepath.IsAbs(home) {
		dir = filepath.Join(home, "verifier")
	}
	if dir == "" {
		dir = filepath.Join(homeOf(env), ".local", "state", "verifier")
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// UsualConfig is where a config is looked for; "" where there is no home.
func UsualConfig(env func(string) string) string {
	dir := env("XDG_CONFIG_HOME")
	if home := homeOf(env); dir == "" && home != "" {
		dir = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "verifier", "verifier.yaml")
}

// FoundConfig is the config at its usual place; "" where there is none.
func FoundConfig(env func(string) string) string {
	path := UsualConfig(env)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// homeOf is the user's home directory, as the other commands find it.
func homeOf(env func(string) string) string {
	if runtime.GOOS == "windows" {
		return env("USERPROFILE")
	}
	return env("HOME")
}
