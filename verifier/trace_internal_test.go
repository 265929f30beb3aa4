package verifier

import "testing"

// BenchmarkAStepThatIsNotTraced is what OpenTelemetry costs a step of a decision where it is off.
func BenchmarkAStepThatIsNotTraced(b *testing.B) {
	o, t := &Options{}, &evaluation{}
	b.ReportAllocs()
	for b.Loop() {
		t.took("store", o.clock(), false)
	}
}
