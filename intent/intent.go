// Package intent gives package auditor its old name, until what uses it is rewritten.
package intent

import "github.com/openclaw-verifier/verifier/internal/auditor"

// What is in package auditor.
type (
	Auditor  = auditor.Auditor
	Question = auditor.Question
	Opinion  = auditor.Opinion
)

// Its words.
const (
	Advise      = auditor.Advise
	AutoApprove = auditor.AutoApprove
	FailWarn    = auditor.FailWarn
	FailAllow   = auditor.FailAllow
	NoAnswer    = auditor.NoAnswer
	Allow       = auditor.Allow
	Block       = auditor.Block
)
