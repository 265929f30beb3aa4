package text

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Panic says where a panic came from whose value recover has just returned, and not what it held: a value that someone
// panicked with may quote a request, and what is logged must not. Only its type is told. It is to be called in the
// deferred function that recovered: the stack is still there.
func Panic(value any) error {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	const deepest = 24 // than where anyone looks
	var trace []string // the innermost first
	for more := true; more && len(trace) < deepest; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function == "runtime.gopanic" {
			trace = nil // what is above it is the recovery
			continue
		}
		trace = append(trace, fmt.Sprintf("%s:%d", path.Base(f.Function), f.Line))
	}
	return errors.New("panic with a " + fmt.Sprintf("%T", value) + " in " + strings.Join(trace, " < "))
}
