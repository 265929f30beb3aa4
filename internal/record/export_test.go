package record

import "io"

// Verify reads a record of one file from memory, as VerifyFiles reads it from a disk.
func Verify(r io.Reader, o VerifyOptions) (Report, error) {
	c, err := newChecker(o)
	if err == nil {
		err = c.read("", r, true)
	}
	if err == nil {
		err = c.end(o.Whole)
	}
	return c.Report, err
}
