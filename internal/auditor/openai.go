package auditor

import (
	"cmp"
	"context"
	"strings"
)

// openAI speaks chat completions.
type openAI struct {
	line  line
	model string
	own   bool // the maker's own server, which has newer names for some fields
}

func newOpenAI(c ModelConfig) *openAI {
	base := c.BaseURL
	base = cmp.Or(base, openAIBase)
	m := &openAI{line: newLine(strings.TrimRight(base, "/") + "/chat/completions"), model: c.Model, own: c.BaseURL == ""}
	if c.Key != "" {
		m.line.header("Authorization", "Bearer "+c.Key)
	}
	return m
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type completionRequest struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	MaxTokens   int       `json:"max_tokens,omitzero"`
	Temperature *float64  `json:"temperature,omitzero"`
	// MaxCompletionTokens counts thoughts too; newer models want it instead of
	// MaxTokens, and refuse a temperature.
	MaxCompletionTokens int `json:"max_completion_tokens,omitzero"`
}

type completion struct {
	Choices []struct {
		Message struct {
			Content string `json:"content"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		Input  int64 `json:"prompt_tokens"`
		Output int64 `json:"completion_tokens"`
	} `json:"usage"`
}

// Answer implements Model.
func (m *openAI) Answer(ctx context.Context, p Prompt) (Reply, error) {
	ask := completionRequest{Model: m.model, Messages: []message{{"system", p.System}, {"user", p.User}}}
	if m.own {
		ask.MaxCompletionTokens = thoughtTokens
	} else {
		ask.MaxTokens, ask.Temperature = answerTokens, new(float64)
	}
	var done completion
	if err := m.line.post(ctx, ask, &done); err != nil {
		return Reply{}, err
	}
	if len(done.Choices) == 0 {
		return Reply{}, errEmpty
	}
	return Reply{Text: done.Choices[0].Message.Content, Input: done.Usage.Input, Output: done.Usage.Output}, nil
}
