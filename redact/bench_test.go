package redact_test

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/redact"
)

// typical are calls of about 1 KB.
var typical = map[string]jsontext.Value{
	"exec": jsontext.Value(`{"command":"cd /home/bob/projects/shop && git fetch --all --prune && git checkout -b fix/checkout-rounding origin/main && ` +
		`for f in $(git diff --name-only HEAD~5 -- '*.go'); do echo \"== $f\"; gofmt -l \"$f\"; go vet \"./$(dirname $f)\" || exit 1; done; ` +
		`docker compose -f deploy/docker-compose.yml up -d postgres redis && ./scripts/wait-for localhost:5432 --timeout=30 && ` +
		`go test ./internal/checkout/... ./internal/pricing/... -run 'TestRounding|TestTotals' -count=1 -timeout 120s 2>&1 | tee /tmp/test-output.log | tail -n 60; ` +
		`grep -rn \"math.Round\" --include='*.go' internal | sort | uniq -c | sort -rn | head -20; psql -h localhost -U shop -d shop_test -c \"SELECT id, total_cents, currency FROM orders WHERE created_at > now() - interval '1 day' ORDER BY id DESC LIMIT 20\"; ` +
		`curl -s http://localhost:8080/healthz | jq . ; ls -la build/artifacts/2026-10-01/ ; du -sh node_modules ; echo finished with status $?",` +
		`"workdir":"/home/bob/projects/shop","timeout":180,"background":false,"env":{"CI":"1","GOFLAGS":"-mod=readonly"}}`),
	"write":   jsontext.Value(`{"path":"src/components/Checkout.tsx","content":"` + strings.Repeat(`export function total(items) {\n  return items.reduce((a, b) => a + b.price, 0);\n}\n`, 11) + `"}`),
	"message": jsontext.Value(`{"action":"send","channel":"telegram","to":"123456789","text":"` + strings.Repeat(`The build of the shop has passed, all 214 tests are green. The token count of the last run was 4000, see https://ci.example/builds/8123 for the key results. `, 6) + `"}`),
}

func BenchmarkParams(b *testing.B) {
	r := ready(b, redact.Config{})
	for name, params := range typical {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(params)))
			b.ReportAllocs()
			for b.Loop() {
				if n := r.Params(name, params).Hidden(); n > 0 && name != "write" {
					b.Fatal(n)
				}
			}
		})
	}
	b.Run("sha256", func(b *testing.B) {
		block := make([]byte, 1024)
		for b.Loop() {
			sha256.Sum256(block)
		}
	})
	secret := jsontext.Value(strings.Replace(string(typical["exec"]), "finished with", "TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345", 1))
	b.Run("exec-with-a-secret", func(b *testing.B) {
		for b.Loop() {
			r.Params("exec", secret)
		}
	})
}

// BenchmarkRatio compares a call with the hash of 1 KB, by the best of many
// short batches: what other programs take on the same cores falls out.
func BenchmarkRatio(b *testing.B) {
	r := ready(b, redact.Config{})
	block := make([]byte, 1024)
	for name, params := range typical {
		b.Run(name, func(b *testing.B) {
			unit, call := time.Hour, time.Hour
			for b.Loop() {
				unit = min(unit, batch(func() { sha256.Sum256(block) }))
				call = min(call, batch(func() { r.Params(name, params) }))
			}
			b.ReportMetric(float64(call)/float64(unit), "sha256-of-1KB")
			b.ReportMetric(float64(call.Nanoseconds()), "best-ns")
		})
	}
}

func batch(do func()) time.Duration {
	const n = 20
	begin := time.Now()
	for range n {
		do()
	}
	return time.Since(begin) / n
}
