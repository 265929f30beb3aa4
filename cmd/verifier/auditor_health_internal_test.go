package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/intent/provider/providertest"
)

func TestHealthNamesTheAuditorWhereThereIsOne(t *testing.T) {
	t.Parallel()
	with, _ := audited(t, func(providertest.Asked) string { return "" }, nil)
	for r, want := range map[*rig]bool{with: true, newRig(t, nil): false} {
		v := r.visit()
		v.enter(r.loginLink())
		if _, page := v.load(http.MethodGet, "/page/health", nil); strings.Contains(page, `<li class="good"><strong>auditor</strong>`) != want {
			t.Errorf("it names one: %v\n%s", !want, page)
		}
	}
}
