package hook

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/files"
)

// notes is a directory where hooks leave word for later ones: each is a process of its own. Two may run at once, so that
// every word is a file that is written once.
type notes struct{ dir string }

const (
	processesDir = "processes"
	sessionsDir  = "sessions"
	keepNotes    = 14 * 24 * time.Hour

	wordsFile = "words"
	placeFile = "workspace"
	doubtFile = "doubt"
	// What the gateway could not be told when it happened.
	secretOwed  = "secret-"
	outsideOwed = "outside-"

	mostWords    = 5
	longestWords = 4000 // bytes of a message
	longestFile  = 64 << 10
)

func openNotes(dir string) (notes, error) {
	for _, sub := range []string{processesDir, sessionsDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return notes{}, unwritable(dir)
		}
	}
	return notes{dir}, nil
}

func unwritable(dir string) error {
	return failure("The verifier's hook can't write to " + printable(dir) + ", where hooks leave word for each other. Nothing was run.")
}

// register notes that a process is an agent, and in which conversation.
func (n notes) register(p process, key string) error {
	path := filepath.Join(n.dir, processesDir, p.id())
	text, err := readNote(path)
	switch {
	case err == nil && slices.Contains(strings.Split(text, "\n"), key):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return unwritable(n.dir)
	case err != nil:
		n.sweep()
	}
	if writeNote(path, os.O_APPEND, key+"\n") != nil {
		return unwritable(n.dir)
	}
	return nil
}

// parent is the conversation of the nearest agent in a line of processes, or "". One process may hold several
// conversations: which of them started something is unknown then, and so is the parent.
func (n notes) parent(above line) (string, error) {
	for _, p := range above {
		keys, err := n.keys(p)
		switch {
		case err != nil:
			return "", err
		case keys == nil:
			continue
		case len(keys) == 1:
			return keys[0], nil
		}
		return "agent:unknown:process:" + p.id(), nil
	}
	return "", nil
}

// doubt notes that what looks like the user's words in a conversation may be the agent's own from now on.
func (n notes) doubt(key string) error { return n.put(key, doubtFile) }

func (n notes) doubted(key string) bool {
	_, err := os.Stat(filepath.Join(n.session(key), doubtFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// heard keeps what the user wrote last.
func (n notes) heard(key, text string, at time.Time) error {
	if len(text) > longestWords {
		text = text[:longestWords]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
	}
	all := append(n.words(key), userWords{text, true, at.UTC().Format(time.RFC3339)})
	out, err := json.Marshal(all[max(0, len(all)-mostWords):])
	if err != nil {
		return nil //nolint:nilerr // text that is not valid does not count as the user's words
	}
	if files.Put(filepath.Join(n.made(n.session(key)), wordsFile), out) != nil {
		return unwritable(n.dir)
	}
	return nil
}

// words are what the user wrote last in a conversation.
func (n notes) words(key string) (out []userWords) {
	text, err := readNote(filepath.Join(n.session(key), wordsFile))
	if err != nil || json.Unmarshal([]byte(text), &out, jsontext.AllowInvalidUTF8(false)) != nil {
		return nil
	}
	return out[max(0, len(out)-mostWords):]
}

// starts notes where a session was started. What the agent does later does not move it: only another start of the session does.
func (n notes) starts(key, dir string, again bool) error {
	flag := os.O_EXCL
	if again {
		flag = os.O_TRUNC
	}
	err := writeNote(filepath.Join(n.made(n.session(key)), placeFile), flag, dir)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return unwritable(n.dir)
	}
	return nil
}

// workspace is where a session was started, or "".
func (n notes) workspace(key string) string {
	text, err := readNote(filepath.Join(n.session(key), placeFile))
	if err != nil || !isPlace(text) {
		return ""
	}
	return text
}

// isPlace reports whether the gateway takes a text as the name of a directory.
func isPlace(text string) bool {
	return utf8.ValidString(text) && len(text) <= longestOrigin && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f })
}

// longestEnd is how much of a directory is shown that can't be shown whole, in bytes.
const longestEnd = 160

// shownPlace is a directory as the card shows it. Where the gateway would not take it whole, it is the end, which tells projects apart, and a
// hash: a yes is bound to what is shown.
func shownPlace(dir string) string {
	if isPlace(dir) {
		return dir
	}
	why, end := "not all of it can be shown", dir
	if len(dir) > longestEnd {
		why, end = "too long to show", dir[len(dir)-longestEnd:]
	}
	end = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == utf8.RuneError {
			return '?'
		}
		return c
	}, end)
	return "(" + why + ", " + shortHash(dir) + ") …" + end
}

// owe notes what the gateway could not be told.
func (n notes) owe(key string, secret bool) (debt, error) {
	names := []string{outsideOwed + random()}
	if secret {
		names = append(names, secretOwed+random())
	}
	var d debt
	for _, name := range names {
		if err := n.put(key, name); err != nil {
			return nil, err
		}
		d = append(d, filepath.Join(n.session(key), name))
	}
	return d, nil
}

// debt is what the gateway was not told of a conversation.
type debt []string

func (n notes) owed(key string) (d debt) {
	entries, err := os.ReadDir(n.session(key))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return debt{outsideOwed, secretOwed}
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), outsideOwed) || strings.HasPrefix(e.Name(), secretOwed) {
			d = append(d, filepath.Join(n.session(key), e.Name()))
		}
	}
	return d
}

func (d debt) has(prefix string) bool {
	return slices.ContainsFunc(d, func(path string) bool { return strings.HasPrefix(filepath.Base(path), prefix) })
}

func (d debt) secret() bool { return d.has(secretOwed) }

func (d debt) outside() string {
	if d.has(outsideOwed) {
		return "outside_content"
	}
	return ""
}

// settled forgets what the gateway has taken in now.
func (d debt) settled() {
	for _, path := range d {
		os.Remove(path) //nolint:errcheck // what stays is reported again
	}
}

// put makes an empty file in the directory of a conversation.
func (n notes) put(key, name string) error {
	if writeNote(filepath.Join(n.made(n.session(key)), name), 0, "") != nil {
		return unwritable(n.dir)
	}
	return nil
}

func (n notes) made(dir string) string {
	os.Mkdir(dir, 0o700) //nolint:errcheck // what is written there next says so
	return dir
}

// session is the directory of a conversation. Its name holds nothing that the agent could choose.
func (n notes) session(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(n.dir, sessionsDir, hex.EncodeToString(sum[:16]))
}

// sweep removes what is old.
func (n notes) sweep() {
	for _, sub := range []string{processesDir, sessionsDir, decidedDir} {
		entries, _ := os.ReadDir(filepath.Join(n.dir, sub)) // then it is swept another time
		for _, e := range entries {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keepNotes {
				os.RemoveAll(filepath.Join(n.dir, sub, e.Name())) //nolint:errcheck // see above
			}
		}
	}
}

// writeNote writes to a file that only its owner reads. flag says what becomes of one that is there.
func writeNote(path string, flag int, text string) error {
	f, err := os.OpenFile(path, flag|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func readNote(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > longestFile {
		return "", errors.New("the note is too long")
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

func random() string {
	var b [8]byte
	rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}
