package main

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/intent/provider/providertest"
)

func TestHealthNamesTheAuditorWhereThereIsOne(t *testing.T) {
	t.Parallel()
	with, _ := audited(t, func(providertest.Asked) string { return "" }, nil)
	for r, want := range map[*rig]bool{with: true, newRig(t, nil): false} {
		if health := r.page("/readyz"); strings.Contains(health, "auditor: ok") != want {
			t.Errorf("it names one: %v\n%s", !want, health)
		}
	}
}
