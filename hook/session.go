package hook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hmac"
)

// Session is the conversation of a program that a client has started, such as the gate before a server of tools. Where the
// client is an agent that runs our hook, it is the agent's conversation. Otherwise all programs of one client share one,
// of which we don't know who started it.
type Session struct {
	gateway Gateway
	notes   notes
	client  process
	above   line
	alone   string // the key where there is no hook
}

// OpenSession finds out who has started this program.
func OpenSession(g Gateway, dir string) (*Session, error) {
	n, err := openNotes(dir)
	if err != nil {
		return nil, err
	}
	g.lasting = g.client()
	if t, ok := g.lasting.Transport.(*http.Transport); ok {
		t.DisableKeepAlives = false
	}
	s := &Session{gateway: g, notes: n, alone: aloneKey + random()}
	if all, err := lineOf(); err == nil { // without it each program is alone
		s.client = all.agent()
		s.above = all.above(s.client)
		s.alone = aloneKey + s.client.id()
	}
	return s, nil
}

// inSession begins what is used as the id of a call where an agent tells servers none: the hook's yes is for one such call of the conversation.
const inSession = "in "

// aloneKey begins the conversations of clients that have no hook.
const aloneKey = "agent:mcp:"

// Call is a call that a client makes.
type Call struct {
	Tool        string
	Params      jsontext.Value
	Annotations jsontext.Value // the tool's own; none: nil
	ID          string         // the client's id of the call; "" where it has none
	Wait        time.Duration  // how long the client can wait for a person
	Again       *Asked         // it was let pass before, and is made again; nil: it was not
	Edits       bool           // the client's call can be passed on with other params
}

// Verdict is what the gateway says of a call.
type Verdict struct {
	Allowed bool
	Reason  string // why not, in words for the agent
	ByHook  bool   // the hook has asked about this very call, and will tell what it returned
	Asked   *Asked // how it was asked about; nil: by the hook

	Params jsontext.Value // what the owner lets run instead; nil: the call as it was asked about
}

// Ask asks about a call, unless the agent's hook has asked about this very one. A call that was let pass before is asked about
// by the same message: no person is asked twice, and what was paused or restricted since is refused. It fails where the gateway has not answered.
func (s *Session) Ask(ctx context.Context, c Call) (Verdict, error) {
	in, err := s.context()
	if err != nil {
		return Verdict{}, err
	}
	if s.notes.spend(s.gateway.decided(cmp.Or(c.ID, inSession+in.SessionKey), c.Tool, c.Params)) {
		return Verdict{Allowed: true, ByHook: true}, nil
	}
	if c.Again != nil {
		v, err := s.gateway.askAgain(ctx, c.Again)
		return c.verdict(&v, c.Again, err), err
	}
	told := s.notes.owed(in.SessionKey)
	if in.ToolCallID, in.WaitMs, in.SecretsRead = c.ID, max(c.Wait.Milliseconds(), 1), told.secret(); told.outside() != "" {
		in.InputProvenance = told.outside()
	}
	in.Edits = c.Edits
	sent, err := pack("", message{Tool: &tool{c.Tool, c.Params, c.Annotations}, Context: in})
	if err != nil {
		return Verdict{}, err
	}
	v, err := s.gateway.askAgain(ctx, sent)
	if err != nil {
		return Verdict{}, err
	}
	if v.Decision == "allow" {
		told.settled()
	}
	return c.verdict(&v, sent, nil), nil
}

// verdict is what the gateway said. Other params than were asked about are a no where they can't be passed on.
func (c *Call) verdict(v *verdict, sent *Asked, err error) Verdict {
	out := Verdict{Allowed: err == nil && v.Decision == "allow", Reason: v.reason(), Asked: sent, Params: v.Params}
	if v.Params != nil && !c.Edits {
		out.Allowed, out.Params, out.Reason = false, nil, "The verifier answered with other arguments, which can't be passed on here. Nothing was run."
	}
	return out
}

// Returned tells the gateway what a tool has returned: size, hash and fingerprints, and never the text. What can't be told
// is noted, and the next call says it; an error says that it could not be noted either.
func (s *Session) Returned(ctx context.Context, tool, id, text string, failed bool) error {
	in, err := s.context()
	if err != nil {
		return err
	}
	_, err = s.gateway.tell(ctx, "after_tool_call", toolReturned{
		Tool: tool, CallID: id, Error: failed, Size: len(text), Hash: hashOf([]byte(text)),
		Secret: bearsSecret(text), Marked: len(text) > mostSearched, Fingerprints: s.gateway.prints(text),
	}, in)
	if err != nil {
		_, err = s.notes.owe(in.SessionKey, bearsSecret(text))
	}
	return err
}

// Offered asks which of the tools that a server offers the conversation may see. It fails where the gateway has not answered.
func (s *Session) Offered(ctx context.Context, names []string) (remain map[string]bool, err error) {
	in, err := s.context()
	if err != nil {
		return nil, err
	}
	type named struct {
		Name string `json:"name"`
	}
	var event, answer struct {
		Tools []named `json:"tools"`
	}
	for _, name := range names {
		event.Tools = append(event.Tools, named{name})
	}
	text, err := s.gateway.tell(ctx, "before_llm_call", event, in)
	if err != nil {
		return nil, err
	}
	answer.Tools = event.Tools // where nothing changes, the answer says nothing
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, failure("The verifier's answer can't be read.")
	}
	remain = map[string]bool{}
	for _, t := range answer.Tools {
		remain[t.Name] = true
	}
	return remain, nil
}

// context is that of the agent whose hook has registered the client's process, or else of the client alone. An agent may
// have several conversations in one process: which of them calls can't be told then.
func (s *Session) context() (callContext, error) {
	if keys, err := s.notes.keys(s.client); err != nil {
		return callContext{}, err
	} else if len(keys) == 1 {
		if agent, session, ok := strings.Cut(strings.TrimPrefix(keys[0], "agent:"), ":"); ok {
			return callContext{AgentID: agent, SessionKey: keys[0], SessionID: session, Trigger: resume}, nil
		}
	}
	parent, err := s.notes.parent(append(line{s.client}, s.above...))
	return callContext{AgentID: "mcp", SessionKey: s.alone, SpawnedBy: parent}, err
}

// keys are the conversations that a process is registered with; nil: it is not. A note without any is not nil: it was
// cut short, and the process is an agent.
func (n notes) keys(p process) ([]string, error) {
	text, err := readNote(filepath.Join(n.dir, processesDir, p.id()))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, unwritable(n.dir)
	}
	return strings.Fields(text), nil
}

// decided names a call that the hook has let pass, in a way that takes the secret: tool, arguments and the client's id.
func (g *Gateway) decided(id, tool string, params jsontext.Value) string {
	canonical := params.Clone()
	if canonical.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		return ""
	}
	sum := sha256.New()
	for _, part := range []string{id, tool, string(canonical)} {
		one := sha256.Sum256([]byte(part))
		sum.Write(one[:])
	}
	return hmac.SignAnswer(g.Secret, "decided", []byte(hex.EncodeToString(sum.Sum(nil))))
}

const decidedDir = "decided"

// keepDecided is how long a call may take from the hook to its server.
const keepDecided = 10 * time.Minute

// pass notes that a call was let pass, for the server's gate. Without it the gate asks again.
func (n notes) pass(name string) {
	if name == "" {
		return
	}
	dir := n.made(filepath.Join(n.dir, decidedDir))
	writeNote(filepath.Join(dir, filepath.Base(name)), os.O_EXCL, "") //nolint:errcheck // see above
}

// spend reports whether the call was let pass, once.
func (n notes) spend(name string) bool {
	if name == "" {
		return false
	}
	path := filepath.Join(n.dir, decidedDir, filepath.Base(name))
	info, err := os.Stat(path)
	return err == nil && time.Since(info.ModTime()) < keepDecided && os.Remove(path) == nil
}
