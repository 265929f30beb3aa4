package main

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/web/webtest"
)

const pageCatalogue = `{"tools":[
 {"name":"get_forecast","description":"Get the weather.","inputSchema":{"properties":{"day":{"type":"string","enum":["today"]}},"additionalProperties":false}},
 {"name":"send_note","description":"Send a note.","inputSchema":{"properties":{"to":{"type":"string"},"text":{"type":"string"}},"additionalProperties":false}},
 {"name":"delete_\u202e<b>x","description":"Delete <script>alert(1)</script>.","inputSchema":{"properties":{}}}]}`

// labelsRig is a gateway whose config includes the labels of a catalogue, with a person who is logged in.
func labelsRig(t *testing.T, edit func(*config.Config)) (v *visit, file string) {
	t.Helper()
	load, file := including(t, pageCatalogue)
	r := newRig(t, func(c *config.Config) {
		load(c)
		if edit != nil {
			edit(c)
		}
	})
	v = r.visit()
	v.enter(r.loginLink())
	return v, file
}

var labelForm = regexp.MustCompile(`(?s)<h2>([^\n]*)</h2>.*?name="label" value="([^"]*)"`)

// labelForms are the forms of the page, in its order.
func (v *visit) labelForms() (forms []url.Values, page string) {
	v.t.Helper()
	status, page := v.load(http.MethodGet, "/page/labels", nil)
	if status != http.StatusOK {
		v.t.Fatalf("%d\n%s", status, page)
	}
	for _, m := range labelForm.FindAllStringSubmatch(page, -1) {
		forms = append(forms, url.Values{"of": {m[1]}, "label": {m[2]}})
	}
	return forms, page
}

func (v *visit) answerLabel(form url.Values, answer string) (int, string) {
	v.t.Helper()
	form.Set("answer", answer)
	return v.load(http.MethodPost, "/page/labels", form)
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readOnly makes a directory one that no file can be made in, for root too.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() == 0 {
		if err := exec.CommandContext(t.Context(), "chattr", "+i", dir).Run(); err != nil {
			t.Skipf("this file system can't keep root from writing: %v", err)
		}
		t.Cleanup(func() {
			if err := exec.CommandContext(context.Background(), "chattr", "-i", dir).Run(); err != nil {
				t.Error(err)
			}
		})
		return
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
}

// TestThePageShowsLabelsWorstFirst: what lets most pass comes first. A yes and a no are kept in the file as --review keeps them, with its
// mode; what the owner wrote stays, and the gateway takes the change over.
func TestThePageShowsLabelsWorstFirst(t *testing.T) {
	t.Parallel()
	v, file := labelsRig(t, nil)
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	forms, page := v.labelForms()
	if len(forms) != 3 || forms[0].Get("of") != "get_forecast" || forms[1].Get("of") != "send_note" || !strings.Contains(page, "3 of 3 labels") {
		t.Fatalf("%v\n%s", forms, page)
	}
	if status, page := v.answerLabel(forms[1], "right"); status != http.StatusOK || !strings.Contains(page, "send_note: the label is right.") {
		t.Errorf("%d\n%s", status, page)
	}
	status, page := v.answerLabel(forms[0], "strict")
	if status != http.StatusOK || !strings.Contains(page, "get_forecast is strict") || !strings.Contains(page, "1 of 3 labels") {
		t.Errorf("%d\n%s", status, page)
	}
	text := readFile(t, file)
	if !strings.Contains(labelOf(text, "get_forecast"), "get_forecast: {source: true, sink: true} # yours") || !strings.HasSuffix(labelOf(text, "send_note"), " reviewed") {
		t.Errorf("the file:\n%s", text)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".new-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	said := ""
	for _, e := range v.entries() {
		said += e.Note + " " + e.Tool + "\n"
	}
	if !strings.Contains(said, "makes a label strict on the page get_forecast") || !strings.Contains(said, "calls a label right on the page send_note") {
		t.Errorf("the record says\n%s", said)
	}
}

// TestLabelsInARealBrowser: at the width of a phone, by a finger.
func TestLabelsInARealBrowser(t *testing.T) {
	t.Parallel()
	load, file := including(t, pageCatalogue)
	s := &surf{rig: newRig(t, load), browser: webtest.Start(t)}
	tab := s.login(webtest.Phone)
	s.open(tab, "labels")
	tab.Text("3 of 3 labels")
	s.check(tab, "labels")
	if *gallery != "" {
		tab.Shot(filepath.Join(*gallery, "labels-360.png"), true)
	}
	tab.Click(`ul.labels li:first-child button.deny`)
	tab.Text("get_forecast is strict")
	tab.Text("2 of 3 labels")
	if got := labelOf(readFile(t, file), "get_forecast"); !strings.HasSuffix(got, "# yours") {
		t.Errorf("the file has %q", got)
	}
}

// TestH555LabelsAreTheOwnersToAnswer: a person who may only look, another approver, a form without a session or from another origin, and an
// answer to a label that has changed meanwhile change nothing.
func TestH555LabelsAreTheOwnersToAnswer(t *testing.T) {
	t.Parallel()
	v, file := labelsRig(t, func(c *config.Config) {
		c.Approvers = append(c.Approvers, config.Approver{Name: "bob", Token: config.NewSecret(strings.Repeat("b", 40))})
	})
	forms, _ := v.labelForms()
	before := readFile(t, file)
	strict := forms[0]
	strict.Set("answer", "strict")

	looks := v.visit()
	looks.enter(v.loginLink("--viewer"))
	bob := v.visit()
	_, bob.session = bob.load(http.MethodPost, "/page/login", url.Values{"token": {strings.Repeat("b", 40)}})
	for name, other := range map[string]*visit{"who may look": looks, "another approver": bob, "no session": v.visit()} {
		if status, page := other.load(http.MethodPost, "/page/labels", strict); status == http.StatusOK {
			t.Errorf("%s: %d\n%s", name, status, page)
		}
	}
	if _, page := bob.load(http.MethodGet, "/page/labels", nil); strings.Contains(page, "No, strict</button>") || !strings.Contains(page, "Only the owner can answer here.") {
		t.Errorf("another approver is offered an answer:\n%s", page)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.url+"/page/labels", strings.NewReader(strict.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "https://evil.example")
	req.Header.Set("X-Verifier-Session", v.session)
	if a := exchange(t, v.client, req); a.status == http.StatusOK {
		t.Errorf("another origin: %d", a.status)
	}
	for _, wrong := range []url.Values{
		{"label": {"x"}, "answer": {"strict"}}, {"answer": {"strict"}}, {"label": strict["label"], "answer": {"safe"}}, {"label": strict["label"]},
	} {
		v.load(http.MethodPost, "/page/labels", wrong)
	}
	if readFile(t, file) != before {
		t.Errorf("the file was changed:\n%s", readFile(t, file))
	}
	if err := os.WriteFile(file, []byte(strings.Replace(before, "# \"get\" in its name", "# another reason", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := readFile(t, file)
	if _, page := v.load(http.MethodPost, "/page/labels", strict); changed == before || !strings.Contains(page, "has changed since") || readFile(t, file) != changed {
		t.Errorf("a label that has changed was answered:\n%s", readFile(t, file))
	}
}

// TestH556AToolsWordsAreLiteralOnThePageOfLabels: its name and its reasons can neither format nor hide.
func TestH556AToolsWordsAreLiteralOnThePageOfLabels(t *testing.T) {
	t.Parallel()
	v, _ := labelsRig(t, nil)
	_, page := v.labelForms()
	if strings.Contains(page, "<b>x") || strings.Contains(page, "<script>alert") || strings.Contains(page, "\u202e") || !strings.Contains(page, "delete_<mark>⟨U&#43;202E⟩</mark>&lt;b&gt;x") {
		t.Errorf("the page:\n%s", page)
	}
}

// TestH557AFileThatCannotBeWrittenIsSaid: in a directory that is only for reading, nothing changes, and the page prints the command.
func TestH557AFileThatCannotBeWrittenIsSaid(t *testing.T) {
	t.Parallel()
	v, file := labelsRig(t, nil)
	forms, _ := v.labelForms()
	before := readFile(t, file)
	readOnly(t, filepath.Dir(file))
	status, page := v.answerLabel(forms[0], "strict")
	if status != http.StatusOK || !strings.Contains(page, "so nothing was changed") || !strings.Contains(page, "verifier label --review --out ") {
		t.Errorf("%d\n%s", status, page)
	}
	if readFile(t, file) != before {
		t.Error("the file was changed")
	}
}
