package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Answer is what the runtime gets. The zero Answer has taken in nothing.
type Answer struct {
	Accepted     bool              `json:"accepted"`
	Reason       string            `json:"reason,omitzero"` // for people
	Tools        *[]Tool           `json:"tools,omitzero"`  // those that remain; nil: all
	ToolCalls    *[]jsontext.Value `json:"toolCalls,omitzero"`
	SystemPrompt string            `json:"systemPrompt,omitzero"`
	Content      *string           `json:"content,omitzero"`
	AppendFooter string            `json:"appendFooter,omitzero"`
	Block        bool              `json:"block,omitzero"`
	BlockReason  string            `json:"blockReason,omitzero"` // for the agent
}

// Tool is a tool that remains.
type Tool struct {
	Name string `json:"name"`
}

// JSON is the answer as it goes over the wire.
func (a Answer) JSON() []byte {
	body, err := json.Marshal(a, jsontext.AllowInvalidUTF8(true))
	if err != nil { // nothing in it can fail, but an answer must not be empty
		return []byte(`{"accepted":false,"block":true}`)
	}
	return body
}
