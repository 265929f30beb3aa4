package record

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Why a file cannot be opened; found in an [OpenError].
var (
	ErrInUse       = errors.New("another process has the record open")
	ErrPermissions = errors.New("others than its owner may read or write the record")
	ErrDamaged     = errors.New("the record is damaged")
	ErrForged      = errors.New("the record's end was not written by this server")
	ErrVersion     = errors.New("the record was written by another version of this program")
	ErrOtherKey    = errors.New("the record was begun with another key")
	ErrLink        = errors.New("the record is a symbolic link")
)

// OpenError is a refusal to open, with what the owner can do about it.
type OpenError struct {
	Path string
	Err  error
	Hint string
}

func (e *OpenError) Error() string { return fmt.Sprintf("audit: %s: %v", e.Path, e.Err) }

func (e *OpenError) Unwrap() error { return e.Err }

func refuse(path string, err error) error {
	if err == nil {
		return nil
	}
	return &OpenError{Path: path, Err: err, Hint: hint(path, err)}
}

func hint(path string, err error) string {
	switch {
	case errors.Is(err, ErrInUse):
		return "stop the other verifier, or give this one its own audit path"
	case errors.Is(err, ErrPermissions):
		return "chmod 600 " + path
	case errors.Is(err, ErrDamaged):
		return "run `verifier audit verify` to see the first bad line, then move the file away to begin a new one"
	case errors.Is(err, ErrForged):
		return "run `verifier audit verify` to see the first line that is not the server's; keep the file as it is, and move it away to begin a new one"
	case errors.Is(err, ErrVersion):
		return "move the file away to begin a new one"
	case errors.Is(err, ErrLink):
		return "put the file itself there, or name where it is as audit.path"
	case errors.Is(err, ErrOtherKey):
		return "bring back the key it was begun with, or move the file away to begin a new one"
	}
	return ""
}

// Open opens the record at path for writing, or begins it. An existing chain is
// continued; only its ends are read, however long it is.
func Open(path string, o Options) (*Log, error) {
	if len(o.Key) != ed25519.PrivateKeySize {
		return nil, errors.New("audit: Options.Key is not an ed25519 private key")
	}
	f, err := openFile(path)
	if err != nil {
		return nil, refuse(path, err)
	}
	closed, err := tidy(path)
	if err != nil {
		return nil, refuse(path, errors.Join(err, f.Close()))
	}
	l, err := newLog(file{f}, o)
	if err != nil {
		return nil, refuse(path, errors.Join(err, f.Close()))
	}
	l.path = path
	if err := errors.Join(opening{l, closed}.begin(f), keepName(path, o)); err != nil {
		return nil, refuse(path, errors.Join(err, l.disk.Close()))
	}
	return l, nil
}

func newLog(d disk, o Options) (*Log, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Rand = cmp.Or(o.Rand, rand.Reader)
	if o.CheckpointEvery <= 0 {
		o.CheckpointEvery = 256
	}
	mac, err := macWith(o.Key)
	return &Log{o: o, disk: d, mac: mac, files: realFiles{}, number: 1, syncing: make(chan struct{}, 1), opened: time.Now()}, err
}

// openFile returns the locked file. It appends, so that a file made append-only
// (chattr +a) works too.
func openFile(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return nil, ErrLink // closing a file gives it another name: that would move the link
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err = private(f); err == nil {
		err = lock(f)
	}
	if err == nil && !isAt(f, path) {
		err = ErrInUse // another process closed this file and went on in a new one
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func isAt(f *os.File, path string) bool {
	mine, errMine := f.Stat()
	there, errThere := os.Lstat(path)
	return errMine == nil && errThere == nil && os.SameFile(mine, there)
}

// keepName makes sure that the file's name survives a power cut like its lines.
func keepName(path string, o Options) error {
	if !o.SyncEach {
		return nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func private(f *os.File) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("not a regular file")
	case info.Mode().Perm()&0o077 != 0:
		return ErrPermissions
	}
	return nil
}

// opening is a record that is being opened, after the files that are closed.
type opening struct {
	*Log
	closed []archive
}

// begin finds the end of the chain, puts the end of the file right, and notes
// what it had to do. Nothing is changed before everything is known to be ours.
func (l opening) begin(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	end, err := inspect(f, size, owner{publicHex(l.o.Key), l.mac})
	if err != nil {
		return err
	}
	if err := l.place(end); err != nil {
		return err
	}
	notes, err := compare(f, end, public(l.o.Key), l.o.Seen)
	if err != nil {
		return err
	}
	if cut := size - end.last.size; cut > 0 {
		notes = append(notes, Entry{Note: fmt.Sprintf("cut %d bytes of an unfinished line from the end of the file", cut)})
	}
	if err := l.resume(end, size); err != nil {
		return err
	}
	l.repairs = texts(notes)
	return l.note(notes)
}

// place finds the file's number. A new chain takes one that no closed file has;
// an old one must come after all of them, or it could not be closed in its turn.
func (l opening) place(end ending) error {
	last := 0
	if n := len(l.closed); n > 0 {
		last = l.closed[n-1].number
	}
	switch {
	case end.chain == "":
		l.number = last + 1
	case end.number <= last:
		return fmt.Errorf("%w: it is file %d of its chain, and %s is there already", ErrDamaged, end.number, filepath.Base(l.closed[len(l.closed)-1].path))
	default:
		l.number = end.number
	}
	return nil
}

// compare returns a note if the file does not hold what was seen of it.
func compare(r io.ReaderAt, end ending, key ed25519.PublicKey, seen *Head) ([]Entry, error) {
	if seen == nil {
		return nil, nil
	}
	if !seen.SignedBy(key) {
		return []Entry{{Note: "the head that was kept elsewhere is not signed by this key"}}, nil
	}
	note, err := end.lacks(r, *seen)
	if note == "" {
		return nil, err
	}
	return []Entry{{Note: note, Lost: seen}}, err
}

// Compare holds the record against a head that was seen elsewhere, for a caller
// who could not learn of it before Open. What is missing is noted in the record,
// and returned.
func (l *Log) Compare(seen Head) ([]string, error) {
	f, size, err := l.reopen()
	if err != nil {
		return nil, err
	}
	defer f.Close()              //nolint:errcheck // it was only read
	mac, err := macWith(l.o.Key) // the log's own is in use
	if err != nil {
		return nil, err
	}
	end, err := inspect(f, size, owner{publicHex(l.o.Key), mac})
	if err != nil {
		return nil, err
	}
	notes, err := compare(f, end, public(l.o.Key), &seen)
	if err == nil {
		err = l.note(notes)
	}
	return texts(notes), err
}

// reopen opens the file to be read, up to its last line.
func (l *Log) reopen() (*os.File, int64, error) {
	l.mu.Lock() // no rotation meanwhile
	defer l.mu.Unlock()
	f, err := os.Open(l.path)
	return f, l.cur.size, err
}

// resume takes up the chain at its end, or begins one.
func (l opening) resume(end ending, size int64) error {
	l.cur, l.chain, l.first = end.last, end.chain, end.first
	if !end.checkpointed {
		// A process that dies early and often would never reach the count.
		l.cur.since = l.o.CheckpointEvery
	}
	l.synced = l.cur
	l.torn = size > l.cur.size
	if err := l.heal(); err != nil {
		return err
	}
	if l.chain == "" {
		return l.beginChain()
	}
	l.look()
	return nil
}

func (l opening) beginChain() error {
	var id [16]byte
	if _, err := io.ReadFull(l.o.Rand, id[:]); err != nil {
		return err
	}
	l.chain = hex.EncodeToString(id[:])
	l.cur = state{hash: zeros()}
	l.synced, l.first = l.cur, 1
	b := &Begin{Format: format, Chain: l.chain, Key: publicHex(l.o.Key)}
	if l.number > 1 {
		b.File = l.number
	}
	return l.append(&Entry{Kind: KindBegin, Begin: b})
}

func (l *Log) note(notes []Entry) error {
	for _, e := range notes {
		e.Kind = KindRepair
		if err := l.append(&e); err != nil {
			return err
		}
	}
	return nil
}

func texts(notes []Entry) []string {
	var out []string
	for _, e := range notes {
		out = append(out, e.Note)
	}
	return out
}

// publicHex is the key's other half as the record names it.
func publicHex(key ed25519.PrivateKey) string { return hex.EncodeToString(public(key)) }

// public is the key's other half.
func public(key ed25519.PrivateKey) ed25519.PublicKey {
	half, _ := key.Public().(ed25519.PublicKey)
	return half
}

// ErrGone says that the file at the record's path is not the file that the log
// writes to, or does not end where the log's last line ended.
var ErrGone = errors.New("audit: the record was moved, removed, replaced, cut or written to by something else while in use; put it back, or restart, which notes in the record what is lost")

// inPlace checks that the file at the record's path is the file that the log writes
// to, and that it ends with the log's last line. Called with mu held before each
// write.
func (l *Log) inPlace() error {
	f, ok := l.disk.(file)
	if !ok || l.path == "" || l.closed {
		return nil
	}
	mine, errMine := f.Stat()
	there, errThere := os.Lstat(l.path)
	if errMine != nil || errThere != nil || !os.SameFile(mine, there) {
		return ErrGone
	}
	if size := mine.Size(); size < l.cur.size || size > l.cur.size && !l.torn {
		return ErrGone
	}
	return nil
}
