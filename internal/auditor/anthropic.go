package auditor

import (
	"cmp"
	"context"
	"strings"
)

// claude speaks messages.
type claude struct {
	line  line
	model string
}

// anthropicVersion is the version of the wire format.
const anthropicVersion = "2023-06-01"

func newAnthropic(c ModelConfig) *claude {
	base := c.BaseURL
	base = cmp.Or(base, anthropicBase)
	m := &claude{line: newLine(strings.TrimRight(base, "/") + "/v1/messages"), model: c.Model}
	m.line.header("Anthropic-Version", anthropicVersion)
	if c.Key != "" {
		m.line.header("X-Api-Key", c.Key)
	}
	return m
}

type messagesRequest struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    string    `json:"system"`
	Messages  []message `json:"messages"`
}

type messagesReply struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Usage struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
}

// Answer implements Model.
func (m *claude) Answer(ctx context.Context, p Prompt) (Reply, error) {
	var said messagesReply
	ask := messagesRequest{Model: m.model, MaxTokens: answerTokens, System: p.System, Messages: []message{{"user", p.User}}}
	if err := m.line.post(ctx, ask, &said); err != nil {
		return Reply{}, err
	}
	var text strings.Builder
	for _, part := range said.Content {
		if part.Type == "text" {
			text.WriteString(part.Text)
		}
	}
	if text.Len() == 0 {
		return Reply{}, errEmpty
	}
	return Reply{Text: text.String(), Input: said.Usage.Input, Output: said.Usage.Output}, nil
}
