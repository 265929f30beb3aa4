package config

import (
	"fmt"
	"net/url"
	"time"
)

// Upstream is a further verifier that has to agree.
type Upstream struct {
	// URL is where it takes calls.
	URL string `yaml:"url"`
	// Agents are those whose calls it is asked about. Nil: every agent's.
	Agents []string `yaml:"agents"`
	// Secret signs the calls to it and its answers.
	Secret Secret `yaml:"secret"`
	// Timeout is how long it may take. Default 5s.
	Timeout time.Duration `yaml:"timeout"`
	// Headers are sent along.
	Headers map[string]Secret `yaml:"headers"`
	// Signed says that its answers are signed. False is for servers of the
	// published protocol, which sign none: only at https or on this machine.
	// Default true.
	Signed *bool `yaml:"signed"`
}

// Plain reports whether an answer without a signature counts.
func (u *Upstream) Plain() bool { return u.Signed != nil && !*u.Signed }

// leastUpstream is how long a secret must be that is shared with another verifier.
const leastUpstream = 16

func (k *checker) checkUpstream() {
	for i, u := range k.Upstream {
		at := fmt.Sprintf("upstream[%d]", i)
		if u.Agents != nil && len(u.Agents) == 0 {
			k.fail(at+".agents", "is empty, so that it would be asked about no agent's calls", "name agents, or remove the key to mean all")
		}
		parsed, err := url.Parse(u.URL)
		if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.User != nil {
			k.fail(at+".url", "is no address of a verifier", "write it as https://host/verify")
		} else if parsed.Scheme == "http" && !loopback(parsed.Hostname()) {
			k.find(Warning, at+".url", "calls go over the network unencrypted; write https://")
		}
		if u.Plain() && err == nil && parsed.Scheme == "http" && !loopback(parsed.Hostname()) {
			k.fail(at+".signed", "can't be false here: anyone on the way could answer allow", "write the url with https://, or let it sign its answers")
		}
		if text := u.Secret.weakness(leastUpstream); text != "" && (u.Secret.Set() || !u.Plain()) {
			k.fail(at+".secret", text, makeOne)
		}
		if u.Timeout != 0 {
			inRange(k.report, at+".timeout", u.Timeout, 100*time.Millisecond, time.Minute)
		}
	}
}
