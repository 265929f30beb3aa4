package hook

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The fields of /proc/PID/stat after the name, which may hold anything, from 0 on.
const (
	statParent   = 1
	statTerminal = 4
	statStart    = 19
)

// look looks a process up.
func look(pid int) (process, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, err
	}
	open, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
	if open < 0 || end < open {
		return process{}, errNoLine
	}
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) <= statStart {
		return process{}, errNoLine
	}
	parent, err := strconv.Atoi(fields[statParent])
	if err != nil {
		return process{}, err
	}
	return process{pid, parent, fields[statStart], string(text[open+1 : end]), fields[statTerminal] != "0"}, nil
}

// isRaw reports whether a process reads its terminal key by key, as a program does that a person talks to.
func isRaw(pid int) bool {
	f, err := os.OpenFile("/proc/"+strconv.Itoa(pid)+"/fd/0", os.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	t, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil && t.Lflag&unix.ICANON == 0
}
