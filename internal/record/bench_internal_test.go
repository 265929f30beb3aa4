package record

import (
	"syscall"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// allowed is the entry of a steady allow.
func allowed() Entry {
	return Entry{
		Kind: KindDecision, RequestID: "5f0c2a3e-77d1-4b59-9d3e-3f1c8c0a9f11", Ref: "7Q4K", Client: "default",
		Session: "agent:main:main", SessionID: "s-1", Agent: "main", Run: "run-1", Tool: "exec",
		Params:  jsontext.Value(`{"command":"git status --short && go test ./...","timeout":30}`),
		Digest:  "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		Started: "the owner, directly",
		Level:   "owner", Mode: "allow", Decision: Allow, By: "policy",
		Why:  []string{"exec at owner is allow: the level's mode", "git status, go test: known"},
		Turn: "6523a1b2c3d4e5f6", Parts: []Part{{Call: "call_1", Birth: "owner", Trust: "local"}},
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []string{"one", "many"} {
		b.Run(size, func(b *testing.B) {
			o := testOptions()
			o.Patience = DefaultPatience
			o.Hide = func() func(string) string { return as }
			l := mustOpen(b, newPath(b), o)
			b.ReportAllocs()
			before := cpu()
			defer func() { b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/op") }()
			if size == "one" {
				for b.Loop() {
					if err := l.Append(allowed()); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			b.SetParallelism(8)
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if err := l.Append(allowed()); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		l := Line{Entry: allowed()}
		l.hide(as)
		if _, err := l.encode(testOptions().Now()); err != nil {
			b.Fatal(err)
		}
	}
}

func as(s string) string { return s }

func cpu() int64 {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return r.Utime.Nano() + r.Stime.Nano()
}
