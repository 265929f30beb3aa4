package main

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// request is a call as it goes over the wire.
type request struct {
	Version   int            `json:"version"`
	Timestamp string         `json:"timestamp"`
	RequestID string         `json:"requestId"`
	Tool      requestTool    `json:"tool"`
	Context   map[string]any `json:"context,omitempty"`
}

type requestTool struct {
	Name   string         `json:"name"`
	Params jsontext.Value `json:"params"`
}

// body writes the call, and reads it back as the server will: what it would
// refuse is better told here, with a hint.
func (c *SendCmd) body(id string, now time.Time, wait time.Duration) ([]byte, error) {
	context, err := c.context(wait)
	if err != nil {
		return nil, err
	}
	params := jsontext.Value(c.Params)
	if !params.IsValid() || params.Kind() != jsontext.KindBeginObject {
		return nil, &failure{"--params is not a JSON object", `quote it for the shell: --params '{"command":"date"}'`}
	}
	out, err := json.Marshal(request{
		Version: 1, Timestamp: now.UTC().Format(time.RFC3339), RequestID: id,
		Tool: requestTool{Name: c.Tool, Params: params}, Context: context,
	}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write the call: %w", err)
	}
	if _, err := toolcall.Decode(out); err != nil {
		return nil, &failure{"the server would refuse this call: " + err.Error(), "see docs/spec/protocol.md"}
	}
	return out, nil
}

// context is --context with what other flags add to it, and how long to wait.
func (c *SendCmd) context(wait time.Duration) (map[string]any, error) {
	raw := map[string]jsontext.Value{}
	if err := json.Unmarshal([]byte(c.Context), &raw); err != nil || c.Context == "null" {
		return nil, &failure{"--context is not a JSON object", `quote it for the shell: --context '{"senderId":"7","senderIsOwner":true}'`}
	}
	context := make(map[string]any, len(raw)+2)
	for k, v := range raw {
		context[k] = v
	}
	if _, twice := context["sessionKey"]; twice && c.Session != "" {
		return nil, &failure{"--session and --context both give a session key", "keep one"}
	}
	if c.Session != "" {
		context["sessionKey"] = c.Session
	}
	if _, given := context["waitMs"]; !given {
		context["waitMs"] = max(1, wait.Milliseconds()) // 0 would be the server's own choice
	}
	return context, nil
}
