package provider

import (
	"context"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/openclaw-verifier/verifier/intent"
)

type openAI struct {
	chat  openai.ChatCompletionService
	model string
	own   bool // the maker's own server, which has newer names for some fields
}

func newOpenAI(c Config) *openAI {
	base := c.BaseURL
	if base == "" {
		base = openAIBase
	}
	opts := []option.RequestOption{option.WithHTTPClient(newClient()), option.WithBaseURL(base), option.WithMaxRetries(0)}
	if c.Key != "" {
		opts = append(opts, option.WithAPIKey(c.Key))
	}
	return &openAI{chat: openai.NewChatCompletionService(opts...), model: c.Model, own: c.BaseURL == ""}
}

// Answer implements intent.Model.
func (m *openAI) Answer(ctx context.Context, p intent.Prompt) (intent.Reply, error) {
	params := openai.ChatCompletionNewParams{
		Model:    m.model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(p.System), openai.UserMessage(p.User)},
	}
	if m.own {
		params.MaxCompletionTokens = openai.Int(thoughtTokens) // thoughts count, and newer models refuse a temperature
	} else {
		params.MaxTokens, params.Temperature = openai.Int(answerTokens), openai.Float(0)
	}
	done, err := m.chat.New(ctx, params)
	if err != nil {
		status := 0
		if e, ok := errors.AsType[*openai.Error](err); ok {
			status = e.StatusCode
		}
		return intent.Reply{}, plain(err, status)
	}
	if done == nil || len(done.Choices) == 0 { // a body of "null" is no error to the library
		return intent.Reply{}, errEmpty
	}
	return intent.Reply{Text: done.Choices[0].Message.Content, Input: done.Usage.PromptTokens, Output: done.Usage.CompletionTokens}, nil
}
