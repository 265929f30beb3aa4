package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/openclaw-verifier/verifier/config"
)

// What the compose file says fits the Dockerfile and the config that it names. scripts/test-container runs it without Docker.
func TestTheComposeFileFitsTheImage(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var f struct {
		Services map[string]struct {
			Command  []string `yaml:"command"`
			Ports    []string `yaml:"ports"`
			Volumes  []string `yaml:"volumes"`
			ReadOnly bool     `yaml:"read_only"`
			CapDrop  []string `yaml:"cap_drop"`
		} `yaml:"services"`
		Volumes map[string]any `yaml:"volumes"`
	}
	if err := yaml.Unmarshal([]byte(read("compose.yaml")), &f); err != nil {
		t.Fatal(err)
	}
	s, image := f.Services["verifier"], read("Dockerfile")
	if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.Ports, []string{"127.0.0.1:8787:8787"}) {
		t.Errorf("the container is open: %+v", s)
	}
	name, path, _ := strings.Cut(s.Volumes[0], ":")
	if _, known := f.Volumes[name]; !known || !strings.Contains(image, "\nVOLUME "+path+"\n") || !strings.Contains(image, "ENV VERIFIER_STATE="+path+"\n") {
		t.Errorf("the volume %s is not where the image keeps its state", s.Volumes[0])
	}
	at := s.Command[len(s.Command)-1]
	if !strings.Contains(image, "packaging/docker/published.yaml "+at+"\n") || !strings.Contains(image, "\nEXPOSE 8787\n") {
		t.Errorf("the image has no %s", at)
	}
	cfg, _, err := config.Parse(at, []byte(read("packaging/docker/published.yaml")), os.LookupEnv, nil)
	if err != nil || cfg.Listen != "0.0.0.0:8787" || cfg.Web.URL != "http://127.0.0.1:8787" {
		t.Errorf("the config: %+v, %v", cfg, err)
	}
}
