package hook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/lineage"
)

// tellWithin is how long the agent is kept waiting for an event that it need not be answered.
const tellWithin = 5 * time.Second

// source is one of the texts that a run starts with.
type source struct {
	Kind          string               `json:"kind"`
	Tool          string               `json:"tool,omitzero"`
	SenderIsOwner bool                 `json:"senderIsOwner,omitzero"`
	Size          int                  `json:"size"`
	Hash          string               `json:"contentHash"`
	Fingerprints  lineage.Fingerprints `json:"fingerprints,omitzero"`
}

type assembled struct {
	Sources []source `json:"sources"`
}

type toolReturned struct {
	Tool         string               `json:"toolName"`
	CallID       string               `json:"toolCallId,omitzero"`
	Error        bool                 `json:"error,omitzero"`
	DurationMs   int64                `json:"durationMs,omitzero"`
	Size         int                  `json:"size"`
	Hash         string               `json:"contentHash"`
	Origin       string               `json:"origin,omitzero"`
	Secret       bool                 `json:"secret,omitzero"`
	Changed      bool                 `json:"changed,omitzero"`
	Marked       bool                 `json:"marked,omitzero"` // it counts as outside content, whatever the tool
	Fingerprints lineage.Fingerprints `json:"fingerprints,omitzero"`
}

type hello struct {
	Runtime  string `json:"runtime"`
	Version  string `json:"version"`
	FailMode string `json:"failMode"`
}

type sessionEnd struct {
	Reason string `json:"reason,omitzero"`
}

// tell tells the gateway what has happened.
func (r *run) tell(ctx context.Context, k kind) error {
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	if r.in.SessionID == "" {
		return failure("The agent did not tell the verifier's hook which session it is in.")
	}
	err := r.report(ctx, k)
	switch {
	case k != returned && k != failed: // the user goes on: no dialog is open any more
		r.close(ctx, question{}, false)
	case r.in.CallID != "":
		r.close(ctx, question{call: r.in.CallID}, k == returned)
		if r.agent.dialogs {
			os.Remove(r.passedNote()) //nolint:errcheck // there may be none
		}
	}
	return err
}

// report tells the gateway what the event says.
func (r *run) report(ctx context.Context, k kind) error {
	switch k { //nolint:exhaustive // the rest are asked about
	case returned, failed:
		return r.send(ctx, "after_tool_call", r.result(k == failed), "")
	case prompted:
		return r.prompt(ctx)
	case began:
		return r.begin(ctx)
	case ended:
		return r.send(ctx, "session_end", sessionEnd{endReasons[r.in.Reason]}, "")
	case stopped:
		return r.send(ctx, "agent_end", struct{}{}, "")
	}
	return errors.New("no such event")
}

// endReasons are the ends of a session after which nothing of it goes on, in the gateway's words.
var endReasons = map[string]string{"clear": "new"}

// send sends one event.
func (r *run) send(ctx context.Context, name string, event any, trigger string) error {
	c := r.context()
	if c.Trigger = trigger; trigger != "" {
		c.SenderIsOwner = false
	}
	_, err := r.gateway.tell(ctx, name, event, c)
	return err
}

// resume is the trigger of a run that goes on with what a conversation was doing.
const resume = "resume"

// begin says hello, and that a conversation goes on. One that the gateway has never seen may hold anything then: a copy
// of another conversation has an id of its own.
func (r *run) begin(ctx context.Context) error {
	err := r.send(ctx, "hello", hello{r.Agent, r.version(), "deny"}, "")
	switch r.in.Source {
	case "startup", "clear", "compact":
		return err
	}
	told, bad := r.notes.owe(r.who.key, false) // until the gateway has been told
	if bad != nil {
		return bad
	}
	if err := errors.Join(err, r.send(ctx, "context_assembled", assembled{[]source{{Kind: "compacted_history", Hash: hashOf(nil)}}}, resume)); err != nil {
		return err
	}
	told.settled()
	return nil
}

// version is that of the agent, as it tells those that it runs.
func (r *run) version() string {
	name, rest, ok := strings.Cut(r.Env("AI_AGENT"), "_") // claude-code_2-1-325_harness
	if ok && name == r.Agent {
		rest, _, _ = strings.Cut(rest, "_")
		return printable(strings.ReplaceAll(rest, "-", "."))
	}
	return "unknown"
}

// prompt tells what a run starts with. It counts as the owner's words only where a person typed it.
func (r *run) prompt(ctx context.Context) error {
	text := r.in.Prompt
	s := source{Size: len(text), Hash: hashOf([]byte(text)), Fingerprints: r.gateway.prints(text)}
	switch {
	case r.typed():
		s.Kind, s.SenderIsOwner = "user_message", true
		if err := r.notes.heard(r.who.key, text, time.Now()); err != nil {
			return err
		}
	case r.who.owner || r.in.AgentID != "": // the agent tells itself what another one has done
		s.Kind, s.Tool = "tool_result", "task"
	default:
		s.Kind = "user_message"
	}
	return r.send(ctx, "context_assembled", assembled{[]source{s}}, "")
}

// typed reports whether a person wrote what starts the run. Agents use the same event for words of their own: what
// begins like markup is one of theirs, and where the agent can make a prompt for later, nothing is certain any more.
func (r *run) typed() bool {
	text := strings.TrimSpace(r.in.Prompt)
	return r.who.owner && r.in.AgentID == "" && text != "" && text[0] != '<' && !r.notes.doubted(r.who.key)
}

// result is what a tool returned: its size, its hash and its fingerprints, and never the text.
func (r *run) result(failed bool) toolReturned {
	name, _ := r.toolName()
	if r.in.cut {
		return toolReturned{Tool: name, Error: failed, Hash: hashOf(nil), Secret: true, Marked: true}
	}
	text := TextOf(r.in.Response) + TextOf(r.in.Error)
	ms, err := strconv.ParseFloat(string(r.in.DurationMs), 64)
	if err != nil || ms < 0 || ms > 1e12 {
		ms = 0
	}
	return toolReturned{
		Tool: name, CallID: r.in.CallID, Error: failed, DurationMs: int64(ms), Size: len(text), Hash: hashOf([]byte(text)), Origin: r.in.origin(),
		Secret: bearsSecret(text), Marked: len(text) > mostSearched, Changed: r.wasChanged(),
		Fingerprints: r.gateway.prints(text),
	}
}

const longestOrigin = 256

// origin is where a tool had it from, for people: a host or a file.
func (in *input) origin() string {
	if address := member(in.Params, "url", "uri"); address != "" {
		u, err := url.Parse(address)
		if err != nil {
			return ""
		}
		return cutOrigin(u.Hostname())
	}
	return cutOrigin(member(in.Params, "file_path", "filePath", "path", "notebook_path"))
}

func cutOrigin(s string) string {
	if len(s) > longestOrigin ||
		strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\ufffd' }) {
		return ""
	}
	return s
}

// TextOf are the strings of a value and the names of its members, a line each: a name can be a secret, too.
func TextOf(v jsontext.Value) string {
	if !isGiven(v) {
		return ""
	}
	var out strings.Builder
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return strings.ToValidUTF8(out.String(), "\ufffd")
		}
		if token.Kind() == jsontext.KindString {
			out.WriteString(token.String())
			out.WriteByte('\n')
		}
	}
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

type note struct {
	Message string `json:"systemMessage"`
}

type halt struct {
	Continue bool   `json:"continue"`
	Reason   string `json:"stopReason"`
}

// untold is what the agent is answered where the gateway could not be told of an event. What a tool returned must not
// be forgotten: the next call says so. Where that can't be noted either, the agent stops.
func (r *run) untold(k kind, err error) ([]byte, error) {
	words := "The session could not be reported to the verifier."
	if w, ok := errors.AsType[failure](err); ok {
		words = string(w)
	}
	if k != returned && k != failed {
		return marshal(note{words + " Calls of tools may be refused."})
	}
	if r.notes.dir != "" && r.who.key != "" {
		if _, err := r.notes.owe(r.who.key, r.in.cut ||
			bearsSecret(TextOf(r.in.Response)+TextOf(r.in.Error))); err == nil {
			return marshal(note{words})
		}
	}
	return marshal(halt{false, words + " What the tool returned could not be noted, so the agent stops here."})
}
