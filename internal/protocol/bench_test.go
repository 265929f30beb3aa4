package protocol_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

const ordinaryContext = `,"context":{"agentId":"main","sessionKey":"agent:main:main","messageProvider":"telegram",
	"sessionId":"6f1c0e5a-9d7b-4c1e-8f00-0123456789ab","runId":"run-1","toolCallId":"call_7","iteration":3,
	"channelId":"tg","senderId":"42","senderIsOwner":true,"trigger":"user",
	"workspace":"/home/ann/proj","platform":"linux",
	"inputProvenance":{"kind":"external_user"},"waitMs":30000,"userMessages":[
	{"text":"Run the tests and tell me what fails","senderId":"42","senderIsOwner":true,"at":1770910140000}]}}`

func ordinaryCall(params string) []byte {
	return []byte(head + `,"tool":{"name":"exec","params":` + params + `}` + ordinaryContext)
}

func BenchmarkDecode(b *testing.B) {
	for name, body := range map[string][]byte{
		"exec": ordinaryCall(`{"command":"git status --short && go test ./...","workdir":"/home/ann/proj"}`),
		"write": ordinaryCall(`{"path":"a.go","content":"` + strings.Repeat(`\tfmt.Println(\"hello\", name)\n`, 350) +
			`"}`),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := protocol.Decode(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDigest(b *testing.B) {
	c, err := protocol.Decode(ordinaryCall(`{"command":"git status --short && go test ./...",` +
		`"workdir":"/home/ann/proj"}`))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Digest()
	}
}

func BenchmarkDecodeEvent(b *testing.B) {
	for name, e := range map[string]struct {
		name  protocol.Name
		event string
	}{
		"result": {protocol.AfterToolCall, `{"toolName":"exec","toolCallId":"call_7","durationMs":5,"size":7,` +
			`"marked":true,"result":"ok\n"}`},
		"tools": {protocol.BeforeLLMCall, `{"iteration":2,"model":"m","tools":[` +
			strings.Repeat(`{"name":"exec","metadata":{"openclaw":{"caution":true}}},`, 30) + `{"name":"read"}]}`},
		"context": {protocol.ContextAssembled, `{"messages":[1,2],"sources":[` +
			strings.Repeat(`{"kind":"tool_result","tool":"exec","messageIndex":3,"size":12,"contentHash":"sha256:`+
				strings.Repeat("a", 64)+`","fingerprints":"ASNFZ4mrze8="},`, 30) + `{"kind":"system_prompt"}]}`},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := protocol.DecodeEvent(e.name, body(e.event)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
