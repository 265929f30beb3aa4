package label_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/label"
)

// unseen is one tool of testdata/unseen.txt: whether it acts (A), reveals (S), looks (H), or acts and doesn't say so (K).
type unseen struct {
	truth string
	tool  label.Tool
}

var argument = regexp.MustCompile(`([^;:=]+)(?::([a-z])(?:\(([^)]*)\))?)?(?:=([^;]*))?`)

// schemaOf writes the schema for the arguments of a line.
func schemaOf(arguments string) map[string]any {
	properties := map[string]any{}
	for _, a := range argument.FindAllStringSubmatch(arguments, -1) {
		p := map[string]any{"type": "string"}
		switch a[2] {
		case "n":
			p["type"] = "number"
		case "b":
			p["type"] = "boolean"
		case "d":
			p["format"] = "date-time"
		case "a":
			p = map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
		case "o":
			p["type"] = "object"
		case "r":
			p = map[string]any{"$ref": "#/$defs/X"}
		case "e":
			p["enum"] = strings.Split(a[3], ",")
		}
		if a[4] != "" {
			p["description"] = a[4]
		}
		properties[a[1]] = p
	}
	return map[string]any{"type": "object", "properties": properties}
}

// readUnseen reads the catalogues in the form that each of them has.
func readUnseen(t *testing.T) (all []unseen) {
	t.Helper()
	text, err := os.ReadFile("testdata/unseen.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, catalogue := range strings.Split(string(text), "\n## ")[1:] {
		lines := strings.Split(strings.TrimSpace(catalogue), "\n")
		_, form, _ := strings.Cut(lines[0], " ")
		truth := map[string]string{}
		var tools []any
		for _, line := range lines[1:] {
			f := strings.Split(line, "|")
			truth[f[1]] = f[0]
			schema, description := schemaOf(f[3]), strings.ReplaceAll(f[2], `\n`, "\n")
			tools = append(tools, map[string]any{
				"mcp":       map[string]any{"name": f[1], "description": description, "inputSchema": schema, "annotations": map[string]bool{"readOnlyHint": true}},
				"openai":    map[string]any{"type": "function", "function": map[string]any{"name": f[1], "description": description, "parameters": schema}},
				"anthropic": map[string]any{"name": f[1], "description": description, "input_schema": schema},
			}[form])
		}
		written, err := json.Marshal(map[string]any{"tools": tools})
		if err != nil {
			t.Fatal(err)
		}
		read, err := label.Read(strings.NewReader(string(written)))
		if err != nil || len(read) != len(tools) {
			t.Fatalf("%s: %d of %d tools, %v", lines[0], len(read), len(tools), err)
		}
		for i := range read {
			all = append(all, unseen{truth[read[i].Name], read[i]})
		}
	}
	return all
}

// TestH706CataloguesThatWereNeverSeen: what acts is not proposed as safe, what reveals is a secret or acts, and of what only looks most is safe.
func TestH706CataloguesThatWereNeverSeen(t *testing.T) {
	t.Parallel()
	counts, strict := map[string]int{}, 0
	for _, u := range readUnseen(t) {
		p := label.Propose(&u.tool)
		counts[u.truth]++
		switch safe := is(p.Label.Safe); {
		case u.truth == "A" && (safe || !is(p.Label.Sink) || is(p.Label.Completes) && u.tool.Name != "submit_code_b"):
			t.Errorf("it acts, and is proposed as %+v: %s, %q", p.Label, u.tool.Name, u.tool.Description)
		case u.truth == "S" && safe && !is(p.Label.Secret):
			t.Errorf("it reveals, and is no secret: %s, %q", u.tool.Name, u.tool.Description)
		case u.truth == "K" && !safe:
			t.Errorf("%s is no longer proposed as safe: write A", u.tool.Name)
		case u.truth == "H" && !safe:
			strict++
		}
	}
	if counts["A"] < 410 || counts["S"] < 15 || counts["K"] > 10 || counts["H"] < 45 || strict > 8 {
		t.Errorf("%v, of those that look %d are strict", counts, strict)
	}
}

// acts fails for each tool that is proposed as safe.
func acts(t *testing.T, tools ...*label.Tool) {
	t.Helper()
	for _, tool := range tools {
		if p := label.Propose(tool); is(p.Label.Safe) || !is(p.Label.Sink) || is(p.Label.Completes) {
			t.Errorf("%s, %q, %+v: %+v", tool.Name, tool.Description, tool.Params, p.Label)
		}
	}
}

// TestH707AWordThatIsNotKnown: a verb that no list has, another language in plain letters, two words in one, a dash or brackets before the act.
func TestH707AWordThatIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, description := range []string{
		"Gets x and remits it.", "Gets x, burning it.", "Gets x; evicts it.", "Gets x (pings the owner)", "Gets x\n- emails its owner", "Gets x, pings owner, files ticket.", "Gets x, auto-deletes it.", "Gets x (read/write).", "Gets x, reply to all.",
		"Get x und loescht danach die Akte.", "Find x og slet ham.", "Get x y lo cancela.", "Get x, puis suppression.", "Check x en keur het goed.", "Get x by beeping.", "Gets x. If absent, one is set up.",
	} {
		acts(t, one(t, "get_x", description, takes("id"), ""))
	}
}

// TestH708AFurtherSentence says what else happens, with words that are harmless one by one.
func TestH708AFurtherSentence(t *testing.T) {
	t.Parallel()
	for _, description := range []string{
		"Gets x. The customer gets a text.", "Gets x. You become an owner.", "Gets x. Subscribers receive it too.", "Gets x. USD 35 each.", "Gets x: the same order, the same card.", "Gets x; the owner knows.", "Gets x. It calls the owner.",
	} {
		acts(t, one(t, "get_x", description, takes("id"), ""))
	}
}

// TestH716ASecondActInHarmlessWords: a word that is as often the name of a thing, behind "and", a comma, a stroke, a dash or at the start of a line.
func TestH716ASecondActInHarmlessWords(t *testing.T) {
	t.Parallel()
	for _, description := range []string{
		"Get x and email customers.", "Get x and open tickets.", "Get x, schedule meetings, share files.", "Get/share x.", "Check/open x.", "Get messages, - report them.", "Get messages (reports them).",
		"Get x\nEmails customers", "Get x\nShare files", "Find x and restrict.", "Find x and ship.", "Get x from example.com. The customer gets a text.",
	} {
		acts(t, one(t, "get_x", description, takes("id"), ""))
	}
}

// TestH709ATruthValueAListOrANumberActs: what such an argument switches on, chooses or orders.
func TestH709ATruthValueAListOrANumberActs(t *testing.T) {
	t.Parallel()
	for _, property := range []string{
		`"fix":{"type":"boolean"}`, `"prune":{"type":"boolean"}`, `"email":{"type":"boolean"}`, `"hold":{"type":"boolean"}`, `"dry_run":{"type":"boolean"}`, `"shred":{"type":"boolean"}`, `"delivery":{"enum":["online","email","fax"]}`,
		`"then":{"enum":["keep","trash"]}`, `"qty":{"type":"number"}`, `"degrees":{"type":"integer"}`, `"amount":{"type":"number"}`,
		`"release":{"anyOf":[{"type":"boolean"},{"type":"null"}]}`, `"release":{"type":["boolean","null"]}`, `"seats":{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `"mode":{"enum":["peek","snooze"]}`, `"fix":{"enum":["yes","no"]}`,
		`"full":{"type":"boolean","description":"Also snoozes the alarms."}`, `"return_order":{"type":"boolean"}`, `"use_credit":{"type":"boolean"}`, `"1":{"type":"boolean"}`, `"_":{"type":"string"}`, `"2":{"enum":["a"]}`,
	} {
		acts(t, one(t, "get_report", "Get a report.", `{"type":"object","properties":{"id":{"type":"string"},`+property+`}}`, ""))
	}
	for _, property := range []string{`"include_archived":{"type":"boolean"}`, `"unread_only":{"type":"boolean"}`, `"format":{"enum":["json","csv"]}`, `"limit":{"type":"number"}`} {
		if !is(label.Propose(one(t, "get_report", "Get a report.", `{"type":"object","properties":{"id":{"type":"string"},`+property+`}}`, "")).Label.Safe) {
			t.Errorf("%s only chooses what is shown", property)
		}
	}
}

// TestH710AnArgumentGoesSomewhere: a file that is written, a host that is asked, an address whose words are not set apart or are of another language, a query language.
func TestH710AnArgumentGoesSomewhere(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields("local_path outfile output_path save_dir destination callbackurl notifyurl sendto receiver share_with copyTo s3 correo empfaenger destinataire enviar_a mailadresse pipeline where dax spl statement mirror distribution_list") {
		acts(t, one(t, "get_report", "Get a report.", takes("id", name), ""))
	}
	acts(t, one(t, "lookup_domain", "Look up a domain.", takes("domain"), ""), one(t, "check_port", "Check a port.", takes("host"), ""), one(t, "search_splunk", "Searches Splunk.", takes("query"), ""),
		one(t, "list_rows", "List rows.", `{"type":"object","properties":{"filter":{"type":"string","description":"A SQL condition"}}}`, ""))
}

// TestH711GettingIsNotLooking: what is ordered, fetched, ticked, put up for sale, shown to others, or done to a list.
func TestH711GettingIsNotLooking(t *testing.T) {
	t.Parallel()
	for name, description := range map[string]string{
		"get_cash": "Get cash.", "get_access": "Get file access for a guest.", "get_node": "Get a node into the pool.", "get_issue": "Get an issue done.", "get_in": "Get in.", "get_level": "Get the temperature to a level.",
		"check_item": "Check item.", "check_stop": "Check stop payment.", "list_job": "List job.", "list_token": "List token.", "list.clear": "List clear.", "view.refresh": "View refresh.", "get.set": "Get value and set.",
		"show_tab": "Show a tab.", "read_story": "Read a story to people.", "describe_patient": "Describe patient to the doctor.", "get_payout_now": "Get payout now.",
	} {
		acts(t, one(t, name, description, takes("id"), ""))
	}
}

// TestH712OnlyPlainWordsAreSaidOfACode: a tool for entering a code whose description says more, in whatever language, completes nothing.
func TestH712OnlyPlainWordsAreSaidOfACode(t *testing.T) {
	t.Parallel()
	for _, description := range []string{
		"Confirma el codigo y paga el pedido.", "Enter code. Acepta la compra.", "Confirm a code. The locker springs open.", "Code bestaetigen und Tuer oeffnen.", "Submit the code, crediting its holder.", "Valide le code et vire la somme.",
		"Enter the code to complete the checkout.",
	} {
		for _, name := range []string{"submit_code", "enter_sms_code", "confirm_code"} {
			acts(t, one(t, name, description, takes("code"), `,"annotations":{"readOnlyHint":false}`))
			acts(t, one(t, name, "Submit the code.", `{"type":"object","properties":{"code":{"type":"string","description":"`+description+`"}}}`, ""))
		}
	}
	if !is(label.Propose(one(t, "submit_code", "Submit the verification code that was sent to you by email.", takes("code"), "")).Label.Completes) {
		t.Error("a code that is only a code is not proposed as one that completes")
	}
}

// TestH713ATextThatIsObeyed: what is written to a terminal, a device or an agent is no content: another text is another act.
func TestH713ATextThatIsObeyed(t *testing.T) {
	t.Parallel()
	for name, description := range map[string]string{
		"send_text": "Sends text to the terminal.", "send_message": "Sends a message to an MQTT device.", "message_agent": "Writes to it.", "reply": "Replies to a process that waits on stdin.", "send_keys_message": "Sends keystrokes.",
	} {
		if p := label.Propose(one(t, name, description, takes("target", "text", "message"), "")); len(p.Label.Content) > 0 {
			t.Errorf("%s: %+v", name, p.Label)
		}
	}
	if p := label.Propose(one(t, "send_message", "Sends a message to a channel.", takes("channel", "text"), "")); !slices.Equal(p.Label.Content, []string{"text"}) {
		t.Errorf("%+v", p.Label)
	}
}

// TestH714WhatOpensSomethingIsASecret, under whichever of its names.
func TestH714WhatOpensSomethingIsASecret(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields("get_mnemonic get_seed get_recovery_phrase get_keystore get_xprv get_backup_codes get_cookies get_kubeconfig get_ssh_key get_connection_string list_env get_card_pin get_cvc export_mnemonic") {
		if !is(label.Propose(one(t, name, "", takes("id"), "")).Label.Secret) {
			t.Errorf("%s is no secret", name)
		}
	}
}

// text is a value in JSON.
func text(t *testing.T, value any) string {
	t.Helper()
	written, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(written)
}
