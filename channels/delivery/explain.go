package delivery

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// failure is an error of a platform in words that can be logged. errors.Is and
// errors.As see the platform's own error.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

const maxExplained = 300 // characters of what a platform may have said

// Explain puts an error of a platform into words: of what, and the words, which
// may be the platform's and so anything. They are shortened, and hold no secret.
func Explain(err error, of, words string, secrets ...string) error {
	if err == nil {
		return nil
	}
	words = strings.ToValidUTF8(hidden(words, secrets), "?")
	if r := []rune(words); len(r) > maxExplained {
		words = string(r[:maxExplained]) + "…"
	}
	return &failure{text: of + ": " + words, err: err}
}

// Undecodable reports whether an error says that the platform's answer is not the JSON that the library expects.
func Undecodable(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || kind || errors.Is(err, io.ErrUnexpectedEOF)
}

// hidden takes secrets out of a text.
func hidden(text string, secrets []string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "[secret]")
		}
	}
	return text
}
