package packaging_test

import (
	"crypto/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

// repository reads a file of the repository.
func repository(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// setting is how a line begins that sets something, in a unit, a Dockerfile or YAML.
var setting = regexp.MustCompile(`^[\w.]+[=: ]`)

// TestShippedFilesFitEachOther reads shipped.txt: there is no Docker in our tests, and systemd not everywhere.
// scripts/test-container runs the image's programs as the image does.
func TestShippedFilesFitEachOther(t *testing.T) {
	for n, row := range strings.Split(repository(t, "packaging/testdata/shipped.txt"), "\n") {
		if row == "" || row[0] == '#' {
			continue
		}
		parts := strings.Split(row, " | ")
		if len(parts) != 4 {
			t.Fatalf("shipped.txt:%d: want `verdict | files | text | why`", n+1)
		}
		for _, file := range strings.Split(parts[1], ",") {
			text, want := repository(t, file), strings.ReplaceAll(parts[2], `\n`, "\n")
			lines, same := 0, 0
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); line == want {
					lines++
				}
				if begin := setting.FindString(want); begin != "" && strings.HasPrefix(line, begin) {
					same++
				}
			}
			ok := false
			switch parts[0] {
			case "line":
				ok = lines > 0
			case "only":
				ok = lines == 1 && same == 1
			case "has":
				ok = strings.Contains(text, want)
			case "lacks":
				ok = !strings.Contains(text, want)
			}
			if !ok {
				t.Errorf("shipped.txt:%d: %s: %s %s: %s", n+1, file, parts[0], parts[2], parts[3])
			}
		}
	}
	if _, port, err := net.SplitHostPort(config.Default().Listen); err != nil || port != "8787" {
		t.Errorf("the product listens on %s: %v", port, err)
	}
	for _, below := range []string{"*", "*/*"} {
		if nested, err := filepath.Glob("../" + below + "/go.mod"); err != nil || len(nested) > 0 {
			t.Errorf("go install leaves out the directories of %q: %v", nested, err)
		}
	}
}

// TestShippedConfigsLoad: that of the image, and that of several gateways.
func TestShippedConfigsLoad(t *testing.T) {
	secrets := map[string]string{"VERIFIER_STORE": "redis://:" + rand.Text() + "@redis:6379/0"}
	env := func(name string) (string, bool) {
		if secrets[name] == "" {
			secrets[name] = rand.Text() + rand.Text()
		}
		return secrets[name], true
	}
	one, _, err := config.Parse("one", []byte(repository(t, "packaging/docker/published.yaml")), env, nil)
	if err != nil || one.Listen != "0.0.0.0:8787" || one.Web.URL != "http://127.0.0.1:8787" {
		t.Errorf("the image's: %+v, %v", one, err)
	}
	many, _, err := config.Parse("many", []byte(repository(t, "packaging/replicas/verifier.yaml")), env, nil)
	if err != nil || !many.Store.URL.Set() || !many.Store.Key.Set() {
		t.Errorf("that of several gateways: %v", err)
	}
	for name := range secrets {
		if !strings.Contains(repository(t, "packaging/replicas/compose.yaml"), name+":") {
			t.Errorf("the gateways are not given %s", name)
		}
	}
}

// systemd itself reads the units, where it is installed.
func TestSystemdTakesTheUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed; shipped.txt has what the units say")
	}
	for _, name := range []string{"packaging/verifier.service", "packaging/replicas/verifier@.service"} {
		// It wants to find the program, which is not installed here.
		text := strings.NewReplacer("/usr/local/bin/verifier ", "/bin/true ").Replace(repository(t, name))
		path := filepath.Join(t.TempDir(), strings.Replace(filepath.Base(name), "@", "@8787", 1))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", path).CombinedOutput(); err != nil || strings.Contains(string(out), filepath.Base(path)) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
