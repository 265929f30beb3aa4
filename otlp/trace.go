package otlp

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parent is where a caller is in a trace, as it says in a traceparent header. The
// zero Parent is none.
type Parent struct {
	Trace   [16]byte
	Span    [8]byte
	Sampled bool
}

// ParseParent reads a traceparent (W3C Trace Context). What is not one is none.
func ParseParent(header string) (p Parent) {
	part := strings.Split(header, "-")
	if len(part) < 4 || len(part[0]) != 2 || len(part[1]) != 32 || len(part[2]) != 16 || len(part[3]) != 2 ||
		part[0] == "ff" || part[0] == "00" && len(part) != 4 || strings.ToLower(header) != header {
		return Parent{}
	}
	var version, flags [1]byte
	for i, into := range [][]byte{version[:], p.Trace[:], p.Span[:], flags[:]} {
		if _, err := hex.Decode(into, []byte(part[i])); err != nil {
			return Parent{}
		}
	}
	if p.Trace == [16]byte{} || p.Span == [8]byte{} {
		return Parent{}
	}
	p.Sampled = flags[0]&1 == 1
	return p
}

// Work is something that took time, and its parts.
type Work struct {
	Name       string
	Began      time.Time
	Ended      time.Time
	Failed     bool
	Attributes map[string]string
	Parts      []Work
}

// Kinds of spans and states, as the protocol numbers them.
const (
	serving, calling = 2, 3
	failed           = 2
)

// span is one of the protocol's.
type span struct {
	Trace      string      `json:"traceId"`
	ID         string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitzero"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Began      nanoseconds `json:"startTimeUnixNano"`
	Ended      nanoseconds `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes,omitempty"`
	Status     *status     `json:"status,omitempty"`
}

type status struct {
	Code int `json:"code"`
}

type attribute struct {
	Key   string `json:"key"`
	Value struct {
		Text string `json:"stringValue"`
	} `json:"value"`
}

// nanoseconds since 1970: a number of 64 bits, which is a string in this JSON.
type nanoseconds string

func at(t time.Time) nanoseconds { return nanoseconds(strconv.FormatInt(t.UnixNano(), 10)) }

func attributes(of map[string]string) []attribute {
	out := make([]attribute, 0, len(of))
	for _, key := range slices.Sorted(maps.Keys(of)) {
		a := attribute{Key: key}
		a.Value.Text = of[key]
		out = append(out, a)
	}
	return out
}

// wants reports whether a trace is to be kept.
func (s *sampler) wants(p *Parent) bool {
	switch {
	case s.own && p.Span != [8]byte{}:
		return p.Sampled
	case s.name == "traceidratio":
		return binary.BigEndian.Uint64(p.Trace[8:])>>1 < s.bound
	}
	return s.name == "always_on"
}

// spans are a piece of work and its parts, below the caller's span.
func spans(w *Work, p *Parent) []span {
	trace, ids := hex.EncodeToString(p.Trace[:]), drawn(1+len(w.Parts))
	root := w.span(trace, ids[0], serving)
	if p.Span != [8]byte{} {
		root.Parent = hex.EncodeToString(p.Span[:])
	}
	out := append(make([]span, 0, len(ids)), root)
	for i := range w.Parts {
		part := w.Parts[i].span(trace, ids[i+1], calling)
		part.Parent = ids[0]
		out = append(out, part)
	}
	return out
}

func (w *Work) span(trace, id string, kind int) span {
	s := span{Trace: trace, ID: id, Name: w.Name, Kind: kind, Began: at(w.Began), Ended: at(w.Ended), Attributes: attributes(w.Attributes)}
	if w.Failed {
		s.Status = &status{failed}
	}
	return s
}

// drawn are as many names for spans.
func drawn(n int) []string {
	b := make([]byte, 8*n)
	rand.Read(b) // it never fails
	out := make([]string, n)
	for i := range out {
		out[i] = hex.EncodeToString(b[8*i : 8*i+8])
	}
	return out
}
