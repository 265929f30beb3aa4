package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

func found(findings []config.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s %d:%d: %v\n", f.Severity, f.Line, f.Col, f)
	}
	return b.String()
}

func TestNoApproverListIsTheOwnerAlone(t *testing.T) {
	c, findings := parse(t, "ownerToken: "+good+"\n")
	if p := c.People(); len(p) != 1 || p[0].Name != "owner" || p[0].IDs[0] != "token:owner" {
		t.Errorf("people are %v", p)
	}
	if len(findings) != 0 {
		t.Errorf("findings: %s", found(findings))
	}
}
