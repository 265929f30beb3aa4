// Package scripted is a model that makes the calls of a script. It speaks the APIs of Claude Code, Codex, Gemini CLI and
// opencode, so that the real agents can be tried without a model. It answers on loopback, to a test, and to nothing else.
package scripted

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

// Step is one call that the model makes.
type Step struct {
	Tool      string // one that begins with * is the offered one that ends so
	Input     map[string]any
	namespace string // in which the agent offers it
}

// Below is what a prompt holds that a sub-agent is started with.
const Below = "report-on-the-page"

// Model is the model. Which step is next it reads off the request: as many
// tool results as the conversation has were steps before.
type Model struct {
	mu     sync.Mutex
	script []Step
	below  []Step          // of a sub-agent
	read   strings.Builder // what the agents have told it
}

// Play takes a script, and forgets what was read.
func (m *Model) Play(script ...Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script = script
	m.read.Reset()
}

// PlayBelow takes the script of sub-agents.
func (m *Model) PlayBelow(script ...Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.below = script
}

// Heard is what agents have told it since then.
func (m *Model) Heard() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read.String()
}

// next is the step for a conversation; nil: it is done.
func (m *Model) next(body []byte, s *said) *Step {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read.Write(body)
	script, n := m.script, s.results()
	if strings.Contains(s.prompt(), Below) {
		script = m.below
	}
	if n >= len(script) {
		return nil
	}
	next := script[n]
	if end, ok := strings.CutPrefix(next.Tool, "*"); ok {
		next.Tool, next.namespace = offered(s.Tools, "", end)
	}
	return &next
}

// offered is the tool whose name ends so, and the namespace that it is in.
func offered(tools []any, in, end string) (name, namespace string) {
	for _, t := range tools {
		tool, _ := t.(map[string]any)
		name, _ := tool["name"].(string)
		if function, ok := tool["function"].(map[string]any); ok {
			name, _ = function["name"].(string)
		}
		if strings.HasSuffix(name, end) {
			return name, in
		}
		for _, list := range []string{"tools", "functionDeclarations"} {
			below, _ := tool[list].([]any)
			if found, namespace := offered(below, name, end); found != "" {
				return found, namespace
			}
		}
	}
	return "", ""
}

// said is what a request holds, of all four APIs.
type said struct {
	Model    string `json:"model"`
	Tools    []any  `json:"tools"`
	Messages []struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	} `json:"messages"`
	Input    []map[string]any `json:"input"`
	Contents []struct {
		Role  string           `json:"role"`
		Parts []map[string]any `json:"parts"`
	} `json:"contents"`
}

// prompt is what the user has said.
func (s *said) prompt() string {
	var out strings.Builder
	for _, m := range s.Messages {
		if m.Role == "user" {
			out.WriteString(userText(m.Content))
		}
	}
	for _, item := range s.Input {
		if item["role"] == "user" {
			out.WriteString(userText(item["content"]))
		}
	}
	for _, c := range s.Contents {
		for _, p := range c.Parts {
			if text, ok := p["text"].(string); ok && c.Role == "user" {
				out.WriteString(text)
			}
		}
	}
	return out.String()
}

func userText(content any) (text string) {
	if s, ok := content.(string); ok {
		return s
	}
	blocks, _ := content.([]any)
	for _, b := range blocks {
		block, _ := b.(map[string]any)
		s, _ := block["text"].(string)
		text += s
	}
	return text
}

// results counts what tools have returned.
func (s *said) results() (n int) {
	for _, m := range s.Messages {
		if m.Role == "tool" {
			n++
		}
		blocks, _ := m.Content.([]any)
		for _, b := range blocks {
			if block, _ := b.(map[string]any); block["type"] == "tool_result" {
				n++
			}
		}
	}
	for _, item := range s.Input {
		if t, _ := item["type"].(string); strings.HasSuffix(t, "_call_output") {
			n++
		}
	}
	for _, c := range s.Contents {
		for _, p := range c.Parts {
			if p["functionResponse"] != nil {
				n++
			}
		}
	}
	return n
}

// ServeHTTP answers an agent. At /page there is a page to fetch.
func (m *Model) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	if req.URL.Path == "/page" {
		io.WriteString(w, "<html>Hello</html>") //nolint:errcheck // the agent says what it got
		return
	}
	var s said
	if json.Unmarshal(body, &s) != nil {
		io.WriteString(w, "{}") //nolint:errcheck // see above
		return
	}
	var next *Step
	if len(s.Tools) > 0 {
		next = m.next(body, &s)
	}
	id := fmt.Sprint(s.results())
	var out any
	switch path := req.URL.Path; {
	case strings.HasSuffix(path, "/messages"):
		out = anthropic(next, id)
	case strings.HasSuffix(path, "/responses"):
		out = responses(next, id)
	case strings.HasSuffix(path, "/chat/completions"):
		out = chat(next, id)
	case strings.HasSuffix(path, "enerateContent"):
		answer := geminiSays(next)
		if bytes.Contains(body, []byte(`"responseMimeType":"application/json"`)) { // which model to take, who speaks next
			answer = geminiText(`{"reasoning":"x","model_choice":"flash","complexity_reasoning":"x","complexity_score":1,"next_speaker":"user"}`)
		}
		if out = []any{answer}; !strings.Contains(path, "stream") {
			write(w, answer)
			return
		}
	default:
		write(w, map[string]any{"input_tokens": 1, "totalTokens": 1})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range out.([]any) { //nolint:errcheck // it is one
		if kind, ok := e.(map[string]any)["type"]; ok { //nolint:errcheck // they are
			fmt.Fprintf(w, "event: %v\n", kind) //nolint:errcheck // see above
		}
		text, _ := json.Marshal(e)
		fmt.Fprintf(w, "data: %s\n\n", text) //nolint:errcheck // see above
	}
	if strings.HasSuffix(req.URL.Path, "/chat/completions") {
		io.WriteString(w, "data: [DONE]\n\n") //nolint:errcheck // see above
	}
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	text, _ := json.Marshal(v)
	w.Write(text) //nolint:errcheck // see above
}

type object = map[string]any

func arguments(s *Step) string {
	text, _ := json.Marshal(s.Input)
	return string(text)
}

func anthropic(s *Step, id string) any {
	usage := object{"input_tokens": 1, "output_tokens": 1}
	block, delta, stop := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": "done"}, "end_turn"
	if s != nil {
		block, stop = object{"type": "tool_use", "id": "toolu_" + id, "name": s.Tool, "input": object{}}, "tool_use"
		delta = object{"type": "input_json_delta", "partial_json": arguments(s)}
	}
	return []any{
		object{"type": "message_start", "message": object{"id": "msg_" + id, "type": "message", "role": "assistant", "model": "fake", "content": []any{}, "usage": usage}},
		object{"type": "content_block_start", "index": 0, "content_block": block}, object{"type": "content_block_delta", "index": 0, "delta": delta},
		object{"type": "content_block_stop", "index": 0}, object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": usage}, object{"type": "message_stop"},
	}
}

func responses(s *Step, id string) any {
	item := object{"type": "message", "id": "m" + id, "role": "assistant", "status": "completed", "content": []any{object{"type": "output_text", "text": "done", "annotations": []any{}}}}
	if s != nil {
		item = object{"type": "function_call", "id": "fc" + id, "call_id": "call" + id, "name": s.Tool, "arguments": arguments(s), "status": "completed"}
		if s.namespace != "" {
			item["namespace"] = s.namespace
		}
	}
	usage := object{"input_tokens": 1, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 2}
	done := object{"id": "r" + id, "object": "response", "status": "completed", "model": "fake", "output": []any{item}, "usage": usage}
	return []any{
		object{"type": "response.created", "response": object{"id": "r" + id, "object": "response", "status": "in_progress", "output": []any{}}},
		object{"type": "response.output_item.added", "output_index": 0, "item": item}, object{"type": "response.output_item.done", "output_index": 0, "item": item},
		object{"type": "response.completed", "response": done},
	}
}

func chat(s *Step, id string) any {
	delta, finish := object{"role": "assistant", "content": "done"}, "stop"
	if s != nil {
		delta, finish = object{"role": "assistant", "tool_calls": []any{object{"index": 0, "id": "call" + id, "type": "function", "function": object{"name": s.Tool, "arguments": arguments(s)}}}}, "tool_calls"
	}
	base := func(d object, f any) object {
		return object{"id": "c" + id, "object": "chat.completion.chunk", "model": "fake", "choices": []any{object{"index": 0, "delta": d, "finish_reason": f}}}
	}
	return []any{base(delta, nil), base(object{}, finish)}
}

func geminiSays(s *Step) object {
	if s == nil {
		return geminiText("done")
	}
	return geminiPart(object{"functionCall": object{"name": s.Tool, "args": s.Input, "id": "f"}, "thoughtSignature": "ZmFrZQ=="})
}

func geminiText(text string) object { return geminiPart(object{"text": text}) }

func geminiPart(part object) object {
	return object{
		"candidates":    []any{object{"content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "fake",
	}
}
