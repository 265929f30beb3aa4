package config

import (
	"errors"
	"fmt"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// policyProblems gives the policy's own errors and warnings their places.
func (k *checker) policyProblems() {
	p, warnings, err := policy.New(k.Policy)
	for _, w := range warnings {
		k.find(Warning, w.Path, w.Text)
	}
	for _, p := range problems(err) {
		k.fail(p.Path, p.Text, "")
	}
	if err == nil {
		k.loosened(p)
	}
}

// loosened names the overrides that let a tool pass where it would be asked
// about without them.
func (k *checker) loosened(p *policy.Policy) {
	without := k.Policy
	without.ToolOverrides = nil
	base, _, err := policy.New(without)
	if err != nil {
		return // it was told with the rest
	}
	for _, key := range sortedKeys(k.Policy.ToolOverrides) {
		tool := protocol.Canonical(key)
		mine, theirs := p.Row("", tool), base.Row("", tool)
		for l := taint.Untrusted; l > taint.System; l-- {
			if mine[l] == taint.Allow && theirs[l] != taint.Allow {
				k.find(Warning, "toolOverrides."+key, fmt.Sprintf("%s passes unasked in a conversation that holds %s content; without this it would be %s there", visible(tool), l, theirs[l]))
				break
			}
		}
	}
}

// problems takes the policy's error apart: one, or several joined.
func problems(err error) []*policy.Problem {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*policy.Problem
		for _, e := range joined.Unwrap() {
			all = append(all, problems(e)...)
		}
		return all
	}
	if p, ok := errors.AsType[*policy.Problem](err); ok {
		return []*policy.Problem{p}
	}
	if err != nil {
		return []*policy.Problem{{Text: err.Error()}}
	}
	return nil
}
