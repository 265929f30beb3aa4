package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

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
	k.riskyRoutes()
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
	if k.Approval.MaxMinutes > 4*60 {
		k.find(Warning, "approval.maxMinutes", fmt.Sprintf("a grant may last %d minutes: whatever is injected in that time passes with it", k.Approval.MaxMinutes))
	}
	k.strangeTools("approval.urgent", k.Approval.Urgent, policy.Stakes()...)
	if len(k.Approval.StepUp) > 0 && !k.Web.Enabled {
		k.find(Warning, "approval.stepUp", "passkeys sign on the page, and web.enabled is false: every call that needs one will be denied")
	}
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
	k.riskyWords()
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

// riskyWords says what a call that passes by the owner's message alone may do.
func (k risks) riskyWords() {
	alone := ""
	if k.Caution.Auditor.Provider == "" {
		alone = "; no auditor looks at them: set caution.auditor, or leave this off"
	}
	switch k.Policy.Taint.OwnWords {
	case policy.OwnOff:
	case policy.OwnAll:
		k.find(Warning, "taint.ownWords", "calls pass unasked after outside content came in, because your last message has the form of a request: a text that you only pasted can have it too"+alone)
	case policy.OwnValues:
		k.find(Warning, "taint.ownWords", "outside content can choose the words of a message that you asked for, and it passes unasked: it can say that you quit"+alone)
	}
}

func (k risks) riskyRest() {
	if !k.Redact.ShowFileBodies {
		k.find(Warning, "redact.showFileBodies", "cards don't show what is written to files: you can allow a write only after you opened it, while the agent waits")
	}
	if k.Audit.Keep > 0 && k.Audit.RotateMB == 0 && k.Audit.RotateEvery == 0 {
		k.find(Warning, "audit.keep", "removes nothing: the record never goes on in a new file")
	}
	if chat := k.Channels[telegram]; chat.s.node != nil && !chat.Off() && has(chat.s.node, "timeout") {
		k.find(Note, "channels.telegram.timeout", noTimeout)
	}
}
