package main

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

// conversations is how many the calls are spread over.
const conversations = 64

// turn is how many calls a run makes, below the cap on iterations.
const turn = 8

// callFormat is a call as a runtime in JavaScript writes it: members in the
// order in which they were set, nothing escaped that need not be. The level
// decides it: the owner wrote directly, and exec is no sink in a conversation
// that only read the owner's own machine. The command is one of a coding agent,
// of the usual length, and is read like any other: for fetchers, for names of
// ours, for what can't be undone. %[1]s is unique to the slice, %[2]d to the
// call in it, %[3]d to the conversation, %[4]d to the turn; %[5]d is the step.
const callFormat = `{"version":1,"timestamp":"%[6]s","requestId":"%[1]s-7d1a-4c55-9a3e-%012[2]d",` +
	`"tool":{"name":"exec","params":{"command":"cd /home/owner/projects/site && git status --short && git log --oneline -n 20 -- content/ layouts/` +
	` && grep -rn --include='*.md' 'draft: true' content/ | sort | head -n 40 && make build SITE=staging VERBOSE=1 2>&1 | tail -n 60",` +
	`"workdir":"/home/owner/projects/site","timeout":120,"background":false,"env":{"LANG":"en_US.UTF-8","CI":"1"}}},` +
	`"context":{"agentId":"main","sessionKey":"agent:main:telegram:direct:%[3]d","messageProvider":"telegram",` +
	`"sessionId":"3f1b9c52-02c7-4a7e-9a55-%012[3]d","runId":"%[1]s-run-%[4]d","toolCallId":"call_%[1]s%08[2]d","iteration":%[5]d,` +
	`"channelId":"telegram","senderId":"700000001","senderIsOwner":true,` +
	`"userMessages":[{"text":"Please build the staging site and tell me which pages are still drafts.","senderId":"700000001","senderIsOwner":true}],` +
	`"waitMs":30000}}`

// calls makes the calls of a slice: signed, each with an id of its own, stamped
// now. Ids differ between slices too.
func calls(n, among int) [][]byte {
	slice, now := sliceName(), time.Now()
	out := make([][]byte, n)
	for i := range out {
		out[i] = request(call(slice, i, among, now))
	}
	return out
}

func sliceName() string { return rand.Text()[:8] }

// call is the body of one call.
func call(slice string, i, among int, now time.Time) []byte {
	step := i / among // of its conversation
	return fmt.Appendf(nil, callFormat, slice, i, firstPeer+i%among, step/turn, step%turn, now.UTC().Format(time.RFC3339Nano))
}

// firstPeer is whom the first conversation is with.
const firstPeer = 700_000_000

// head is what the runtime's client sends: Node's fetch, which adds headers of
// its own.
const head = "POST /verify HTTP/1.1\r\nhost: 127.0.0.1:8787\r\nconnection: keep-alive\r\ncontent-type: application/json\r\n" +
	"%s: sha256=%s\r\naccept: */*\r\naccept-language: *\r\nsec-fetch-mode: cors\r\nuser-agent: node\r\n" +
	"accept-encoding: gzip, deflate\r\ncontent-length: %d\r\n\r\n%s"

// request is the call as it goes over the wire.
func request(body []byte) []byte {
	return fmt.Appendf(nil, head, strings.ToLower(hmac.RequestHeader), hmac.Sign([]byte(secret), body), len(body), body)
}
