package hook

import (
	"cmp"
	"context"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Typed is a call that a person or a script sends, see `verifier send`.
type Typed struct {
	Tool, Params, Session, Context string
	URL, State, Secret             string
}

type typedCall struct {
	Version   int                       `json:"version"`
	Timestamp string                    `json:"timestamp"`
	RequestID string                    `json:"requestId"`
	Tool      tool                      `json:"tool"`
	Context   map[string]jsontext.Value `json:"context"`
}

// Try asks about the call and waits for no person. It reports false where that gives no final answer: the caller leaves it to `verifier send`, which knows
// configs, says what is wrong, and waits. A question that is open is joined by it.
func (t *Typed) Try(ctx context.Context, env func(string) string) (answer []byte, decision, reason string, ok bool) {
	g, found := t.gateway(env)
	if !found {
		return nil, "", "", false
	}
	m := typedCall{Version: 1, Timestamp: time.Now().UTC().Format(time.RFC3339), RequestID: NewID(), Tool: tool{Name: t.Tool, Params: jsontext.Value(t.Params)}}
	if json.Unmarshal([]byte(t.Context), &m.Context) != nil || m.Context == nil || m.Context["waitMs"] != nil || !isObject(m.Tool.Params) || !m.Tool.Params.IsValid() {
		return nil, "", "", false
	}
	m.Context["waitMs"] = jsontext.Value("1")
	if t.Session != "" {
		key, err := jsontext.AppendQuote(nil, t.Session)
		if err != nil || m.Context["sessionKey"] != nil {
			return nil, "", "", false
		}
		m.Context["sessionKey"] = key
	}
	body, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return nil, "", "", false
	}
	if answer, err = g.send(ctx, "", &Asked{m.RequestID, body}); err != nil {
		return nil, "", "", false
	}
	var v verdict
	if json.Unmarshal(answer, &v) != nil || v.Decision != "allow" && v.Decision != "deny" || v.Question != "" || v.Params != nil {
		return nil, "", "", false
	}
	return answer, v.Decision, v.Reason, true
}

// gateway finds the gateway where no config could say otherwise.
func (t *Typed) gateway(env func(string) string) (g Gateway, ok bool) {
	f := Flags{URL: cmp.Or(t.URL, env("VERIFIER_URL")), State: t.State, Config: cmp.Or(env("VERIFIER_CONFIG"), FoundConfig(env))}
	_, here := os.Stat("verifier.yaml")
	secret := cmp.Or(t.Secret, env("VERIFIER_SECRET"))
	switch {
	case f.Config != "" || here == nil || strings.HasPrefix(f.URL, "https:") || env("VERIFIER_CA") != "":
		return g, false
	case f.URL != "":
		return Gateway{URL: CallsAt(f.URL), Secret: []byte(secret)}, secret != ""
	}
	g, err := f.Find(env)
	if secret != "" {
		g.Secret = []byte(secret)
	}
	return g, err == nil && !strings.HasPrefix(g.URL, "https:")
}
