package main

import (
	"crypto/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/openclaw-verifier/verifier/config"
)

func shipped(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../replicas/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// There is no Docker in our tests: what can be said without it is that the file
// is YAML and holds what the promises rest on.
func TestTheComposeFileHasTwoGatewaysAndARedisThatKeepsItsWord(t *testing.T) {
	type service struct {
		Command     []string          `yaml:"command"`
		Environment map[string]string `yaml:"environment"`
		Volumes     []string          `yaml:"volumes"`
		ReadOnly    bool              `yaml:"read_only"`
		Ports       []string          `yaml:"ports"`
	}
	var f struct {
		Services map[string]service `yaml:"services"`
		Volumes  map[string]any     `yaml:"volumes"`
	}
	if err := yaml.UnmarshalWithOptions([]byte(shipped(t, "compose.yaml")), &f, yaml.AllowDuplicateMapKey()); err != nil {
		t.Fatal(err)
	}
	one, two, redis := f.Services["one"], f.Services["two"], strings.Join(f.Services["redis"].Command, " ")
	if !slices.Equal(one.Command, two.Command) || len(two.Environment) != 4 || !two.ReadOnly || len(one.Volumes) != 2 || slices.Equal(one.Volumes, two.Volumes) {
		t.Errorf("the gateways are\n%+v\n%+v", one, two)
	}
	for _, must := range []string{"--appendonly yes", "--appendfsync always", "noeviction", "--requirepass"} {
		if !strings.Contains(redis, must) {
			t.Errorf("Redis is started without %s: %s", must, redis)
		}
	}
	for _, s := range f.Services {
		for _, v := range s.Volumes {
			name, _, _ := strings.Cut(v, ":")
			if _, known := f.Volumes[name]; !known && !strings.HasPrefix(name, "./") {
				t.Errorf("nobody declares the volume %s", name)
			}
		}
	}
	if got := f.Services["proxy"].Ports; len(got) != 1 || !strings.HasPrefix(got[0], "127.0.0.1:") || one.Ports != nil {
		t.Errorf("others can reach %v %v", got, one.Ports)
	}
	variables := map[string]string{}
	for name := range one.Environment {
		variables[name] = rand.Text() + rand.Text()
	}
	variables["VERIFIER_STORE"] = "redis://:" + rand.Text() + "@redis:6379/0"
	cfg, findings, err := config.Parse("verifier.yaml", []byte(shipped(t, "verifier.yaml")), func(name string) (string, bool) {
		v, ok := variables[name]
		return v, ok
	}, nil)
	if err != nil || !cfg.Store.URL.Set() || !cfg.Store.Key.Set() {
		t.Errorf("the gateways' config: %v, %v", err, findings)
	}
}

// The unit for several is the unit for one but for what must differ.
func TestTheUnitForReplicasIsAsClosedAsTheOther(t *testing.T) {
	text, err := os.ReadFile("../verifier.service")
	if err != nil {
		t.Fatal(err)
	}
	many := shipped(t, "verifier@.service")
	for line := range strings.Lines(string(text)) {
		name, _, isSetting := strings.Cut(line, "=")
		if isSetting && !strings.HasPrefix(line, "#") && !slices.Contains([]string{"Description", "After", "ExecStart", "StateDirectory"}, name) && !strings.Contains(many, "\n"+line) {
			t.Errorf("verifier@.service lacks %s", line)
		}
	}
	for _, must := range []string{"--state /var/lib/verifier/%i", "--listen 127.0.0.1:%i", "StateDirectory=verifier/%i"} {
		if !strings.Contains(many, must) {
			t.Errorf("verifier@.service lacks %s", must)
		}
	}
}
