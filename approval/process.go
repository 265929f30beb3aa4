package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/openclaw-verifier/verifier/codes"
)

// process tells the requests that this process holds from those that one before it
// held and left behind when it was killed: a yes that was kept for one of those is
// free at once.
type process struct{ home, run string }

// newProcess names this process.
func newProcess(home string) (process, error) {
	run, err := codes.NewID(nil)
	if err != nil {
		return process{}, fmt.Errorf("draw a name for this process: %w", err)
	}
	if home == "" {
		home = run
	}
	sum := sha256.Sum256([]byte(home))
	return process{home: hex.EncodeToString(sum[:8]), run: run}, nil
}

// holder names a request and where it waits. No request's id has a space.
func (p process) holder(request string) string { return p.home + "." + p.run + " " + request }

// gone reports that the process of a holder has ended: this one has its home.
func (p process) gone(holder string) bool {
	where, _, found := strings.Cut(holder, " ")
	home, run, _ := strings.Cut(where, ".")
	return found && home == p.home && run != p.run
}

// heldRequest is the request of a holder.
func heldRequest(holder string) string {
	_, request, _ := strings.Cut(holder, " ")
	return request
}
