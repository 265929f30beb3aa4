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
	Ntfy Ntfy `yaml:"ntfy"`
}

// Ntfy is a topic of an ntfy server. The address is a Secret: a topic is as good as a
// password.
type Ntfy struct {
	URL   Secret `yaml:"url"`
	Token Secret `yaml:"token"`
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
	k.checkNtfy()
	if p.Allow && (!p.Enabled || !k.Web.Enabled) {
		k.find(Warning, "notify.push.allow", fmt.Sprintf("there are no notifications: notify.push.enabled is %t, and web.enabled is %t", p.Enabled, k.Web.Enabled))
	}
}

// checkNtfy wants an address to post to.
func (k *checker) checkNtfy() {
	const at, example = "notify.ntfy.url", "https://ntfy.sh/a-topic-that-is-hard-to-guess"
	n := &k.Notify.Ntfy
	if !n.URL.Set() {
		if n.Token.Set() {
			k.fail(at, "is missing", "write where the messages go, or remove the section")
		}
		return
	}
	u, err := url.Parse(n.URL.Reveal())
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		k.fail(at, "is no address to send to", "write it as "+example)
	case strings.Trim(u.Path, "/") == "":
		k.fail(at, "names no topic", "write it as "+example)
	case u.Scheme == "http" && !loopback(u.Hostname()):
		k.find(Warning, at, "the first line of each question goes over the network unencrypted; write https://")
	}
	if !k.Web.Enabled {
		k.find(Warning, "notify.ntfy", "it can name no place to answer at: web.enabled is false")
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
