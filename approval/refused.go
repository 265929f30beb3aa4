package approval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/session"
)

// Every no, and every yes to changed arguments, is kept for as long as a standing consent looks back: as a digest of what the call was about,
// under this server's seal, in a list of the store for each tool. Every gateway that shares the store finds it there, also what is only in
// another one's record.

// Bounds of what is kept of refused calls.
const (
	mostRefused = 500 // of one tool
	keepRefused = MaxConsentDays * 24 * time.Hour
)

// Refusals are what people refused of one tool in the last days.
type Refusals struct {
	Same bool // a call like the one that was asked for, or one that can't be compared with it
	Full bool // there are so many that earlier ones may be forgotten
}

func refusedList(tool string) string {
	sum := sha256.Sum256([]byte(tool))
	name := hex.EncodeToString(sum[:16])
	return name[:2] + ":refused:" + name
}

// noteRefused keeps that a call was refused. If that fails the no counts all the same, and this gateway's record has it.
func (cn *Consents) noteRefused(ctx context.Context, a *Ask) {
	if a.Test {
		return
	}
	if err := cn.keepNote(ctx, "refused", session.Note{List: refusedList(a.Tool), Most: mostRefused, Keep: keepRefused}, cn.spelled(a.Spelled)); err != nil {
		cn.o.Log.WarnContext(ctx, "a refused call could not be kept for other gateways to compare with", "err", err)
	}
}

// spelled is a digest of [Ask.Spelled] that no one can guess the call from.
func (cn *Consents) spelled(of string) string {
	content, call, ok := strings.Cut(of, ":")
	if !ok {
		return ""
	}
	return content + ":" + cn.o.Key.Seal("spelled", call)
}

// Refused says what people refused of a tool that is like a call, by its [Ask.Spelled].
func (cn *Consents) Refused(ctx context.Context, tool, spelled string) (Refusals, error) {
	refused, all, err := cn.notes(ctx, "refused", refusedList(tool))
	if err != nil {
		return Refusals{}, err
	}
	out, this := Refusals{Full: all >= mostRefused}, cn.spelled(spelled)
	content, _, _ := strings.Cut(this, ":")
	for _, one := range refused {
		text := string(one)
		other, _, _ := strings.Cut(text, ":")
		out.Same = out.Same || text == this || other != content || this == ""
	}
	return out, nil
}
