package channels

import "github.com/openclaw-verifier/verifier/approval"

// Visibility counts what a person who reads the card does not see as it is.
// The zero Visibility is that everything is there to be read.
type Visibility struct {
	Report
	Hidden int // values that were redacted
}

func (v *Visibility) add(o Visibility) {
	v.Report.add(o.Report)
	v.Hidden += o.Hidden
}

// Full reports whether all that will run can be read on the card.
func (v Visibility) Full() bool { return v == Visibility{} }

// FullyDetailed reports whether a person who sees the details of this call sees all that will run.
func FullyDetailed(a *approval.Ask) bool { return look(a, &unbounded).seen.Full() }

// FullyVisible reports whether a person who sees the card of this call sees all
// that will run, and if not, why: values are hidden, text is cut, characters
// are shown by their number. A channel takes the one-tap Allow away from a card
// with such a question; the full view or the typed code remains. Only the call
// counts, its tool and its arguments, since only these run.
func FullyVisible(a *approval.Ask) (bool, []string) {
	seen := look(a, &normal).seen
	return seen.Full(), seen.Reasons()
}
