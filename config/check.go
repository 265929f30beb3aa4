package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/openclaw-verifier/verifier/internal/text"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/taint"
)

// checker looks at a decoded Config and reports what is wrong.
type checker struct {
	*Config
	*report
	chats platforms
}

// report says where in the file something is wrong or risky.
type report struct {
	doc      *document
	errs     Errors
	findings []Finding
}

func (k *report) fail(path, text, hint string) {
	line, col := k.doc.place(path)
	k.errs = append(k.errs, &Error{File: k.doc.file, Line: line, Col: col, Path: path, Text: text, Hint: hint})
}

func (k *checker) check() {
	k.checkListen()
	k.checkTLS()
	k.checkProxies()
	k.checkWebhook()
	k.checkClients()
	k.checkRelays()
	k.checkSecrets()
	k.checkBounds()
	k.checkStore()
	k.checkApprovers()
	k.checkChannels()
	k.checkAsked()
	k.checkWeb()
	k.checkNotify()
	k.checkRedact()
	k.checkCaution()
	k.policyProblems()
}

func (k *checker) checkListen() {
	_, port, err := net.SplitHostPort(k.Listen)
	n, errPort := strconv.Atoi(port)
	if err != nil || errPort != nil || n < 0 || n > 65535 {
		k.fail("listen", "is not host:port", "write it as 127.0.0.1:8787")
		return
	}
	if k.Exposed(k.Listen) {
		k.fail("listen", ExposedText, ExposedHint)
	}
}

func (k *checker) checkWebhook() {
	p := k.Webhook.Path
	switch {
	case !strings.HasPrefix(p, "/") || path.Clean(p) != p || p == "/" || strings.ContainsAny(p, "?#*:% \t\\"):
		k.fail("webhook.path", "is not a plain path", "write it as /verify")
	case p == "/owner" || strings.HasPrefix(p, "/owner/") || p == "/page" || strings.HasPrefix(p, "/page/") || p == "/healthz" || p == "/readyz" || path.Base(p) == "approve" || path.Base(p) == "answered":
		k.fail("webhook.path", "is one of the server's own", "write it as /verify")
	}
	inRange(k.report, "webhook.tolerance", k.Webhook.Tolerance, time.Second, 15*time.Minute)
	inRange(k.report, "webhook.maxHold", k.Webhook.MaxHold, time.Second, 10*time.Minute)
	inRange(k.report, "webhook.hold", k.Webhook.Hold, time.Second, 10*time.Minute)
	if k.Webhook.Hold > k.Webhook.MaxHold {
		k.fail("webhook.hold", fmt.Sprintf("is longer than webhook.maxHold, which is %s", k.Webhook.MaxHold), "make hold shorter or maxHold longer")
	}
}

func inRange[T cmp.Ordered](k *report, path string, v, least, most T) {
	if v < least || v > most {
		k.fail(path, fmt.Sprintf("must be from %v to %v, not %v", least, most, v), "")
	}
}

// plainName reports whether a name may be in the record, in keys and in cards. A
// regular expression for it would take longer to compile than all else at a start.
func plainName(name string) bool {
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	first, _ := utf8.DecodeRuneInString(name)
	return letter(first) && utf8.RuneCountInString(name) <= 64 &&
		!strings.ContainsFunc(name, func(r rune) bool { return !letter(r) && !strings.ContainsRune(" ._@-", r) })
}

func (k *checker) checkClients() {
	if k.Webhook.Secrets != nil && len(k.Webhook.Secrets) == 0 {
		k.fail("webhook.secrets", "is empty", makeOne)
	}
	for _, name := range sortedKeys(k.Webhook.Clients) {
		at := "webhook.clients." + name
		switch {
		case !plainName(name):
			k.fail(at, "is no name for a client", "use up to 64 letters, digits, dots and hyphens")
		case name == DefaultClient && (k.Webhook.Secret.Set() || len(k.Webhook.Secrets) > 0):
			k.fail(at, "is also the client of webhook.secret and webhook.secrets", "keep one of the two, or give this client another name")
		case len(k.Webhook.Clients[name]) == 0:
			k.fail(at, "has no secret", makeOne)
		}
	}
}

// checkSecrets also refuses a secret that is used at two places: a client could
// then speak for another, and the agent's runtime could approve.
func (k *checker) checkSecrets() {
	first := map[string]string{}
	for _, p := range k.secrets() {
		if !p.secret.Set() {
			continue
		}
		if weak := p.secret.weakness(p.least); weak != "" {
			k.fail(p.path, weak, makeOne)
			continue
		}
		if other, taken := first[p.secret.Reveal()]; taken {
			k.fail(p.path, "is the same secret as "+other+", so that anyone who knows one has both", makeOne)
			continue
		}
		first[p.secret.Reveal()] = p.path
	}
}

func (k *checker) checkBounds() {
	inRange(k.report, "approvalTtlSeconds", k.ApprovalTTLSeconds, 10, 3600)
	inRange(k.report, "approval.maxMinutes", k.Approval.MaxMinutes, 0, 60)
	inRange(k.report, "approval.maxOpen", k.Approval.MaxOpen, 0, 100)
	inRange(k.report, "approval.approvals", k.Approval.Approvals, 0, 20)
	inRange(k.report, "approval.maxPromptsPerHour", k.Approval.MaxPromptsPerHour, 0, 1000)
	inRange(k.report, "maxIterations", k.Policy.MaxIterations, 0, 10_000)
	inRange(k.report, "maxCalls", k.Policy.MaxCalls, 0, 100_000)
	inRange(k.report, "audit.rotateMB", k.Audit.RotateMB, 0, 100_000)
	inRange(k.report, "audit.keep", k.Audit.Keep, 0, 100_000)
	for _, id := range sortedKeys(k.Policy.Agents) {
		inRange(k.report, "agents."+id+".maxIterations", k.Policy.Agents[id].MaxIterations, 0, 10_000)
	}
}

func (k *checker) checkChannels() {
	known := k.chats.names()
	for _, name := range sortedKeys(k.Channels) {
		if near, _ := text.Nearest(name, known); name != near {
			k.fail("channels."+name, "unknown channel", fmt.Sprintf("did you mean %q? Known are %s", near, strings.Join(known, ", ")))
		}
	}
}

func (k *checker) checkRedact() {
	_, err := redact.New(k.Redact)
	faults, _ := errors.AsType[redact.Faults](err)
	for _, f := range faults {
		k.fail("redact."+f.At, f.Text, "")
	}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func (k *report) find(s Severity, path, text string) {
	line, col := k.doc.place(path)
	k.findings = append(k.findings, Finding{Severity: s, Line: line, Col: col, Path: path, Text: text})
}

// risks looks for what is valid and may not be meant.
type risks struct{ *checker }

// all says in words what it finds. What the policy itself warns of was added with
// its errors.
func (k risks) all() []Finding {
	k.riskyApprovers()
	k.riskyApprovals()
	k.riskyAgents()
	k.riskyPolicy()
	k.riskyListen()
	k.riskyRelays()
	k.riskyStore()
	k.riskyRest()
	k.cautionRisks()
	slices.SortStableFunc(k.findings, func(a, b Finding) int { return a.Line - b.Line })
	return k.findings
}

const allDenied = "every call that needs confirmation will be denied"

func (k risks) riskyApprovers() {
	needed, people := max(k.Approval.Approvals, 1), len(k.People())
	switch {
	case people == 0:
		k.find(Warning, "approvers", "no person can approve: "+allDenied)
		return
	case people < needed:
		k.find(Warning, "approval.approvals", fmt.Sprintf("%d people must approve and %d may: %s", needed, people, allDenied))
	case k.Approvers == nil && !k.OwnerToken.Set() && people == 1:
		k.find(Note, "", "there is neither an ownerToken nor a list of approvers: only the token in the state directory, which serve makes, can approve")
	case k.Approvers == nil && !k.OwnerToken.Set():
		k.find(Note, "", "there is no ownerToken: the token in the state directory, which serve makes, can approve, and so can those in allowedUserIds")
	}
	k.unreachable()
}

// unreachable names approvers whom nothing would ask.
func (k risks) unreachable() {
	terminal := k.Approvers == nil
	for i, a := range k.Approvers {
		reach := a.Token.Set() || a.Passkeys
		for _, p := range a.platformIDs() {
			platform, _, _ := strings.Cut(p.id, ":")
			_, set := k.Channels[platform]
			reach = reach || set || p.id == TokenID(Owner)
			terminal = terminal || p.id == TokenID(Owner)
		}
		terminal = terminal || a.Token.Set()
		if !reach {
			k.find(Warning, index("approvers", i), visible(a.Name)+" can't be reached: add a token, or the channel of one of the ids")
		}
	}
	if !terminal {
		k.find(Warning, "approvers", "the list has no approver who can answer in the terminal: the owner token can look but not approve; add token:owner to the ids of one approver")
	}
}

func (k risks) riskyApprovals() {
	if k.ApprovalTTLSeconds > 30*60 {
		k.find(Warning, "approvalTtlSeconds", fmt.Sprintf("a code may be guessed at for %s, and a yes waits as long for a retry", k.ApprovalTTL()))
	}
	if k.Webhook.Hold > 25*time.Second {
		k.find(Note, "webhook.hold", "clients of the published protocol wait 30 seconds: one that waits less than the hold gives up and applies its own failMode")
	}
}

func (k risks) riskyPolicy() {
	if from := k.Policy.Taint.From; from != nil && *from == taint.Untrusted {
		k.find(Warning, "taint.from", "a conversation counts as tainted only once it has read the web: mail and messages by others can drive tools that act outside")
	}
	if k.Policy.Profile == "permissive" {
		k.find(Warning, "profile", "permissive asks only once a conversation has read the web: mail and messages by others can drive every tool")
	}
	for _, p := range []struct {
		level taint.Level
		mode  *taint.Mode
	}{{taint.External, k.Policy.TaintPolicy.External}, {taint.Untrusted, k.Policy.TaintPolicy.Untrusted}} {
		if p.mode != nil && *p.mode == taint.Allow {
			k.find(Warning, "taintPolicy."+p.level.String(), "a conversation that holds "+p.level.String()+" content may call every tool that nothing else names, unasked")
		}
	}
	if k.Policy.MaxIterations > 100 {
		k.find(Warning, "maxIterations", fmt.Sprintf("a loop may run %d times before it is stopped", k.Policy.MaxIterations))
	}
}

func (k risks) riskyRest() {
	if !k.Redact.ShowFileBodies {
		k.find(Warning, "redact.showFileBodies", "cards don't show what is written to files: you can allow a write only after you opened it, while the agent waits")
	}
	if k.Audit.Keep > 0 && k.Audit.RotateMB == 0 {
		k.find(Warning, "audit.keep", "removes nothing: the record never goes on in a new file")
	}
	if chat := k.Channels[telegram]; chat.s.node != nil && !chat.Off() && has(chat.s.node, "timeout") {
		k.find(Note, "channels.telegram.timeout", noTimeout)
	}
}
