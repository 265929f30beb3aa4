//go:build !unix

package record

import (
	"errors"
	"os"
)

// lock refuses: without a lock two processes could write one chain.
func lock(*os.File) error { return errors.ErrUnsupported }

func unlock(f *os.File) error { return f.Close() }
