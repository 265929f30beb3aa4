package config

import (
	"fmt"

	"github.com/goccy/go-yaml"

	"github.com/openclaw-verifier/verifier/policy"
)

// ParsePolicy reads the keys of the policy and no others: nothing in it can name a
// secret, a file or a variable. Every error is [Errors].
func ParsePolicy(text []byte) (policy.Config, error) {
	var c struct {
		Policy policy.Config `yaml:",inline"`
	}
	if err := decodeText("policy", text, &c); err != nil {
		return policy.Config{}, err
	}
	return c.Policy, nil
}

// WritePolicy is the policy as ParsePolicy reads it.
func WritePolicy(c policy.Config) (string, error) {
	text, err := yaml.MarshalWithOptions(c, yaml.OmitEmpty())
	if err != nil {
		return "", fmt.Errorf("write the policy: %w", err)
	}
	return string(text), nil
}
