package hook

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
)

var writeDocs = flag.Bool("docs", false, "write the list of secrets of the plugin for OpenClaw")

// TestDocsThePluginForOpenClawHasTheSameList: it is written from ours, in the plugin's language. That one's patterns must not look ahead for ever.
func TestDocsThePluginForOpenClawHasTheSameList(t *testing.T) {
	const path, begin, end = "../integrations/openclaw/secrets.js", "const forms = [\n", "];\n"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(b), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no list", path)
	}
	var list strings.Builder
	for _, f := range secretForms() {
		list.WriteString("\t/" + strings.NewReplacer("/", `\/`, "{8,}", "{8,8192}").Replace(f.Pattern) + "/")
		if f.AnyCase {
			list.WriteByte('i')
		}
		list.WriteString(",\n")
	}
	want := before + begin + list.String() + end + after
	if *writeDocs {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(b) {
		t.Error("the plugin's list is another one: run make docs")
	}
}

// TestSecretsAreThoseOfTheGateway: the gateway and the plugin for OpenClaw are held to the same file.
func TestSecretsAreThoseOfTheGateway(t *testing.T) {
	b, err := os.ReadFile("../docs/spec/secret-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Text   string `json:"text"`
			Secret bool   `json:"secret"`
		} `json:"vectors"`
	}
	if err := json.Unmarshal(b, &file); err != nil || len(file.Vectors) < 20 {
		t.Fatal(err, len(file.Vectors))
	}
	for _, v := range file.Vectors {
		if got := bearsSecret(v.Text); got != v.Secret {
			t.Errorf("%q: %v", v.Text, got)
		}
	}
}
