package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

// step is one call that the model makes.
type step struct {
	Tool  string
	Input map[string]any
}

// model is a scripted model that speaks the APIs of all four agents. Which step is next it reads off the request: as many
// tool results as the conversation has were steps before.
type model struct {
	mu     sync.Mutex
	script []step
	read   strings.Builder // what the agents have told it
}

func (m *model) play(script ...step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script = script
	m.read.Reset()
}

func (m *model) heard() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read.String()
}

// next is the step for a conversation with so many results; nil: it is done.
func (m *model) next(body []byte, results int) *step {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read.Write(body)
	if results < len(m.script) {
		return &m.script[results]
	}
	return nil
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
		Parts []map[string]any `json:"parts"`
	} `json:"contents"`
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

func (m *model) ServeHTTP(w http.ResponseWriter, req *http.Request) {
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
	var next *step
	if len(s.Tools) > 0 {
		next = m.next(body, s.results())
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

func arguments(s *step) string {
	text, _ := json.Marshal(s.Input)
	return string(text)
}

func anthropic(s *step, id string) any {
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

func responses(s *step, id string) any {
	item := object{"type": "message", "id": "m" + id, "role": "assistant", "status": "completed", "content": []any{object{"type": "output_text", "text": "done", "annotations": []any{}}}}
	if s != nil {
		item = object{"type": "function_call", "id": "fc" + id, "call_id": "call" + id, "name": s.Tool, "arguments": arguments(s), "status": "completed"}
	}
	usage := object{"input_tokens": 1, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 2}
	done := object{"id": "r" + id, "object": "response", "status": "completed", "model": "fake", "output": []any{item}, "usage": usage}
	return []any{
		object{"type": "response.created", "response": object{"id": "r" + id, "object": "response", "status": "in_progress", "output": []any{}}},
		object{"type": "response.output_item.added", "output_index": 0, "item": item}, object{"type": "response.output_item.done", "output_index": 0, "item": item},
		object{"type": "response.completed", "response": done},
	}
}

func chat(s *step, id string) any {
	delta, finish := object{"role": "assistant", "content": "done"}, "stop"
	if s != nil {
		delta, finish = object{"role": "assistant", "tool_calls": []any{object{"index": 0, "id": "call" + id, "type": "function", "function": object{"name": s.Tool, "arguments": arguments(s)}}}}, "tool_calls"
	}
	base := func(d object, f any) object {
		return object{"id": "c" + id, "object": "chat.completion.chunk", "model": "fake", "choices": []any{object{"index": 0, "delta": d, "finish_reason": f}}}
	}
	return []any{base(delta, nil), base(object{}, finish)}
}

func geminiSays(s *step) object {
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
