package config_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

func TestAPolicyAloneReadsBackAsItWasWritten(t *testing.T) {
	restrict, external, yes := taint.Restrict, taint.External, true
	given := policy.Config{
		Profile: "paranoid", TaintPolicy: policy.TaintPolicy{Shared: &restrict}, Taint: policy.Taint{From: &external}, MaxIterations: 7,
		ToolOverrides: map[string]policy.Override{"exec": {Any: &restrict, TaintPolicy: policy.TaintPolicy{Owner: &restrict}}},
		Tools:         map[string]policy.Tool{"pay": {Destructive: &yes}}, Scope: policy.Scope{Exclude: []string{"x"}},
	}
	text, err := config.WritePolicy(given)
	if err != nil {
		t.Fatal(err)
	}
	read, err := config.ParsePolicy([]byte(text))
	if err != nil || !reflect.DeepEqual(read, given) {
		t.Errorf("%s\nis read as %+v, %v", text, read, err)
	}
}

func TestAPolicyAloneHoldsNothingElse(t *testing.T) {
	for _, text := range []string{
		"ownerToken: file:/etc/passwd", "webhook:\n  secrets: [\"env:HOME\"]", "channels: {}", "store: {url: x}", "listen: 127.0.0.1:1",
		"profile: [1]", "taintPolicy: {extern: allow}", "a: &a [1]\nb: *a", "- 1", "profile: default\nprofile: strict",
	} {
		if c, err := config.ParsePolicy([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "policy:") || !reflect.DeepEqual(c, policy.Config{}) {
			t.Errorf("%q is read as %+v, %v", text, c, err)
		}
	}
}

func FuzzParsePolicy(f *testing.F) {
	f.Add("profile: paranoid\ntoolOverrides: {exec: {\"*\": restrict}}")
	f.Add("a: &a [*a]")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := config.ParsePolicy([]byte(text)); err != nil && !reflect.DeepEqual(c, policy.Config{}) {
			t.Fatalf("%q: %+v, %v", text, c, err)
		}
	})
}
