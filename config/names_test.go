package config_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestNamesOfClientsAndApprovers(t *testing.T) {
	for name, plain := range map[string]bool{
		"ci": true, "Ann": true, "Zoë B. @home-2": true, "李": true, "٣": true, "½": true, "a": true,
		strings.Repeat("x", 64): true, strings.Repeat("é", 64): true,
		strings.Repeat("x", 65): false, " ann": false, ".": false, "-a": false, "@a": false,
		"a/b": false, "a:b": false, "a\nb": false, "a\n": false, "a\tb": false, "a\u202eb": false, "a\u0301": false, "a\ufffdb": false,
	} {
		for text, refusal := range map[string]string{
			"webhook: {clients: {%q: [" + good + "]}}":            "is no name for a client",
			"approvers: [{name: %q, ids: [\"telegram:1001\"]}]\n": "is no name for cards and the record",
		} {
			if got := !strings.Contains(refusals(t, "maxIterations: -1\n"+fmt.Sprintf(text, name)), refusal); got != plain {
				t.Errorf("%s: a name is %v, want %v", fmt.Sprintf(text, name), got, plain)
			}
		}
	}
}
