package verifier

import "testing"

// BenchmarkAStepThatIsNotTraced is what OpenTelemetry costs a step of a decision where it is off.
func BenchmarkAStepThatIsNotTraced(b *testing.B) {
	v, t := &Verifier{}, &evaluation{}
	b.ReportAllocs()
	for b.Loop() {
		t.took("store", v.clock(), false)
	}
}
