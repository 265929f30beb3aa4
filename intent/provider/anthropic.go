package provider

import (
	"context"
	"errors"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/openclaw-verifier/verifier/intent"
)

type claude struct {
	messages anthropic.MessageService
	model    string
}

func newAnthropic(c Config) *claude {
	base := c.BaseURL
	if base == "" {
		base = anthropicBase
	}
	opts := []option.RequestOption{
		option.WithoutOpenTelemetry(), option.WithHTTPClient(newClient()), option.WithBaseURL(base), option.WithMaxRetries(0),
	}
	if c.Key != "" {
		opts = append(opts, option.WithAPIKey(c.Key))
	}
	return &claude{messages: anthropic.NewMessageService(opts...), model: c.Model}
}

// Answer implements intent.Model.
func (m *claude) Answer(ctx context.Context, p intent.Prompt) (intent.Reply, error) {
	said, err := m.messages.New(ctx, anthropic.MessageNewParams{
		Model: m.model, MaxTokens: answerTokens, System: []anthropic.TextBlockParam{{Text: p.System}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(p.User))},
	})
	if err != nil {
		status := 0
		if e, ok := errors.AsType[*anthropic.Error](err); ok {
			status = e.StatusCode
		}
		return intent.Reply{}, plain(err, status)
	}
	if said == nil { // a body of "null" is no error to the library
		return intent.Reply{}, errEmpty
	}
	var text strings.Builder
	for i := range said.Content {
		text.WriteString(said.Content[i].Text)
	}
	if text.Len() == 0 {
		return intent.Reply{}, errEmpty
	}
	return intent.Reply{Text: text.String(), Input: said.Usage.InputTokens, Output: said.Usage.OutputTokens}, nil
}
