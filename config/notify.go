package config

import (
	"fmt"
	"net/url"
	"strings"
)

// Notify is how people hear that a question waits, besides chats. None of it answers:
// that is for the page.
type Notify struct {
	// Push is what the page sends to the devices that people turn it on in.
	Push Push `yaml:"push"`
	// Ntfy is a topic of an ntfy server; its token may be left out.
	Ntfy Service `yaml:"ntfy"`
	// Gotify is a Gotify server, with the token of an application there.
	Gotify Service `yaml:"gotify"`
	// Webhook is a program of the owner's.
	Webhook Hook `yaml:"webhook"`
}

// Service is a server that shows messages. The address is a Secret: a topic of ntfy is
// as good as a password.
type Service struct {
	URL   Secret `yaml:"url"`
	Token Secret `yaml:"token"`
}

// Hook is where signed messages are posted.
type Hook struct {
	URL Secret `yaml:"url"`
	// Secret signs them.
	Secret Secret `yaml:"secret"`
}

// Push is Web Push.
type Push struct {
	// Enabled says whether people can turn notifications on. Default true.
	Enabled bool `yaml:"enabled"`
	// Allow lets a notification that shows all of a harmless call allow it.
	Allow bool `yaml:"allow"`
	// Contact is where the people behind a push service may write, mailto: or
	// https:. Empty: the page's own address.
	Contact string `yaml:"contact"`
	// Services are origins of push services that the owner runs, which may be on
	// this machine or a private network.
	Services []string `yaml:"services"`
}

// PushContact is the address that push services get for questions to the owner.
func (c *Config) PushContact() string {
	if u := c.Web.Address(); c.Notify.Push.Contact == "" && u != nil && u.Scheme == "https" {
		return u.String()
	}
	return c.Notify.Push.Contact
}

func (k *checker) checkNotify() {
	p := &k.Notify.Push
	if p.Contact != "" && !isContact(p.Contact) {
		k.fail("notify.push.contact", "is neither a mail address nor a page", "write it as mailto:you@example.org")
	}
	for i, s := range p.Services {
		if !isOrigin(s) {
			k.fail(index("notify.push.services", i), "is no origin of a push service", "write it as https://push.lan or http://127.0.0.1:8080, without a path")
		}
	}
	k.checkServices()
	if p.Allow && (!p.Enabled || !k.Web.Enabled) {
		k.find(Warning, "notify.push.allow", fmt.Sprintf("there are no notifications: notify.push.enabled is %t, and web.enabled is %t", p.Enabled, k.Web.Enabled))
	}
}

func (k *checker) checkServices() {
	n := &k.Notify
	k.checkService("notify.ntfy", n.Ntfy.URL, "https://ntfy.sh/a-topic-that-is-hard-to-guess")
	k.checkService("notify.gotify", n.Gotify.URL, "https://gotify.lan")
	k.checkService("notify.webhook", n.Webhook.URL, "https://hooks.lan/verifier")
	if u, err := url.Parse(n.Ntfy.URL.Reveal()); n.Ntfy.URL.Set() && err == nil && strings.Trim(u.Path, "/") == "" {
		k.fail("notify.ntfy.url", "names no topic", "write it as https://ntfy.sh/a-topic-that-is-hard-to-guess")
	}
	if n.Gotify.URL.Set() && !n.Gotify.Token.Set() {
		k.fail("notify.gotify.token", "is missing", "make an application in Gotify, and write its token as ${NAME}, an environment variable, or file:/path")
	}
	if text := n.Webhook.Secret.weakness(leastSecret); n.Webhook.URL.Set() && text != "" {
		k.fail("notify.webhook.secret", text, makeOne)
	}
	for at, set := range map[string]bool{
		"notify.ntfy.url": n.Ntfy.Token.Set() && !n.Ntfy.URL.Set(), "notify.gotify.url": n.Gotify.Token.Set() && !n.Gotify.URL.Set(),
		"notify.webhook.url": n.Webhook.Secret.Set() && !n.Webhook.URL.Set(),
	} {
		if set {
			k.fail(at, "is missing", "write where the messages go, or remove the section")
		}
	}
}

// checkService wants an address to post to.
func (k *checker) checkService(at string, address Secret, example string) {
	if !address.Set() {
		return
	}
	u, err := url.Parse(address.Reveal())
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		k.fail(at+".url", "is no address to send to", "write it as "+example)
	case u.Scheme == "http" && !loopback(u.Hostname()):
		k.find(Warning, at+".url", "the first line of each question goes over the network unencrypted; write https://")
	}
	if !k.Web.Enabled {
		k.find(Warning, at, "it can name no place to answer at: web.enabled is false")
	}
}

func isContact(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "mailto" && strings.Contains(u.Opaque, "@") || u.Scheme == "https" && u.Host != "")
}

func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.Scheme+"://"+u.Host == s
}
