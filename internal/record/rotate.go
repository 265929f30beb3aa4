package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Rotation says when the record goes on in a new file. The zero Rotation is
// never.
type Rotation struct {
	Bytes int64 // once the file is this large; 0: whatever its size
	Keep  int   // how many closed files stay; 0: all of them
}

// Past is a closed file, and how it ended.
type Past struct {
	File string `json:"file"` // its name, without the directory
	Head Head   `json:"head"`
}

// files are what a rotation asks of the file system.
type files interface {
	create(path string) (*os.File, error) // a new one, for its owner alone
	link(old, name string) error
	rename(old, name string) error
	remove(path string) error
	seal(path string) error
}

type realFiles struct{}

func (realFiles) create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}
func (realFiles) link(old, name string) error   { return os.Link(old, name) }
func (realFiles) rename(old, name string) error { return os.Rename(old, name) }
func (realFiles) remove(path string) error      { return os.Remove(path) }
func (realFiles) seal(path string) error        { return seal(path) }

// SetRotation changes when the record goes on in a new file.
func (l *Log) SetRotation(r Rotation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.o.Rotation = r
	l.look()
}

// look decides whether the next line goes into a new file. Called with mu held.
func (l *Log) look() {
	r := l.o.Rotation
	large := r.Bytes > 0 && l.cur.size >= r.Bytes
	l.due.Store(l.path != "" && l.cur.seq > l.first && large)
}

// turnOver goes on in a new file if that is due. A line that can't be put where
// it belongs is not written: the caller denies, and the next line tries again.
func (l *Log) turnOver() error {
	if !l.due.Load() {
		return nil
	}
	l.syncing <- struct{}{} // the file that is being closed is not synced meanwhile
	defer func() { <-l.syncing }()
	// Most of the file goes to the disk while others still write to it.
	l.disk.Sync() //nolint:errcheck // it is done again below, under the lock
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || !l.due.Load() {
		return nil
	}
	if err := l.rotate(); err != nil {
		l.err = fmt.Errorf("audit: go on in a new file: %w", err)
		return l.err
	}
	l.thin()
	return nil
}

// rotate closes the file under its own name and goes on in a new one, whose
// first line names the old one and how it ended. The new file is made ready
// first and then takes path's place in one step: at any moment the file at path
// is whole and the last of the chain. See tidy for what an interruption leaves.
func (l *Log) rotate() error {
	if err := l.inPlace(); err != nil {
		return err
	}
	if err := l.finishFile(); err != nil {
		return err
	}
	name := archiveName(l.path, l.number)
	past := &Past{File: filepath.Base(name), Head: l.head(l.cur).signed(l.o.Key)}
	next, cur, err := l.nextFile(past)
	if err != nil {
		return err
	}
	err = l.files.link(l.path, name)
	if err == nil {
		if err = l.files.rename(nextName(l.path), l.path); err != nil {
			err = errors.Join(err, l.files.remove(name))
		}
	}
	if err != nil {
		return errors.Join(err, next.Close(), l.files.remove(nextName(l.path)))
	}
	closed := l.disk
	l.disk, l.cur, l.synced, l.number = file{next}, cur, cur, l.number+1
	l.first = cur.seq
	l.due.Store(false)
	// From here on nothing may fail: the new file is in its place. What is left
	// undone is done at the next start.
	l.files.seal(name)    //nolint:errcheck // see above
	keepName(l.path, l.o) //nolint:errcheck // see above
	closed.Close()        //nolint:errcheck // it was synced, and is written no more
	return nil
}

// finishFile signs what the old file ends with and brings it to the disk.
func (l *Log) finishFile() error {
	if l.cur.since > 0 {
		if err := l.checkpoint(); err != nil {
			return err
		}
	}
	if err := l.heal(); err != nil {
		return err
	}
	if err := l.disk.Sync(); err != nil {
		if l.o.SyncEach {
			l.lose(err)
		}
		return err
	}
	l.synced = l.cur
	if b := l.open; b != nil {
		b.synced, l.open = true, nil
	}
	return nil
}

// nextFile makes the new file with its first line, beside the old one.
func (l *Log) nextFile(past *Past) (_ *os.File, _ state, err error) {
	path := nextName(l.path)
	f, err := l.files.create(path)
	if errors.Is(err, os.ErrExist) { // from a rotation that failed half way
		if err = dropNext(path); err == nil {
			f, err = l.files.create(path)
		}
	}
	if err != nil {
		return nil, state{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), l.files.remove(path))
		}
	}()
	if err := lock(f); err != nil {
		return nil, state{}, err
	}
	b := &Begin{Format: format, Chain: l.chain, Key: publicHex(l.o.Key), File: l.number + 1, After: past}
	d, err := l.draft(&Entry{Kind: KindBegin, Begin: b})
	if err != nil {
		return nil, state{}, err
	}
	line, hash := d.seal(l.cur.seq+1, l.cur.hash, l.mac)
	n, err := f.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	return f, state{seq: l.cur.seq + 1, hash: hash, size: int64(n), since: 1}, err
}

// thin removes the oldest closed files beyond Keep, each after the record says
// so. What can't be recorded is not removed; what can't be removed is tried
// again after the next rotation.
func (l *Log) thin() {
	if l.o.Rotation.Keep <= 0 {
		return
	}
	closed, err := archives(l.path)
	if err != nil {
		return
	}
	for _, a := range closed[:max(0, len(closed)-l.o.Rotation.Keep)] {
		past, err := pastOf(a.path, owner{publicHex(l.o.Key), l.mac})
		if err != nil {
			continue // it is not as it should be: not ours to remove
		}
		d, err := l.draft(&Entry{Kind: KindNote, Note: "removed a closed file, as configured", Removed: past})
		if err != nil {
			return
		}
		err = l.write(d)
		if err != nil || l.files.remove(a.path) != nil {
			return
		}
	}
}

// closedEnd reads the ends of a closed file.
func closedEnd(path string, by owner) (ending, error) {
	f, err := os.Open(path)
	if err != nil {
		return ending{}, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return ending{}, err
	}
	end, err := inspect(f, info.Size(), by)
	if err == nil && end.last.size != info.Size() {
		err = fmt.Errorf("%w: a closed file ends in an unfinished line", ErrDamaged)
	}
	return end, err
}

// pastOf is what a closed file says of its own end.
func pastOf(path string, by owner) (*Past, error) {
	end, err := closedEnd(path, by)
	if err != nil {
		return nil, err
	}
	return &Past{File: filepath.Base(path), Head: Head{Chain: end.chain, Seq: end.last.seq, Hash: string(end.last.hash[:])}}, nil
}

// A record is one chain in one or more files. The last has the name that was
// given; those before it are closed, read-only, and carry their number:
//
//	record-000001.jsonl  record-000002.jsonl  record.jsonl
//
// archive is a closed one.
type archive struct {
	number int
	path   string
}

// archiveDigits keeps names in order for people; there may be more.
const archiveDigits = 6

// archiveName is what the file at path is called once it is closed.
func archiveName(path string, number int) string {
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%0*d%s", strings.TrimSuffix(path, ext), archiveDigits, number, ext)
}

// nextName is where a file is made ready that is to take path's place.
func nextName(path string) string { return path + ".next" }

// archives lists the closed files of the record at path, the oldest first.
func archives(path string) ([]archive, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var out []archive
	for _, e := range entries {
		at := filepath.Join(filepath.Dir(path), e.Name())
		if n := archiveNumber(path, at); n > 0 {
			out = append(out, archive{n, at})
		}
	}
	slices.SortFunc(out, func(a, b archive) int { return a.number - b.number })
	return out, nil
}

// archiveNumber is the number in the name of a closed file of the record at
// path; 0 where it is none.
func archiveNumber(path, name string) int {
	ext := filepath.Ext(path)
	digits, ok := strings.CutPrefix(filepath.Base(name), strings.TrimSuffix(filepath.Base(path), ext)+"-")
	if !ok || !strings.HasSuffix(digits, ext) {
		return 0
	}
	digits = strings.TrimSuffix(digits, ext)
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || len(digits) < archiveDigits || filepath.Base(archiveName(path, n)) != filepath.Base(name) {
		return 0
	}
	return n
}

// Files lists the files of the record at path, in the order of its chain. The
// last is path itself, whether it is there or not.
func Files(path string) ([]string, error) {
	closed, err := archives(path)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range closed {
		if !sameFile(a.path, path) { // a rotation that was interrupted
			out = append(out, a.path)
		}
	}
	return append(out, path), nil
}

func sameFile(a, b string) bool {
	first, errA := os.Stat(a)
	second, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(first, second)
}

// tidy finishes or undoes a rotation that was interrupted. Between any two of
// its steps the file at path is whole and the last of the chain, so all there is
// to do is to take away what was made in advance.
func tidy(path string) ([]archive, error) {
	if err := dropNext(nextName(path)); err != nil {
		return nil, err
	}
	closed, err := archives(path)
	if err != nil {
		return nil, err
	}
	if n := len(closed); n > 0 && sameFile(closed[n-1].path, path) {
		if err := os.Remove(closed[n-1].path); err != nil {
			return nil, err
		}
		closed = closed[:n-1]
	}
	for _, a := range closed {
		if err := seal(a.path); err != nil {
			return nil, err
		}
	}
	return closed, nil
}

// dropNext removes a file that was made ready and never used: it holds one line
// at most.
func dropNext(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Size() > maxBegin:
		return fmt.Errorf("%w: %s is in the way, and is not what a rotation leaves behind", ErrDamaged, path)
	}
	return os.Remove(path)
}

// seal makes a closed file read-only.
func seal(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() == readOnly {
		return err
	}
	return os.Chmod(path, readOnly)
}

const readOnly = 0o400
