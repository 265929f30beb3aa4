// Package toolcall gives the calls of package protocol their old names, until what uses them is rewritten.
package toolcall

import "github.com/openclaw-verifier/verifier/internal/protocol"

// What is in package protocol.
type (
	Call        = protocol.Call
	Context     = protocol.Context
	Provenance  = protocol.Provenance
	UserMessage = protocol.UserMessage
	Hints       = protocol.Hints
	Digest      = protocol.Digest
	Malformed   = protocol.Malformed
)

// Limits of a body.
const (
	MaxBody      = protocol.MaxBody
	MaxDepth     = protocol.MaxDepth
	MaxNumber    = protocol.MaxNumber
	MaxRequestID = protocol.MaxRequestID
	MaxToolName  = protocol.MaxToolName
	MaxText      = protocol.MaxText
	MaxWaitMs    = protocol.MaxWaitMs
	MaxEdited    = protocol.MaxEdited
)

// Functions of package protocol.
var (
	Decode       = protocol.Decode
	DecodeNotice = protocol.DecodeNotice
	DecodeAbout  = protocol.DecodeAbout
	Canonical    = protocol.Canonical
	CanonicalKey = protocol.CanonicalKey
	OddKey       = protocol.OddKey
	ReadParams   = protocol.ReadParams
)
