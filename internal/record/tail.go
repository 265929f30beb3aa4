package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

const tailBlock = 64 << 10

// Backward gives the entries of a record's files from the last to the first, so
// that a reader of the latest reads no more than that. Only lines that want
// likes, by their bytes, are decoded; nil likes all. A line that can't be is
// passed over: for proof there is [VerifyFiles]. Lines carry no number.
func Backward(files []string, want func(raw []byte) bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for _, path := range slices.Backward(files) {
			goes, err := backward(path, func(raw []byte) bool {
				if len(raw) == 0 || want != nil && !want(raw) {
					return true
				}
				l, err := parse(raw)
				return err != nil || yield(Line{Seq: l.Seq, Entry: l.Entry}, nil)
			})
			if err != nil {
				yield(Line{}, err)
				return
			}
			if !goes {
				return
			}
		}
	}
}

// backward hands out the lines of a file from its end. It reports whether it was
// let to the beginning.
func backward(path string, line func(raw []byte) bool) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("audit: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	at, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return false, fmt.Errorf("audit: %w", err)
	}
	var rest []byte // the beginning of what was read, whose line begins further up
	ended := false  // a line break has been seen: what stood behind it was not a whole line
	for at > 0 {
		n := min(at, tailBlock)
		block := make([]byte, n, n+int64(len(rest)))
		at -= n
		if _, err := f.ReadAt(block, at); err != nil && !errors.Is(err, io.EOF) {
			return false, fmt.Errorf("audit: %w", err)
		}
		block = append(block, rest...)
		for {
			i := bytes.LastIndexByte(block, '\n')
			if i < 0 {
				break
			}
			if ended && !line(block[i+1:]) {
				return false, nil
			}
			ended, block = true, block[:i]
		}
		if rest = block; len(rest) > MaxLine {
			return false, fmt.Errorf("audit: %w", errLong)
		}
	}
	return !ended || line(rest), nil
}
