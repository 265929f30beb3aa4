package config

import (
	"encoding"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	discordchat "github.com/openclaw-verifier/verifier/channels/discord"
	slackchat "github.com/openclaw-verifier/verifier/channels/slack"
	telegramchat "github.com/openclaw-verifier/verifier/channels/telegram"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// Key is what docs/configuration.md says about one key of the file.
type Key struct {
	// Path is dotted, as in the file. <name> is a key of the reader's
	// choice, [] for an entry of a list.
	Path string
	// Default is the value that holds where the key is absent. Where [Default]
	// has one, it is there and not in the table.
	Default any
	// Unset says in words what holds where the key is absent and no value says it.
	Unset string
	// Words are the only values, for a text whose type does not say so.
	Words []string
	// Text is what the key means, in Markdown.
	Text string
}

const inState = "in the state directory"

// keys is the table, in the order in which one reads it.
var keys = []Key{
	{Path: "listen", Text: "address and port; if others can reach it, it needs `tls` or `insecurePublic`"},
	{Path: "tls", Unset: "nothing is encrypted", Text: "the server speaks HTTPS, TLS 1.2 or newer; both files are read again when they change"},
	{Path: "tls.cert", Text: "PEM file: the server's certificate, then those that lead to its authority"},
	{Path: "tls.key", Text: "PEM file of its private key, which only you may read"},
	{Path: "insecurePublic", Text: "others may reach `listen` although there is no `tls`: a proxy does the TLS, or something else keeps them out"},
	{Path: "trustedProxies", Unset: "none", Text: "addresses or ranges (`10.0.0.0/24`) whose `X-Forwarded-For` and `X-Request-Id` are believed"},
	{Path: "ownerToken", Unset: inState, Text: "anyone who has it sees and answers what waits"},
	{Path: "webhook", Text: "how calls come in"},
	{Path: "webhook.path", Text: "where calls are posted"},
	{Path: "webhook.secret", Unset: inState, Text: "signs the calls of the client `default`"},
	{Path: "webhook.secrets", Text: "the same, several while one is being replaced"},
	{Path: "webhook.clients", Text: "`{name: [secrets]}`: runtimes with secrets and conversations of their own"},
	{Path: "webhook.relayApprovals", Unset: "none are taken", Text: "`{client: [telegram]}`: approvals typed into the runtime's own chat are taken from this client and these platforms, on its word for who typed them. Only for chats in which the agent can't write as you; see [OpenClaw](openclaw.md#answering-in-openclaws-own-chat)"},
	{Path: "webhook.bearer", Text: "demanded in the `Authorization` header as well"},
	{Path: "webhook.tolerance", Text: "how far a call's timestamp may be off"},
	{Path: "webhook.hold", Text: "how long a call waits for a person"},
	{Path: "webhook.maxHold", Text: "the longest wait a caller may ask for with `waitMs`"},
	{Path: "scope", Unset: "all tools", Text: "which tools are judged: `include` or `exclude`. The others pass unasked, but still count and are recorded"},
	{Path: "scope.include", Text: "only these tools are judged"},
	{Path: "scope.exclude", Text: "all tools but these are judged"},
	{Path: "store", Text: "where state is kept"},
	{Path: "store.url", Unset: "SQLite in the state directory", Text: "`redis://…`, `rediss://…`, several hosts for Cluster, `redis+sentinel://…`; `?replicas=N`: how many must have a write before it counts (Sentinel: 1)"},
	{Path: "store.key", Unset: inState, Text: "the server key; instances that share a store must share it"},
	{Path: "profile", Default: "default", Words: policy.Profiles(), Text: "what the policy starts from"},
	{Path: "taintPolicy", Unset: "the profile's", Text: "mode by level for tools that nothing else names"},
	{Path: "toolOverrides", Text: "`{tool: {level or \"*\": mode}}`: your own modes for single tools"},
	{Path: "tools", Text: "`{tool: {…}}`: what single tools do, over the shipped table; a tool without a label brings outside content in and acts"},
	{Path: "tools.<id>.source", Unset: "as shipped, or `true`", Text: "what it returns was written by others; `false` counts as `local`"},
	{Path: "tools.<id>.sink", Unset: "as shipped, or `true`", Text: "it acts outside or changes something"},
	{Path: "tools.<id>.destinations", Unset: "unknown", Text: "params that say where it goes, whom it reaches or which thing it gives away; `[]` is none"},
	{Path: "tools.<id>.content", Unset: "as shipped, or none", Text: "params that only hold what is said: calls that differ in nothing else are like each other; any param that neither this nor `destinations` names counts as a destination"},
	{Path: "tools.<id>.destructive", Unset: "as shipped, or `false`", Text: "it can't be undone: it never passes unasked in a tainted conversation, and no grant covers it"},
	{Path: "tools.<id>.secret", Unset: "as shipped, or `false`", Text: "it bears secrets: no grant covers it, and the conversation holds secrets once it was called"},
	{Path: "tools.<id>.money", Unset: "`false`", Text: "it pays or orders: no grant covers it"},
	{Path: "tools.<id>.leaves", Unset: "as shipped; `true` for a sink that is not shipped", Text: "its arguments leave the machine: it asks once the conversation has read secrets, also where it is no sink"},
	{Path: "tools.<id>.safe", Unset: "as shipped, or `false`", Text: "it only looks, and passes at every level; only with `sink: false`"},
	{Path: "trust", Text: "how far tool output and unknown senders are trusted"},
	{Path: "trust.tools", Unset: "the shipped table", Text: "`{tool: level}`: how far a tool's output can be trusted"},
	{Path: "trust.unknownSender", Default: "untrusted", Text: "the level of a run whose sender we don't know"},
	{Path: "trust.directories", Unset: "all of them", Text: "the only directories whose files are your own; what is read elsewhere is `external`. A relative path is the agent's workspace"},
	{Path: "trust.rules", Text: "how far the output of calls can be trusted, by their arguments, see [below](#where-outputs-come-from); the first that fits counts"},
	{Path: "trust.rules[].tool", Text: "for calls of this tool"},
	{Path: "trust.rules[].host", Text: "whose address has this host; `*.corp.example` is every host below it"},
	{Path: "trust.rules[].path", Text: "that name this file, or one below this directory"},
	{Path: "trust.rules[].level", Text: "how far their output can be trusted"},
	{Path: "include", Unset: "none", Text: "files with labels of tools, such as [`verifier label`](policy.md#labels) writes; what `tools` says itself counts before them"},
	{Path: "mcp", Text: "about [MCP servers](mcp.md)"},
	{Path: "mcp.servers", Text: "by the name that you call a server, the one in the middle of `mcp__server__tool`. The shipped table lets tools pass only of servers that are here"},
	{Path: "mcp.servers.<id>.trust", Unset: "as shipped, or `untrusted`", Text: "what all tools of the server return, and its resources and prompts; `trust.tools` says it for one tool"},
	{Path: "taint", Text: "when a conversation counts as tainted"},
	{Path: "taint.from", Default: "external", Text: "from this level on, tools that act outside need a person (`untrusted` under `permissive`)"},
	{Path: "taint.secrets", Default: "ask", Text: "a conversation that has read secrets asks before anything leaves the machine, see [below](#secrets-that-the-agent-has-read); `off`: only what holds a secret asks"},
	{Path: "policies", Text: "rules of your own, which only tighten, see [below](#policies)"},
	{Path: "policies[].name", Text: "what the record and cards call it"},
	{Path: "policies[].when", Unset: "always", Text: "all of this must be so"},
	{Path: "policies[].when.context_taint_includes", Text: "the conversation is at one of these levels, or worse"},
	{Path: "policies[].when.iteration_gte", Text: "the turn is at this iteration, or later"},
	{Path: "policies[].when.tool", Unset: "every tool", Text: "it is a call of one of these tools"},
	{Path: "policies[].when.params", Text: "these params have these values"},
	{Path: "policies[].action", Text: "what happens then; `\"*\"` is every tool"},
	{Path: "policies[].action.remove_tools", Text: "these are not offered to the model, and refused without a reason"},
	{Path: "policies[].action.block_tools", Text: "these are refused, with `reason`"},
	{Path: "policies[].action.confirm_tools", Text: "a person is asked about these"},
	{Path: "policies[].action.block_turn", Text: "every call is refused, and the turn ends where the runtime asks"},
	{Path: "policies[].action.reason", Text: "what the agent reads"},
	{Path: "policies[].action.log_full_context", Text: "the log gets what the user said, the call without its secrets, and its hash; never tool output"},
	{Path: "policies[].action.persist_graph", Text: "the graph of the turn goes into the record"},
	{Path: "maxIterations", Default: 10, Text: "how often a run may call the model; then you are asked whether it may go on, see [below](#long-runs)"},
	{Path: "maxCalls", Default: 100, Text: "how many calls a run may make where the runtime does not count its iterations; then you are asked"},
	{Path: "agents", Text: "`{agentId: {…}}`: single agents are held tighter, never looser, and may have approvers and channels of their own"},
	{Path: "agents.<id>.approvers", Unset: "every approver", Text: "who may answer what this agent asks, by name"},
	{Path: "agents.<id>.channels", Unset: "all", Text: "where its questions are put; `terminal` is `verifier pending`"},
	{Path: "agents.<id>.taintPolicy", Text: "as `taintPolicy`, for this agent"},
	{Path: "agents.<id>.toolOverrides", Text: "as `toolOverrides`, for this agent"},
	{Path: "agents.<id>.scope", Unset: "the global one", Text: "more tools that are judged for this agent: `include` or `exclude`, never both; a tool of the global scope stays in it"},
	{Path: "agents.<id>.scope.include", Text: "these tools, besides those of the global scope"},
	{Path: "agents.<id>.scope.exclude", Text: "all tools but these, besides those of the global scope"},
	{Path: "agents.<id>.maxIterations", Unset: "the global one", Text: "as `maxIterations`, for this agent"},
	{Path: "approvers", Unset: "the owner token's holder", Text: "who may answer; with an empty list no person may, not even with the owner token"},
	{Path: "approvers[].name", Text: "what cards and the record call this person"},
	{Path: "approvers[]." + eachPlatform, Text: "this person's <title> user id, <looks>; never a name"},
	{Path: "approvers[].ids", Text: "the same in another spelling, `telegram:123456789`; `token:owner` is the owner token"},
	{Path: "approvers[].token", Text: "lets this person answer in the terminal"},
	{Path: "approvers[].passkeys", Text: "`true`: this person logs in on the page with a passkey; `verifier login --passkey --for <name>` prints the link by which they add the first"},
	{Path: "approvalTtlSeconds", Text: "how long a question may be answered, and how long a late yes is good"},
	{Path: "approval", Text: "limits of cards and grants"},
	{Path: "approval.maxMinutes", Default: 60, Text: "the longest grant"},
	{Path: "approval.maxOpen", Default: 5, Text: "cards of one conversation that may wait; the rest share one more"},
	{Path: "approval.approvals", Default: 1, Text: "how many different people must allow a call"},
	{Path: "approval.maxPromptsPerHour", Default: 60, Text: "questions of one agent that are put to people within an hour; past that, what needs a person is denied and you get one notice"},
	{Path: "approval.stepUp", Unset: "none", Text: "calls that only a [passkey](page.md#passkeys) allows, signed for this very call; chats and the terminal can deny them: `" + strings.Join(policy.Stakes(), "`, `") + "`"},
	{Path: "web", Text: "your page, at `/page/` of the server, see [the page](page.md)"},
	{Path: "web.enabled", Text: "`false`: there is no page"},
	{Path: "web.url", Unset: "by the server's address", Text: "where you open it, such as `https://verifier.lan`: where it has a name, or a proxy does the TLS"},
	{Path: "web.session", Text: "how long a login is good"},
	{Path: "notify", Text: "how you hear that a question waits where no chat shows it, see [notifications](page.md#notifications); none of these answers"},
	{Path: "notify.push", Text: "notifications of your page on phones and computers"},
	{Path: "notify.push.enabled", Text: "`false`: the page has none"},
	{Path: "notify.push.allow", Text: "`true`: a notification that shows all of a call has *Allow*, if the tool has a label, the call has no risk mark and outside content can't drive it; others only have *Deny*"},
	{Path: "notify.push.contact", Unset: "`web.url`", Text: "where a push service may write if something is wrong, such as `mailto:you@example.org`"},
	{Path: "notify.push.services", Unset: "none", Text: "push services of your own, such as `https://push.lan`: only these may be on this machine or a private network"},
	{Path: "notify.ntfy", Text: "a topic of an [ntfy](https://ntfy.sh) server; who runs the server can read the first line of each question"},
	{Path: "notify.ntfy.url", Unset: "none", Text: "such as `https://ntfy.sh/a-topic-that-is-hard-to-guess`"},
	{Path: "notify.ntfy.token", Unset: "none", Text: "where the server wants one"},
	{Path: "caution", Text: "a second model, which never sees what a tool returned, says whether a call fits what you asked for: see [the auditor](auditor.md)"},
	{Path: "caution.defaults", Text: "`false`: only the tools below make the auditor look"},
	{Path: "caution.tools", Unset: "the shipped table", Text: "`{tool: true or false}`: after which tools' results the auditor looks at what follows"},
	{Path: "caution.auditor", Text: "the model that is asked"},
	{Path: "caution.auditor.provider", Unset: "no auditor", Words: providers, Text: "what the server speaks; `openai` also for Ollama, vLLM and LM Studio"},
	{Path: "caution.auditor.baseUrl", Unset: "the provider's own server", Text: "where it is, such as `http://127.0.0.1:11434/v1`"},
	{Path: "caution.auditor.model", Text: "its name there; small and fast will do"},
	{Path: "caution.auditor.key", Unset: "none is sent", Text: "the server's API key"},
	{Path: "caution.auditor.timeoutMs", Text: "how long an answer may take, in milliseconds"},
	{Path: "caution.auditor.failMode", Text: "what no answer means for a call that would pass: `block`, `warn` (it passes, and the log says so) or `allow`"},
	{Path: "caution.auditor.mode", Text: "what an answer may do: `advise` (you read it on the card), `escalate` (it may stop what would pass), `autoApprove` (it may also answer for you where only the conversation's level asks)"},
	{Path: "redact", Text: "what is hidden from cards, logs and the record, besides what looks secret"},
	{Path: "redact.fields", Text: "more member names whose values are hidden"},
	{Path: "redact.patterns", Text: "more shapes to hide, see [below](#what-is-hidden)"},
	{Path: "redact.patterns[].name", Unset: "`own pattern`", Text: "what a finding says"},
	{Path: "redact.patterns[].regex", Text: "in Go's syntax; the group named `secret` is hidden, or all of the match"},
	{Path: "redact.patterns[].example", Text: "a text with such a secret, by which `check` tests the pattern"},
	{Path: "redact.showFileBodies", Text: "cards show what is written to files; secrets in it stay hidden. Logs and the record never have it"},
	{Path: "audit", Text: "how the record is kept"},
	{Path: "audit.path", Unset: "`record.jsonl` in the state directory", Text: "the record"},
	{Path: "audit.params", Text: "`names` keeps only what arguments are called"},
	{Path: "audit.sync", Text: "`each` survives a power cut, at the price of an fdatasync"},
	{Path: "audit.rotateMB", Text: "the record goes on in a new file once it has so many megabytes; 0 never"},
	{Path: "audit.keep", Unset: "all of them", Text: "how many closed files of the record stay; older ones are removed, and the record says so"},
	{Path: "log", Text: "the server's own log, on standard error"},
	{Path: "log.format", Text: "`json` for machines"},
	{Path: "log.level", Text: "the least that is written; `debug` adds every request"},
	{Path: "channels", Text: "<platforms>: where you are asked, see [channels](channels.md)"},
}

// eachPlatform is a placeholder for the name of any platform: the line is there once for
// each.
const eachPlatform = "<platform>"

// allKeys lists what there is to say about each key in a program that has these
// chats, defaults filled in.
func allKeys(chats platforms) []Key {
	var out []Key
	names := "`" + strings.Join(chats.names(), "`, `") + "`"
	for _, k := range keys {
		if strings.HasSuffix(k.Path, eachPlatform) {
			out = append(out, k.onEach(chats)...)
			continue
		}
		if v, ok := defaultAt(k.Path); ok {
			k.Default = v
		}
		k.Text = strings.ReplaceAll(k.Text, "<platforms>", names)
		out = append(out, k)
	}
	return out
}

// onEach says of every platform what the line says of any.
func (k Key) onEach(chats platforms) []Key {
	out := make([]Key, len(chats))
	for i, p := range chats {
		say := strings.NewReplacer(eachPlatform, p.Name, "<title>", p.Title, "<looks>", p.Looks)
		out[i] = Key{Path: say.Replace(k.Path), Text: say.Replace(k.Text)}
	}
	return out
}

// defaultAt is what [Default] holds at a path, as one would write it. A zero is
// no default but the absence of one, unless it is a switch that is off.
func defaultAt(path string) (any, bool) {
	v := reflect.ValueOf(Default()).Elem()
	for part := range strings.SplitSeq(path, ".") {
		if v.Kind() != reflect.Struct {
			return nil, false
		}
		at, ok := fieldsOf(v.Type())[part]
		if !ok {
			return nil, false
		}
		v = v.FieldByIndex(at)
	}
	switch d, span := v.Interface().(time.Duration); {
	case v.IsZero() && v.Kind() != reflect.Bool:
		return nil, false
	case span:
		return brief(d), true
	case v.Kind() == reflect.String:
		return v.String(), true
	case v.Kind() == reflect.Bool:
		return v.Bool(), true
	case v.CanInt():
		return v.Int(), true
	}
	return nil, false
}

// brief writes a duration as people do: 5m and not 5m0s.
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

var writeDocs = flag.Bool("docs", false, "write the generated part of docs/configuration.md")

const (
	keysPage  = "../docs/configuration.md"
	tableFrom = "<!-- keys: generated from config/keys_internal_test.go by `make docs` -->\n"
	tableTo   = "<!-- end of keys -->\n"
)

// The documents have the table of keys as it is here. `make docs` runs this test with -docs.
func TestDocsListTheKeys(t *testing.T) {
	text, err := os.ReadFile(keysPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), tableFrom)
	have, after, closed := strings.Cut(rest, tableTo)
	if !ok || !closed {
		t.Fatalf("%s has lost the lines around its table:\n%s%s", keysPage, tableFrom, tableTo)
	}
	want := table(allKeys(platforms{telegramchat.Platform(), discordchat.Platform(), slackchat.Platform()}))
	if *writeDocs {
		if err := os.WriteFile(keysPage, []byte(before+tableFrom+want+tableTo+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("%s is stale, run `make docs` (-table +page):\n%s", keysPage, diff)
	}
}

// table leaves out the keys that only hold others.
func table(keys []Key) string {
	var b strings.Builder
	b.WriteString("| key | default | meaning |\n|---|---|---|\n")
	for i, k := range keys {
		if i+1 < len(keys) && strings.HasPrefix(keys[i+1].Path, k.Path+".") && !strings.Contains(keys[i+1].Path, "<") && k.Unset == "" {
			continue
		}
		text := k.Text
		if k.Words != nil {
			text += ": `" + strings.Join(k.Words, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Path, defaultCell(k), text)
	}
	return b.String()
}

func defaultCell(k Key) string {
	if k.Default != nil {
		return fmt.Sprintf("`%v`", k.Default)
	}
	return k.Unset
}

// Every key that the decoder takes has its line in the table, and no line is about another.
func TestDocsTheTableHasEveryKey(t *testing.T) {
	var listed []string
	for _, k := range keys {
		if !strings.HasSuffix(k.Path, eachPlatform) {
			listed = append(listed, k.Path)
		}
	}
	read := pathsOf("", reflect.TypeFor[Config]())
	slices.Sort(listed)
	slices.Sort(read)
	if diff := cmp.Diff(read, listed); diff != "" {
		t.Errorf("the table of keys differs from what is read (-read +table):\n%s", diff)
	}
}

// pathsOf are the paths of all keys at and below a type, as the decoder reads it.
func pathsOf(path string, t reflect.Type) (out []string) {
	switch {
	case t == secretType, t == rawType, reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return nil
	case t.Kind() == reflect.Pointer:
		return pathsOf(path, t.Elem())
	case t.Kind() == reflect.Map && (t.Key() == reflect.TypeFor[taint.Level]()):
		return nil // said once for all levels
	case t.Kind() == reflect.Map:
		return pathsOf(path+".<id>", t.Elem())
	case t.Kind() == reflect.Slice:
		return pathsOf(path+"[]", t.Elem())
	case t.Kind() != reflect.Struct:
		return nil
	}
	for name, at := range fieldsOf(t) {
		key := strings.TrimPrefix(path+"."+name, ".")
		f := t.FieldByIndex(at)
		if f.Type != reflect.TypeFor[*taint.Mode]() { // the key above says it for every level
			out = append(append(out, key), pathsOf(key, f.Type)...)
		}
	}
	return out
}
