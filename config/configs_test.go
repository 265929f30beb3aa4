package config_test

import (
	"os"
	"strings"
	"testing"
)

// TestConfigs reads the configs of configs.txt.
func TestConfigs(t *testing.T) {
	file, err := os.ReadFile("testdata/configs.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.NewReplacer(`\n`, "\n", `\t`, "\t")
	for n, line := range strings.Split(string(file), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		verdict, rest, _ := strings.Cut(line, " | ")
		at := strings.LastIndex(rest, " | ")
		if at < 0 {
			t.Fatalf("configs.txt:%d: want `verdict | file | words`: %s", n+1, line)
		}
		text, want := lines.Replace(rest[:at]), lines.Replace(rest[at+3:])
		got := ""
		switch verdict {
		case "refuse":
			got = refusals(t, text)
		case "warn", "ok", "fine":
			_, findings := parse(t, text)
			if got = found(findings); verdict == "fine" && got != "" {
				t.Errorf("configs.txt:%d: %s\n%s", n+1, got, text)
			}
		default:
			t.Fatalf("configs.txt:%d: what is %q?", n+1, verdict)
		}
		if !strings.Contains(got, want) {
			t.Errorf("configs.txt:%d:\n%s\ngot\n%swant\n%s", n+1, text, got, want)
		}
	}
}
