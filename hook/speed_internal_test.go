package hook

import (
	"strings"
	"testing"
	"time"
)

// TestALargeResultIsSearchedQuickly: an agent, or the gate before a server, waits for it.
func TestALargeResultIsSearchedQuickly(t *testing.T) {
	for name, part := range map[string]string{
		"prose": "lorem ipsum 1234 ", "links": "see https://example.com/a/b?c=d#e, ", "base64": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "dashes": "sk-ant-", "digits": "12345678:AA",
	} {
		text := strings.Repeat(part, 4<<20/len(part))
		began := time.Now()
		secret := bearsSecret(text)
		if took := time.Since(began); took > 20*time.Second { // a hundred times what it takes on an idle machine
			t.Errorf("%s took %v", name, took)
		}
		t.Log(name, secret, time.Since(began))
		if name == "prose" && secret {
			t.Error("prose is a secret")
		}
		if !bearsSecret(text + " ghp_" + strings.Repeat("a1B2", 9)) {
			t.Errorf("%s: the secret at the end is not found", name)
		}
	}
}
