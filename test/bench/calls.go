package main

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

// conversations is how many the calls are spread over, turn how many of them a run makes, below the cap on iterations.
const (
	conversations = 64
	turn          = 8
)

// secret signs the calls, ownerToken answers for the owner. They live for one run.
var (
	secret     = rand.Text() + rand.Text()
	ownerToken = rand.Text() + rand.Text()
)

// callFormat is a call as a runtime in JavaScript writes it: members in the order in which they were set, nothing
// escaped that need not be. The command is one of a coding agent, of the usual length. %[1]s is unique to the slice,
// %[2]d to the call in it; %[3]s is the time, %[4]s the rest of the context.
const callFormat = `{"version":1,"timestamp":"%[3]s","requestId":"%[1]s-7d1a-4c55-9a3e-%012[2]d",` +
	`"tool":{"name":"exec","params":{"command":"cd /home/owner/projects/site && git status --short` +
	` && git log --oneline -n 20 -- content/ layouts/ && grep -rn --include='*.md' 'draft: true' content/` +
	` | sort | head -n 40 && make build SITE=staging VERBOSE=1 2>&1 | tail -n 60",` +
	`"workdir":"/home/owner/projects/site","timeout":120,"background":false,"env":{"LANG":"en_US.UTF-8","CI":"1"}}},` +
	`"context":{%[4]s,"messageProvider":"telegram","channelId":"telegram","toolCallId":"call_%[1]s%08[2]d"}}`

// ownersFormat is a direct message from the owner, whose level allows the call: %[1]s is the slice, %[2]d the
// conversation, %[3]d the turn, %[4]d the step in it. heldFormat is a conversation of its own in which we don't know
// who wrote, so that a person is asked: %[1]s is the slice, %[2]d the call, %[3]d its agent.
const (
	ownersFormat = `"agentId":"main","sessionKey":"agent:main:telegram:direct:%[2]d",` +
		`"sessionId":"3f1b9c52-02c7-4a7e-9a55-%012[2]d","runId":"%[1]s-run-%[3]d","iteration":%[4]d,` +
		`"senderId":"700000001","senderIsOwner":true,"userMessages":[{"text":` +
		`"Please build the staging site and tell me which pages are still drafts.",` +
		`"senderId":"700000001","senderIsOwner":true}],"waitMs":30000`
	heldFormat = `"agentId":"%[1]s-%[3]d","sessionKey":"agent:%[1]s-%[3]d:direct:%[2]d",` +
		`"sessionId":"%[1]s-02c7-4a7e-9a55-%012[2]d","runId":"%[1]s-run-%[2]d","iteration":1,"userMessages":[{"text":` +
		`"Please build the staging site and tell me which pages are still drafts."}],"waitMs":595000`
)

// firstPeer is whom the first conversation is with; askedByOne is how many of the questions are one agent's, below what
// it may ask within an hour.
const (
	firstPeer  = 700_000_000
	askedByOne = 50
)

func sliceName() string { return strings.ToLower(rand.Text()[:8]) }

// ownersCall is the body of a call that the level allows.
func ownersCall(slice string, i int) []byte {
	step := i / conversations // of its conversation
	return call(slice, i, fmt.Sprintf(ownersFormat, slice, firstPeer+i%conversations, step/turn, step%turn))
}

// heldCall is the body of a call that waits for a person.
func heldCall(slice string, i int) []byte {
	return call(slice, i, fmt.Sprintf(heldFormat, slice, i, i/askedByOne))
}

func call(slice string, i int, context string) []byte {
	return fmt.Appendf(nil, callFormat, slice, i, time.Now().UTC().Format(time.RFC3339Nano), context)
}

// head is what the runtime's client sends: Node's fetch, which adds headers of its own.
const head = "POST %s HTTP/1.1\r\nhost: 127.0.0.1:8787\r\nconnection: keep-alive\r\n" +
	"content-type: application/json\r\n%saccept: */*\r\naccept-language: *\r\nsec-fetch-mode: cors\r\n" +
	"user-agent: node\r\naccept-encoding: gzip, deflate\r\ncontent-length: %d\r\n\r\n%s"

// signed is a call as it goes over the wire to us.
func signed(body []byte) []byte {
	signature := fmt.Sprintf("%s: sha256=%s\r\n", strings.ToLower(hmac.RequestHeader), hmac.Sign([]byte(secret), body))
	return fmt.Appendf(nil, head, "/verify", signature, len(body), body)
}

// toOPA is the same call as OPA's server wants to be asked.
func toOPA(call []byte) []byte {
	body := fmt.Appendf(nil, `{"input":{"level":"owner","call":%s}}`, call)
	return fmt.Appendf(nil, head, "/v1/data/verifier/decision", "", len(body), body)
}
