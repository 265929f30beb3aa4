package main

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/openclaw-verifier/verifier/config"
)

// repository reads a file of the repository.
func repository(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// instruction is a line of a Dockerfile.
type instruction struct{ name, rest string }

// stages are the instructions of a Dockerfile, by FROM.
func stages(text string) (out [][]instruction) {
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		if name == "FROM" {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], instruction{name, strings.TrimSpace(rest)})
	}
	return out
}

// only is what the one instruction of that name says.
func only(t *testing.T, stage []instruction, name string) string {
	t.Helper()
	var found []string
	for _, i := range stage {
		if i.name == name {
			found = append(found, i.rest)
		}
	}
	if len(found) != 1 {
		t.Fatalf("the stage has %d %s: %q", len(found), name, found)
	}
	return found[0]
}

// There is no Docker in our tests. What can be said without it: the Dockerfile fits the repository, the product's defaults and
// scripts/test-container, which runs the same without Docker.
func TestTheDockerfileFitsTheProduct(t *testing.T) {
	all := stages(repository(t, "Dockerfile"))
	if len(all) != 2 {
		t.Fatalf("it has %d stages", len(all))
	}
	build, image := all[0], all[1]
	module := repository(t, "go.mod")
	golang, _, _ := strings.Cut(strings.TrimPrefix(only(t, build, "FROM"), "golang:"), " ")
	if !strings.Contains(module, "\ngo "+golang+".") {
		t.Errorf("it builds with Go %s, which is not the one of go.mod", golang)
	}
	if only(t, image, "FROM") != "scratch" || only(t, image, "ENTRYPOINT") != `["/verifier"]` || only(t, image, "CMD") != `["serve"]` {
		t.Errorf("the image is %q", image)
	}
	user := only(t, image, "USER")
	state := only(t, image, "VOLUME")
	if user != "65532:65532" || only(t, image, "ENV") != "VERIFIER_STATE="+state {
		t.Errorf("user %s, state in %s", user, state)
	}
	_, port, err := net.SplitHostPort(config.Default().Listen)
	if err != nil || only(t, image, "EXPOSE") != port {
		t.Errorf("it exposes %s, the product listens on %s: %v", only(t, image, "EXPOSE"), port, err)
	}
	knownInstructions(t, build, image)
	copies(t, build, image, user, state)
	script := repository(t, "scripts/test-container")
	for _, must := range []string{"--userspec=" + user, "VERIFIER_STATE=" + state + " ", `"$root` + state + `"`, "remount,ro", "-m 0700 -o 65532 -g 65532", "packaging/docker/published.yaml"} {
		if !strings.Contains(script, must) {
			t.Errorf("scripts/test-container does not run what the image is: it lacks %s", must)
		}
	}
}

func knownInstructions(t *testing.T, all ...[]instruction) {
	t.Helper()
	known := []string{"FROM", "WORKDIR", "COPY", "RUN", "ARG", "USER", "ENV", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"}
	for _, stage := range all {
		for _, i := range stage {
			if !slices.Contains(known, i.name) {
				t.Errorf("%s is no instruction that this test knows", i.name)
			}
		}
	}
}

// copies: what the image takes from the build is there, and belongs to the user where the user writes.
func copies(t *testing.T, build, image []instruction, user, state string) {
	t.Helper()
	made := []string{"/etc/ssl/certs/ca-certificates.crt", "/src/bin/verifier", "/src/bin/verifier-hook"} // by golang:, and by make build
	var commands []string
	for _, i := range build {
		if i.name == "RUN" {
			commands = append(commands, i.rest)
		}
	}
	if !slices.ContainsFunc(commands, func(c string) bool {
		return strings.Contains(c, "make build ") && strings.HasSuffix(c, "install -d -m 0700 /state/verifier")
	}) {
		t.Errorf("the build runs %q", commands)
	}
	owned := false
	for _, i := range image {
		if i.name != "COPY" {
			continue
		}
		words := strings.Fields(i.rest)
		var from []string
		for _, w := range words[:len(words)-1] {
			if !strings.HasPrefix(w, "--") {
				from = append(from, w)
			}
		}
		if !slices.Contains(words, "--from=build") {
			t.Errorf("COPY %s takes nothing from the build", i.rest)
		}
		for _, f := range from {
			switch in, here := strings.CutPrefix(f, "/src/"); {
			case f == "/state/":
				owned = slices.Contains(words, "--chown="+user) && words[len(words)-1]+"verifier" == state
			case slices.Contains(made, f):
			case here:
				repository(t, in)
			default:
				t.Errorf("COPY %s: nothing makes %s", i.rest, f)
			}
		}
	}
	if !owned {
		t.Error("the state directory is not the user's")
	}
}

// composeFile is all that compose.yaml may hold: another key is an error, since no test would look at it.
type composeFile struct {
	Name     string `yaml:"name"`
	Services map[string]struct {
		Build       string   `yaml:"build"`
		Image       string   `yaml:"image"`
		Command     []string `yaml:"command"`
		Restart     string   `yaml:"restart"`
		Ports       []string `yaml:"ports"`
		Volumes     []string `yaml:"volumes"`
		ReadOnly    bool     `yaml:"read_only"`
		CapDrop     []string `yaml:"cap_drop"`
		SecurityOpt []string `yaml:"security_opt"`
	} `yaml:"services"`
	Volumes map[string]any `yaml:"volumes"`
}

// What the compose file says fits the Dockerfile, the config that it names, and the page of five minutes.
func TestTheComposeFileFitsTheImage(t *testing.T) {
	var f composeFile
	if err := yaml.UnmarshalWithOptions([]byte(repository(t, "compose.yaml")), &f, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	s, image := f.Services["verifier"], stages(repository(t, "Dockerfile"))[1]
	port := only(t, image, "EXPOSE")
	if len(f.Services) != 1 || s.Build != "." || !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}) {
		t.Errorf("the container is open: %+v", s)
	}
	if !slices.Equal(s.Ports, []string{"127.0.0.1:" + port + ":" + port}) {
		t.Errorf("others can reach %v", s.Ports)
	}
	name, path, _ := strings.Cut(strings.Join(s.Volumes, "\n"), ":")
	if _, known := f.Volumes[name]; !known || len(f.Volumes) != 1 || path != only(t, image, "VOLUME") {
		t.Errorf("the volume %s is not where the image keeps its state", s.Volumes)
	}
	if len(s.Command) != 3 || s.Command[0] != "serve" || s.Command[1] != "--config" {
		t.Fatalf("it runs %q", s.Command)
	}
	at := s.Command[2]
	if !strings.Contains(repository(t, "Dockerfile"), "packaging/docker/published.yaml "+at+"\n") {
		t.Errorf("the image has no %s", at)
	}
	cfg, _, err := config.Parse(at, []byte(repository(t, "packaging/docker/published.yaml")), os.LookupEnv, nil)
	if err != nil || cfg.Listen != "0.0.0.0:"+port || cfg.Web.URL != "http://127.0.0.1:"+port {
		t.Errorf("the config: %+v, %v", cfg, err)
	}
	page := repository(t, "docs/installation.md")
	for _, must := range []string{"`" + f.Name + "_" + name + "`", "docker compose exec verifier /verifier login", "verifier:" + path + "/webhook.secret", "`" + at + "`", "port " + port, "user 65532"} {
		if !strings.Contains(page, must) {
			t.Errorf("docs/installation.md does not say %s", must)
		}
	}
}
