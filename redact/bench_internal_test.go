package redact

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// body is what a coding agent writes, escaped as in JSON.
const body = `export function total(items) {\n  return items.reduce((a, b) => a + b.price, 0);\n}\n`

// typical are calls as they come.
var typical = []struct{ name, tool, params string }{
	{"small-exec", "exec", `{"command":"git status --short && go test ./...","workdir":"/home/bob/projects/shop"}`},
	{"1KB-exec", "exec", `{"command":"cd /home/bob/projects/shop && ` +
		strings.Repeat(`git checkout -b fix/x origin/main && `+
			`gofmt -l cmd internal; docker compose -f deploy/compose.yml up -d postgres && go test ./internal/... `+
			`-run TestRounding -count=1 2>&1 | tee /tmp/test-output.log | tail -n 60; `, 4) + `","timeout":180}`},
	{"10KB-write", "write", `{"path":"src/components/Checkout.tsx","content":"` + strings.Repeat(body,
		10<<10/len(body)) + `"}`},
	{"message", "message", `{"action":"send","to":"123456789","text":"` +
		strings.Repeat(`The build has passed, all 214 tests `+
			`are green. The token count of the run was 4000, see https://ci.example/builds/8123 for the key results. `,
			6) + `"}`},
}

// BenchmarkParams redacts for the record and for a card, which shows what is written to a file, what the gateway has
// read already.
func BenchmarkParams(b *testing.B) {
	for reader, config := range map[string]Config{
		"record": {Known: own}, "card": {Known: own, ShowFileBodies: true},
	} {
		r := redactor(b, config)
		for _, c := range typical {
			b.Run(reader+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				params := jsontext.Value(c.params)
				all, err := protocol.Walk(params)
				for b.Loop() {
					if n := r.Walked(c.tool, params, all).Hidden(); n > 1 || err != nil {
						b.Fatal(n, err)
					}
				}
			})
		}
	}
}

// own are secrets of the program, in the lengths that it makes.
var own = []string{strings.Repeat("0a1b2c3d", 8), strings.Repeat("f9e8d7c6", 8), "123456789:" + strings.Repeat("AbCd3",
	7)}
