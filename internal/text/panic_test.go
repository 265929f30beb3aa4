package text_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/text"
)

const secret = "hunter2-in-the-params"

func breaks(value any) { panic(value) }

func recovered(f func()) (err error) {
	defer func() { err = text.Panic(recover()) }()
	f()
	return nil
}

func TestAPanicTellsTheTypeAndThePlaceAndNotTheValue(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]any{
		"string": secret, "*errors.errorString": errors.New(secret),
		"map[string]string": map[string]string{secret: secret},
		"[]uint8":           []byte(secret), "*fmt.wrapError": fmt.Errorf("x: %w", errors.New(secret)),
	} {
		err := recovered(func() { breaks(value) })
		if said := fmt.Sprintf("%v %+v", err, err); strings.Contains(said, secret) ||
			!strings.HasPrefix(said, "panic with a "+want+" in text_test.breaks:") {
			t.Errorf("got %s, want a %s in breaks, and not what it held", said, want)
		}
	}
	var none map[string][]int
	if err := recovered(func() { _ = none["x"][3] }); !strings.Contains(err.Error(), "TestAPanicTellsTheType") {
		t.Errorf("an error of the runtime: %v", err)
	}
}
