package main

import (
	"net/http"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/upstream"
	"github.com/openclaw-verifier/verifier/verifier"
)

// upstreamOf are the further verifiers that a config names, or nil. Instances
// that share the server key are one verifier to others.
func upstreamOf(c *config.Config, self string) verifier.Upstream {
	if len(c.Upstream) == 0 {
		return nil
	}
	var ones []upstream.One
	for _, u := range c.Upstream {
		one := upstream.One{URL: u.URL, Agents: u.Agents, Secret: u.Secret.Reveal(), Timeout: u.Timeout, Headers: map[string]string{}, Plain: u.Plain()}
		for name, value := range u.Headers {
			one.Headers[name] = value.Reveal()
		}
		ones = append(ones, one)
	}
	return upstream.New(self, ones)
}

// selfName is what this verifier is known by to others. It tells nothing of the
// key.
func selfName(key hmac.Key) string { return key.Seal("upstream", "self") }

func viaOf(self string) func(http.Header) ([]string, bool) {
	return func(h http.Header) ([]string, bool) { return upstream.ParseVia(h.Values(upstream.ViaHeader), self) }
}
