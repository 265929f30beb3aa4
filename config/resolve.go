package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Env looks up an environment variable, as os.LookupEnv does.
type Env func(name string) (value string, ok bool)

// reference is anything that starts like ${NAME}; what is inside is checked
// after, so that a slip is an error and not text.
var (
	reference = regexp.MustCompile(`\$\{([^}]*)(\}?)`)
	variable  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// problem is something wrong with a value, and what to do.
type problem struct{ text, hint string }

func (p *problem) Error() string { return p.text }

// resolve replaces ${NAME} and file:/path by what they name. Literal reports
// whether the file itself holds any of the text.
func (r *resolver) resolve(text string) (out string, literal bool, err error) {
	if path, ok := strings.CutPrefix(text, "file:"); ok {
		out, err = readPrivate(r.noteFile(path))
		return strings.TrimRight(out, "\r\n"), false, err
	}
	var first error
	out = reference.ReplaceAllStringFunc(text, func(match string) string {
		value, err := r.lookup(reference.FindStringSubmatch(match))
		if first == nil {
			first = err
		}
		return value
	})
	return out, reference.ReplaceAllString(text, "") != "", first
}

// resolver knows where values may come from.
type resolver struct {
	env  Env
	dir  string // relative file: paths start here
	used *used
}

// used collects where values came from: what an agent must not name.
type used struct {
	files     []string
	variables []string
}

// note remembers what a text refers to, without reading it.
func (r *resolver) note(text string) {
	if path, ok := strings.CutPrefix(text, "file:"); ok {
		r.noteFile(path)
		return
	}
	for _, match := range reference.FindAllStringSubmatch(text, -1) {
		r.used.variables = append(r.used.variables, match[1])
	}
}

// noteFile remembers a file by its whole path, which it returns.
func (r *resolver) noteFile(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		r.used.files = append(r.used.files, abs)
	}
	return path
}

func (r *resolver) lookup(match []string) (string, error) {
	name := match[1]
	if match[2] == "" || !variable.MatchString(name) {
		return "", &problem{"has a ${ that does not name an environment variable", "write ${NAME}"}
	}
	r.used.variables = append(r.used.variables, name)
	value, ok := r.env(name)
	switch {
	case !ok:
		return "", &problem{"the environment variable " + name + " is not set", "set " + name + " where verifier starts, or use file:/path/to/secret"}
	case value == "":
		return "", &problem{"the environment variable " + name + " is empty", "give " + name + " a value where verifier starts"}
	}
	return value, nil
}

// maxSecretFile is more than any secret has.
const maxSecretFile = 64 << 10

// readPrivate reads a small file that only its owner can read.
func readPrivate(path string) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", path, err)
	case othersMay(info):
		return "", &problem{path + " can be read by others", "chmod 600 " + path}
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxSecretFile {
		return "", &problem{path + " is too large for a secret", "name a file that holds nothing else"}
	}
	return string(b), nil
}

// openRegular does not wait on a pipe that someone put in the file's place.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &problem{path + " does not exist", "make it with `(umask 077; openssl rand -hex 32 > " + path + ")`"}
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &problem{path + " is not a regular file", "name a file"}
	}
	return os.Open(path)
}
