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
// under this server's seal, in a list of the store for each tool. Every gateway that shares the store finds it there.

// Bounds of what is kept of refused calls.
const (
	mostRefused = 500 // of one tool
	keepRefused = MaxConsentDays * 24 * time.Hour
)

// Why what people refused speaks against a standing consent.
const (
	refusedBefore = "In the last 30 days you denied or changed a call like this one, so such calls can't be allowed for days."
	refusedOften  = "In the last 30 days you denied so many calls of this tool that not all of them are remembered. One may have been like this one, so such calls can't be allowed for days."
	refusedLost   = "You denied or changed a call of this tool while the store could not be reached. It may have been like this one, so such calls can't be allowed for days."
)

func refusedList(tool string) string {
	sum := sha256.Sum256([]byte(tool))
	name := hex.EncodeToString(sum[:16])
	return name[:2] + ":refused:" + name
}

// noteRefused keeps that a call was refused. If that fails the no counts all the same, and this process remembers the tool.
func (cn *Consents) noteRefused(ctx context.Context, a *Ask) {
	if err := cn.keepNote(ctx, "refused", session.Note{List: refusedList(a.Tool), Most: mostRefused, Keep: keepRefused}, cn.spelled(a.Spelled)); err != nil {
		cn.o.Log.WarnContext(ctx, "a refused call could not be kept for other gateways to compare with", "err", err)
		cn.unkept.Store(a.Tool, true)
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

// Refused says why what people refused speaks against a standing consent on a card: a call like its first one, or one that can't be compared
// with it, or so many of its tool that earlier ones may be forgotten; empty: nothing does.
func (cn *Consents) Refused(ctx context.Context, c *Card) (why string, err error) {
	a := &c.Questions[0].Ask
	refused, all, err := cn.notes(ctx, "refused", refusedList(a.Tool))
	if err != nil {
		return "", err
	}
	if _, lost := cn.unkept.Load(a.Tool); lost {
		return refusedLost, nil
	}
	this := cn.spelled(a.Spelled)
	content, _, _ := strings.Cut(this, ":")
	for _, one := range refused {
		text := string(one)
		other, _, _ := strings.Cut(text, ":")
		if text == this || other != content || this == "" {
			return refusedBefore, nil
		}
	}
	if all >= mostRefused {
		return refusedOften, nil
	}
	return "", nil
}
