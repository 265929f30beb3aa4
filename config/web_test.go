package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
)

func TestThePageIsThereUnlessItIsSwitchedOff(t *testing.T) {
	c, _ := parse(t, "web: {url: \"https://verifier.lan:8443/\", session: 1h}\n")
	if a := c.Web.Address(); !c.Web.Enabled || a == nil || a.Hostname() != "verifier.lan" || c.Web.Session != time.Hour {
		t.Errorf("%+v", c.Web)
	}
	if c, _ = parse(t, "web: {enabled: false}\n"); c.Web.Enabled || c.Web.Address() != nil || c.Web.Session != 168*time.Hour {
		t.Errorf("%+v", c.Web)
	}
}

func TestWhatIsNoAddressOfAPageIsRefused(t *testing.T) {
	for _, text := range []string{
		"web: {url: verifier.lan}", "web: {url: \"ftp://verifier.lan\"}", "web: {url: \"https://verifier.lan/page\"}", "web: {url: \"https://me:pw@verifier.lan\"}",
		"web: {url: \"https://verifier.lan?x=1\"}", "web: {url: \"https://\"}", "web: {session: 1s}", "web: {session: 9000h}", "webhook: {path: /page/verify}",
	} {
		if _, _, err := config.Parse("v.yaml", []byte(text+"\n"), env, chats); err == nil || !strings.Contains(err.Error(), "v.yaml:1:") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
