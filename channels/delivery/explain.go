package delivery

import "strings"

// failure is an error of a platform in words that can be logged. It is still the
// platform's own to whoever asks what it is.
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

// hidden takes secrets out of a text.
func hidden(text string, secrets []string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "[secret]")
		}
	}
	return text
}
