//go:build !linux

package record

import "os"

// file is the disk behind a log; its Sync is that of os.File.
type file struct{ *os.File }
