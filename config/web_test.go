package config_test

import (
	"testing"
	"time"
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
