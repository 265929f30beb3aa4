// Package crash says where a panic came from, and not what it held: a value
// that someone panicked with may quote a request, and what is logged must not.
//
// It keeps the value's type and the functions that were running. It refuses to
// format the value in any way.
package crash

import (
	"fmt"
	"log/slog"
	"path"
	"runtime"
	"strings"
)

// Panic is a panic that was recovered.
type Panic struct {
	Type  string   // of the value
	Trace []string // function:line, the innermost first
}

// maxFrames is deeper than where anyone looks.
const maxFrames = 24

// Recovered describes the panic whose value recover has just returned. Call it
// in the deferred function that recovered: the stack is still there.
func Recovered(value any) *Panic {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	p := &Panic{Type: fmt.Sprintf("%T", value)}
	for more := true; more && len(p.Trace) < maxFrames; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function == "runtime.gopanic" {
			p.Trace = nil // what is above it is the recovery
			continue
		}
		p.Trace = append(p.Trace, fmt.Sprintf("%s:%d", path.Base(f.Function), f.Line))
	}
	return p
}

// Error is all of it in one line.
func (p *Panic) Error() string {
	return "panic with a " + p.Type + " in " + strings.Join(p.Trace, " < ")
}

// LogValue gives a log its parts.
func (p *Panic) LogValue() slog.Value {
	return slog.GroupValue(slog.String("type", p.Type), slog.Any("trace", p.Trace))
}
