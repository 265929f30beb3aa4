package main

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// clockwork is where a gateway's wall clock can be put wrong, while its monotonic
// clock goes on: as when somebody sets the clock of its machine. The binary is
// the one that people run, and has nothing in it for this.
//
// Go asks the kernel's vDSO what time it is, at an address that its runtime keeps
// in a variable. A few instructions are written into a process, behind the end of
// its program, where the last page has room; they ask the vDSO, and if it was the
// wall clock that was asked for, add one of some numbers of seconds. The variable
// is then set to them. Which number it is says one byte.
type clockwork struct {
	variable uint64 // the address of the runtime's
	room     uint64 // the address behind the program
}

// jumps are how far a clock goes wrong: two that a signature's tolerance covers,
// and more. The first is the time that it is.
var jumps = []time.Duration{
	0, 2 * time.Minute, -2 * time.Minute, 31 * time.Minute, -31 * time.Minute, 3 * time.Hour, -3 * time.Hour, 25 * time.Hour, -25 * time.Hour,
}

// Offsets of what follows the code of wrapper.
const (
	whichAt = 48 // a byte: which of the jumps
	vdsoAt  = 56 // where the vDSO's function is
	jumpsAt = 64 // the jumps, in seconds
)

// wrapper is clock_gettime(id, *timespec), for amd64.
var wrapper = []byte{
	0x57,                   // push rdi
	0x56,                   // push rsi
	0x48, 0x83, 0xec, 0x08, // sub rsp, 8
	0xff, 0x15, vdsoAt - 12, 0, 0, 0, // call [vdso]
	0x48, 0x83, 0xc4, 0x08, // add rsp, 8
	0x5e,       // pop rsi
	0x5f,       // pop rdi
	0x85, 0xff, // test edi, edi: CLOCK_REALTIME is 0
	0x75, 0x15, // jne end
	0x0f, 0xb6, 0x0d, whichAt - 29, 0, 0, 0, // movzx ecx, byte [which]
	0x48, 0x8d, 0x15, jumpsAt - 36, 0, 0, 0, // lea rdx, [jumps]
	0x48, 0x8b, 0x0c, 0xca, // mov rcx, [rdx+rcx*8]
	0x48, 0x01, 0x0e, // add [rsi], rcx
	0xc3, // end: ret
}

// findClockwork looks into a binary.
func findClockwork(binary string) (*clockwork, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return nil, errors.New("only Linux on amd64 is known")
	}
	f, err := elf.Open(binary)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == "runtime.vdsoClockgettimeSym" })
	j := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 })
	if i < 0 || j < 0 || f.Type != elf.ET_EXEC {
		return nil, errors.New("its runtime reads the clock in another way")
	}
	text := f.Progs[j]
	end := text.Vaddr + text.Filesz
	c := &clockwork{variable: symbols[i].Value, room: (end + 15) &^ 15}
	if page := (end + text.Align - 1) / text.Align * text.Align; c.room+jumpsAt+8*uint64(len(jumps)) > page {
		return nil, errors.New("there is no room behind its program")
	}
	return c, nil
}

// install puts the instructions into a process that has just been started. It
// must stand still meanwhile, which stop and proceed see to.
func (c *clockwork) install(pid int, stop, proceed func()) (*os.File, error) {
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	err = c.wrap(mem, pid, stop, proceed)
	if err != nil {
		return nil, errors.Join(err, mem.Close())
	}
	return mem, nil
}

func (c *clockwork) wrap(mem *os.File, pid int, stop, proceed func()) error {
	var vdso [8]byte
	if err := soon(func() bool {
		_, err := mem.ReadAt(vdso[:], int64(c.variable)) //nolint:gosec // an address of the program's
		return err == nil && vdso != [8]byte{}
	}); err != nil {
		return fmt.Errorf("it does not ask the vDSO: %w", err)
	}
	stop()
	defer proceed()
	if err := soon(func() bool { return stopped(pid) }); err != nil {
		return err
	}
	block := make([]byte, jumpsAt, jumpsAt+8*len(jumps))
	copy(block, wrapper)
	copy(block[vdsoAt:], vdso[:])
	for _, j := range jumps {
		block = binary.NativeEndian.AppendUint64(block, uint64(j/time.Second)) //nolint:gosec // added as it is
	}
	if _, err := mem.WriteAt(block, int64(c.room)); err != nil { //nolint:gosec // an address of the program's
		return err
	}
	_, err := mem.WriteAt(binary.NativeEndian.AppendUint64(nil, c.room), int64(c.variable)) //nolint:gosec // an address of the program's
	return err
}

// set lets a process live in another time.
func (c *clockwork) set(mem *os.File, jump int) error {
	_, err := mem.WriteAt([]byte{byte(jump)}, int64(c.room)+whichAt) //nolint:gosec // there are a few
	return err
}

func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && strings.HasPrefix(state, "T")
}

// soon tries for a moment.
func soon(try func() bool) error {
	for deadline := time.Now().Add(2 * time.Second); !try(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(deadline) {
			return errors.New("not within two seconds")
		}
	}
	return nil
}

// history is when a clock was moved, and by how much it was off from then on.
type history []move

type move struct {
	began, at time.Time // between them it may show either
	shift     time.Duration
}

// shifts are by how much it was off at any moment of a time.
func (h history) shifts(from, to time.Time) []time.Duration {
	out := []time.Duration{0}
	for _, m := range h {
		switch {
		case !m.at.After(from):
			out = []time.Duration{m.shift}
		case !m.began.After(to):
			out = append(out, m.shift)
		}
	}
	return out
}

// between is the least and the most that it showed in a time.
func (h history) between(from, to time.Time) (least, most time.Time) {
	shifts := h.shifts(from, to)
	return from.Add(slices.Min(shifts)), to.Add(slices.Max(shifts))
}
