package main

import (
	"os"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/web/webtest"
)

// byName opens the page by the name to which a passkey belongs.
func byName(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) }

// stepUp asks for a passkey before anything is destroyed.
func stepUp(c *config.Config) {
	unhurried(c)
	c.Approval.StepUp = []string{"destructive", "secret", "money"}
}

// TestAPasskeyInARealBrowser adds a passkey on a phone by a link, logs in with it, and is asked for it before a call that can't be undone.
func TestAPasskeyInARealBrowser(t *testing.T) {
	t.Parallel()
	s := &surf{rig: newRig(t, stepUp), browser: webtest.Start(t)}
	tab := s.browser.Open(s.browser.Person(), webtest.Phone)
	tab.Authenticator(true)
	tab.Go(s.loginLink("--passkey"))
	tab.Text("Add a passkey to this device?")
	tab.Click(".login form:nth-of-type(4) button")
	tab.Text("Nothing waits")
	s.url = byName(s.url)
	s.open(tab, "passkeys")
	tab.Text("Added just now")
	s.check(tab, "the passkeys at 360 px")
	tab.Type("#key-name", "Second phone")
	tab.Click(".enrol button")
	tab.Text("This device has a passkey for this page already")

	held := s.hold(tainted(s.rig, "exec", `{"command":"rm -rf /home/me/photos"}`))
	s.open(tab, "")
	tab.Text("Only your passkey allows this")
	s.check(tab, "a card that needs a passkey")
	tab.Click("button.allow")
	tab.Text("Sign it with your passkey")
	s.check(tab, "the question for a signature")
	tab.Click(".signs button")
	tab.Text("Approved once by owner")
	if a := <-held; !a.allowed() {
		t.Errorf("the call: %s", a.raw)
	}
	record, err := os.ReadFile(s.state.Record())
	if err != nil || !strings.Contains(string(record), `"passkey":"`) {
		t.Errorf("the record names no passkey: %v", err)
	}

	tab.Eval(`document.querySelector("form.logout").requestSubmit()`, nil)
	tab.Text("Log in with a passkey")
	s.check(tab, "the login")
	tab.Click(".login form:nth-of-type(3) button")
	tab.Text("Nothing waits")
	s.open(tab, "passkeys")
	tab.Click(".keys button")
	tab.Text("It signs nothing here any more")
	held = s.hold(tainted(s.rig, "exec", `{"command":"rm -rf /home/me/letters"}`))
	s.open(tab, "")
	tab.Text("letters")
	tab.Click("button.allow")
	tab.Text("you have none for this page")
	tab.Click("button.deny")
	tab.Text("Denied by owner")
	if a := <-held; a.allowed() {
		t.Errorf("the call: %s", a.raw)
	}
}

// TestADeviceThatDoesNotVerify signs nothing that counts.
func TestADeviceThatDoesNotVerify(t *testing.T) {
	t.Parallel()
	s := &surf{rig: newRig(t, stepUp), browser: webtest.Start(t)}
	tab := s.browser.Open(s.browser.Person(), webtest.Phone)
	tab.Authenticator(false)
	tab.Go(s.loginLink("--passkey"))
	tab.Text("Add a passkey to this device?")
	tab.Click(".login form:nth-of-type(4) button")
	tab.Text("Your device made no signature")
	if keys := s.g.passkeys.Of(config.TokenID(config.Owner), ""); len(keys) > 0 {
		t.Errorf("there is a passkey: %v", keys)
	}
}
