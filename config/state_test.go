package config_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

func TestWhereTheStateDirectoryIs(t *testing.T) {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	t.Setenv("HOME", at("home"))
	for _, name := range []string{"VERIFIER_STATE", "STATE_DIRECTORY", "XDG_STATE_HOME"} {
		t.Setenv(name, "")
	}
	want := func(arg, dir string) {
		t.Helper()
		s, err := config.OpenState(arg)
		if err != nil || s.Dir() != dir {
			t.Errorf("OpenState(%q) = %v, %v; want %s", arg, s, err, dir)
		}
	}
	want("", at("home/.local/state/verifier"))
	t.Setenv("XDG_STATE_HOME", at("xdg"))
	want("", at("xdg/verifier"))
	t.Setenv("STATE_DIRECTORY", at("systemd")+":"+at("second"))
	want("", at("systemd"))
	t.Setenv("VERIFIER_STATE", at("env"))
	want("", at("env"))
	want(at("arg"), at("arg"))
	info, err := os.Stat(at("arg"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("made with mode %v, %v", info.Mode(), err)
	}
}

func TestSecretsAreMadeOnceAndKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	first, second := read(t, dir), read(t, dir)
	if !bytes.Equal(first, second) {
		t.Error("the second start has other secrets than the first")
	}
	for _, name := range []string{"webhook.secret", "owner.token", "server.key"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// read returns all secrets of a state directory in one.
func read(t *testing.T, dir string) []byte {
	t.Helper()
	s, err := config.OpenState(dir)
	if err != nil {
		t.Fatal(err)
	}
	webhook, err1 := s.WebhookSecret()
	token, err2 := s.OwnerToken()
	key, err3 := s.ServerKey()
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(key) != 32 || webhook.Reveal() == token.Reveal() {
		t.Errorf("a key of %d bytes, secrets of %d and %d", len(key), len(webhook.Reveal()), len(token.Reveal()))
	}
	return []byte(webhook.Reveal() + token.Reveal() + string(key))
}

func TestTwoProcessesThatStartTogetherAgree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	got := make([][]byte, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i] = read(t, dir) })
	}
	wg.Wait()
	for _, g := range got {
		if !bytes.Equal(g, got[0]) {
			t.Fatal("they have different secrets")
		}
	}
}

func TestWhatAStateDirectoryRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	read(t, dir)
	secret := filepath.Join(dir, "webhook.secret")
	for _, tt := range []struct {
		name  string
		spoil func() error
		want  string
	}{
		{"a file that others can read", func() error { return os.Chmod(secret, 0o640) }, "webhook.secret can be read by others"},
		{"an empty file", func() error { return os.WriteFile(secret, nil, 0o600) }, "holds no good secret: it is empty"},
		{"a placeholder", func() error { return os.WriteFile(secret, []byte("changeme\n"), 0o600) }, "holds no good secret: it is a placeholder"},
		{"a link", func() error { return os.Symlink("owner.token", secret) }, "is not a plain file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.Remove(secret); err != nil {
				t.Fatal(err)
			}
			write(t, secret, good+"\n", 0o600)
			if tt.name == "a link" {
				if err := os.Remove(secret); err != nil {
					t.Fatal(err)
				}
			}
			if err := tt.spoil(); err != nil {
				t.Fatal(err)
			}
			s, err := config.OpenState(dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.WebhookSecret(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	write(t, filepath.Join(dir, "server.key"), "abcd\n", 0o600)
	s, err := config.OpenState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ServerKey(); err == nil || !strings.Contains(err.Error(), "does not hold a key of 64 hex digits") {
		t.Errorf("a damaged key: %v", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := config.OpenState(dir); err == nil || !strings.Contains(err.Error(), "can be read by others") {
		t.Errorf("a directory that others can read: %v", err)
	}
}

func TestFindStateMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if _, err := config.FindState(dir); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("got %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := config.FindState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.OwnerToken(); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("made %v", left)
	}
}

func TestTheAddressIsLeftForOtherCommands(t *testing.T) {
	s, err := config.OpenState(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"", "127.0.0.1:1", "127.0.0.1:2"} {
		if want != "" {
			if err := s.SetAddress(want); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Address(); got != want || err != nil {
			t.Errorf("Address() = %q, %v; want %q", got, err, want)
		}
	}
}

func TestADirectoryOfSomeoneElse(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	dir := filepath.Join(t.TempDir(), "state")
	read(t, dir)
	if err := os.Chown(filepath.Join(dir, "owner.token"), 4242, -1); err != nil {
		t.Fatal(err)
	}
	s, err := config.OpenState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.OwnerToken(); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("a file of someone else: %v", err)
	}
	if err := os.Chown(dir, 4242, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := config.OpenState(dir); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("a directory of someone else: %v", err)
	}
}

func TestAConfigOfSomeoneElseIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	file := filepath.Join(t.TempDir(), "verifier.yaml")
	if err := errors.Join(os.WriteFile(file, []byte("profile: strict\n"), 0o644), os.Chmod(file, 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := config.Load(file, os.LookupEnv, chats); err != nil {
		t.Errorf("a config of root, with no secret in it: %v", err)
	}
	if err := os.Chown(file, 4242, -1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := config.Load(file, os.LookupEnv, chats); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("whoever owns the config can let themselves approve: %v", err)
	}
}
