package policy_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
)

// kilobyte is a usual call of about 1 KB.
func kilobyte(tool string) (string, string) {
	body := strings.Repeat("Some words of a file that is being written, with /a/path.go and \\\"quotes\\\".\\n", 11)
	return tool, `{"path":"/home/ann/notes/today.md","content":"` + body + `"}`
}

func BenchmarkPlan(b *testing.B) {
	p := must(b, policy.Config{Guard: ours()})
	tool, params := kilobyte("write")
	for name, c := range map[string][2]string{
		"small read":  {"read", `{"path":"/home/ann/notes/today.md"}`},
		"small exec":  {"exec", `{"command":"git status --short","workdir":"/home/ann/src"}`},
		"1 KB write":  {tool, params},
		"1 KB exec":   {"exec", `{"command":"` + strings.Repeat("echo some words > a/b.txt; ", 38) + `"}`},
		"64 KB wide":  {"exec", `{"command":"` + strings.Repeat("echo 'Grüße an päpstliche Höfe' >> ~/a/b.txt; ", 1400) + `"}`},
		"64 KB found": {"exec", `{"command":"` + strings.Repeat("curl -s https://example.com/src/../.x > $OUT 2>/dev/null; ", 1130) + `"}`},
		"plain write": {"write", `{"path":"a.md","content":"` + strings.Repeat("some words and more ", 50) + `"}`},
	} {
		b.Run(name, func(b *testing.B) {
			made := call(c[0], c[1])
			b.ReportAllocs()
			for b.Loop() {
				p.Plan(made)
			}
		})
	}
}

func BenchmarkJudge(b *testing.B) {
	p := must(b, policy.Config{Guard: ours()})
	made := call("read", `{"path":"/home/ann/notes/today.md"}`)
	b.Run("with plan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Judge(made, at(local))
		}
	})
	b.Run("planned", func(b *testing.B) {
		plan := p.Plan(made)
		b.ReportAllocs()
		for b.Loop() {
			plan.Judge(at(local))
		}
	})
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		must(b, policy.Config{Guard: ours()})
	}
}
