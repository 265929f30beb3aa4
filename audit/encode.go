package audit

import (
	"encoding/binary"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// encoder writes an entry as package json would, without looking up by
// reflection each time what never changes: a line is written for every call. A
// test holds the two against each other, so that no member is forgotten.
type encoder struct {
	buf []byte
	err error
}

// entry writes the members in the order of [Entry].
func (w *encoder) entry(e *Entry) {
	w.buf = append(w.buf, `{"kind":`...)
	w.quote(string(e.Kind))
	w.time(`,"at":`, e.At)
	w.text(`,"requestId":`, e.RequestID)
	w.text(`,"ref":`, e.Ref)
	w.text(`,"client":`, e.Client)
	w.text(`,"session":`, e.Session)
	w.text(`,"sessionId":`, e.SessionID)
	w.text(`,"agent":`, e.Agent)
	w.text(`,"run":`, e.Run)
	w.text(`,"directory":`, e.Directory)
	w.text(`,"tool":`, e.Tool)
	w.text(`,"sent":`, e.Sent)
	w.params(e)
	w.number(`,"hidden":`, int64(e.Hidden))
	w.text(`,"digest":`, e.Digest)
	w.text(`,"asked":`, e.Asked)
	w.text(`,"edited":`, e.Edited)
	w.judged(e)
	w.asked(e)
	w.own(e)
	w.buf = append(w.buf, '}')
}

func (w *encoder) judged(e *Entry) {
	w.text(`,"started":`, e.Started)
	w.text(`,"level":`, e.Level)
	w.text(`,"raisedTo":`, e.RaisedTo)
	w.number(`,"step":`, e.Step)
	w.text(`,"source":`, e.Source)
	w.text(`,"mode":`, e.Mode)
	w.text(`,"decision":`, e.Decision)
	w.text(`,"by":`, e.By)
	w.list(`,"why":`, e.Why)
	w.list(`,"origins":`, e.Origins)
}

func (w *encoder) asked(e *Entry) {
	w.text(`,"auditor":`, e.Auditor)
	w.text(`,"card":`, e.Card)
	w.text(`,"scope":`, e.Scope)
	w.people(e.People)
	w.number(`,"waitedMs":`, e.WaitedMs)
	w.number(`,"minutes":`, int64(e.Minutes))
	w.text(`,"reason":`, e.Reason)
	w.text(`,"error":`, e.Error)
	w.text(`,"note":`, e.Note)
	if e.Replay {
		w.name(`,"replay":`)
		w.buf = append(w.buf, "true"...)
	}
	if e.Graph != nil {
		w.name(`,"graph":`)
		w.keep(jsontext.AppendFormat(w.buf, e.Graph, jsontext.AllowInvalidUTF8(true)))
	}
}

// own writes what only the log's own lines have.
func (w *encoder) own(e *Entry) {
	if b := e.Begin; b != nil {
		w.name(`,"begin":`)
		w.buf = append(w.buf, `{"format":`...)
		w.buf = strconv.AppendInt(w.buf, int64(b.Format), 10)
		w.always(`,"chain":`, b.Chain)
		w.always(`,"key":`, b.Key)
		w.number(`,"file":`, int64(b.File))
		w.past(`,"after":`, b.After)
		w.buf = append(w.buf, '}')
	}
	w.head(`,"checkpoint":`, e.Checkpoint)
	w.head(`,"lost":`, e.Lost)
	w.past(`,"removed":`, e.Removed)
}

func (w *encoder) head(name string, h *Head) {
	if h == nil {
		return
	}
	w.name(name)
	w.buf = append(w.buf, `{"chain":`...)
	w.quote(h.Chain)
	w.name(`,"seq":`)
	w.buf = strconv.AppendUint(w.buf, h.Seq, 10)
	w.always(`,"hash":`, h.Hash)
	w.number(`,"format":`, int64(h.Format))
	w.always(`,"sig":`, h.Sig)
	w.buf = append(w.buf, '}')
}

func (w *encoder) past(name string, p *Past) {
	if p == nil {
		return
	}
	w.name(name)
	w.buf = append(w.buf, `{"file":`...)
	w.quote(p.File)
	w.head(`,"head":`, &p.Head)
	w.buf = append(w.buf, '}')
}

func (w *encoder) people(people []Person) {
	for i := range people {
		p := &people[i]
		if i == 0 {
			w.name(`,"people":`)
			w.buf = append(w.buf, `[{"name":`...)
		} else {
			w.buf = append(w.buf, `,{"name":`...)
		}
		w.quote(p.Name)
		w.text(`,"via":`, p.Via)
		w.time(`,"at":`, p.At)
		w.number(`,"tookMs":`, p.TookMs)
		w.text(`,"says":`, p.Says)
		w.text(`,"passkey":`, p.Passkey)
		w.buf = append(w.buf, '}')
	}
	if len(people) > 0 {
		w.buf = append(w.buf, ']')
	}
}

// name starts a member. It is given with its quotes, and with the comma before
// it and the colon behind.
func (w *encoder) name(name string) { w.buf = append(w.buf, name...) }

// text, number, time, params and list leave out what is not set.
func (w *encoder) text(name, value string) {
	if value != "" {
		w.always(name, value)
	}
}

func (w *encoder) always(name, value string) {
	w.name(name)
	w.quote(value)
}

func (w *encoder) number(name string, value int64) {
	if value != 0 {
		w.name(name)
		w.buf = strconv.AppendInt(w.buf, value, 10)
	}
}

func (w *encoder) time(name string, value time.Time) {
	if value.IsZero() {
		return
	}
	w.name(name)
	text, err := value.AppendText(append(w.buf, '"'))
	w.keep(append(text, '"'), err)
}

// params writes a JSON value without its white space, and refuses what is none or
// could be read in two ways. Redaction has seen to that already, for every call.
func (w *encoder) params(e *Entry) {
	if e.Params == nil {
		return
	}
	w.name(`,"params":`)
	if e.Compact {
		w.buf = append(w.buf, e.Params...)
		return
	}
	w.keep(jsontext.AppendFormat(w.buf, e.Params, jsontext.AllowInvalidUTF8(true)))
}

func (w *encoder) list(name string, values []string) {
	for i, v := range values {
		if i == 0 {
			w.name(name)
			w.buf = append(w.buf, '[')
		} else {
			w.buf = append(w.buf, ',')
		}
		w.quote(v)
	}
	if len(values) > 0 {
		w.buf = append(w.buf, ']')
	}
}

// quote writes a string, nearly always as it is. The error only says that bytes
// which are not UTF-8 became U+FFFD.
func (w *encoder) quote(s string) {
	start := len(w.buf)
	w.buf = append(append(append(w.buf, '"'), s...), '"')
	if !isPlain(w.buf[start+1 : len(w.buf)-1]) {
		w.buf, _ = jsontext.AppendQuote(w.buf[:start], s)
	}
}

// isPlain reports whether text is ASCII in which JSON escapes nothing.
func isPlain(text []byte) bool {
	for ; len(text) >= 8; text = text[8:] {
		if !areEightPlain(binary.LittleEndian.Uint64(text)) {
			return false
		}
	}
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// areEightPlain is the same for eight bytes at once. A byte is below n if taking n
// from it borrows, which shows in its top bit; it is c if it becomes zero, that is
// below one, where the bits of c are turned.
func areEightPlain(b uint64) bool {
	const each, top = 0x0101010101010101, 0x8080808080808080
	quotes, slashes := b^each*'"', b^each*'\\'
	odd := (b-each*' ')&^b | (quotes-each)&^quotes | (slashes-each)&^slashes | b
	return odd&top == 0
}

// keep takes over what was appended, and the first error.
func (w *encoder) keep(buf []byte, err error) {
	w.buf = buf
	if w.err == nil {
		w.err = err
	}
}
