package hook

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// look looks a process up.
func look(pid int) (process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return process{}, err
	}
	if int(k.Proc.P_pid) != pid {
		return process{}, errNoLine
	}
	start := strconv.FormatInt(k.Proc.P_starttime.Sec, 10) + "." + strconv.FormatInt(int64(k.Proc.P_starttime.Usec), 10)
	return process{pid, int(k.Eproc.Ppid), start, unix.ByteSliceToString(k.Proc.P_comm[:]), k.Eproc.Tdev != -1}, nil
}

// isRaw reports whether the terminal that the agent shares with us is read key by key, as by a program that a person
// talks to.
func isRaw(int) bool {
	f, err := os.OpenFile("/dev/tty", os.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	t, err := unix.IoctlGetTermios(int(f.Fd()), unix.TIOCGETA)
	return err == nil && t.Lflag&unix.ICANON == 0
}
