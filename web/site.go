package web

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"unicode"

	"github.com/openclaw-verifier/verifier/internal/record"
)

// site is what all views share: the options of the page, how a view is drawn and
// sent, and how the record says what a person did.
type site struct{ o Options }

// render draws a whole page, or nothing of it.
func (s *site) render(w http.ResponseWriter, r *http.Request, name string, v any) {
	body, err := draw(name, v)
	if err != nil {
		s.o.Log.ErrorContext(r.Context(), "a page could not be drawn", "page", name, "err", err)
		http.Error(w, "The page could not be drawn. The log says why.", http.StatusInternalServerError)
		return
	}
	s.send(w, r, "text/html; charset=utf-8", body)
}

// send writes an answer. The browser may have gone.
func (s *site) send(w http.ResponseWriter, r *http.Request, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	if _, err := w.Write(body); err != nil {
		s.o.Log.DebugContext(r.Context(), "an answer could not be sent", "err", err)
	}
}

// shell is the same for all: scripts, styles, a form to log in, and no data.
func (s *site) shell(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, "shell", nil)
}

// show draws a view for a person who is logged in, with what is around every view.
func (s *site) show(w http.ResponseWriter, r *http.Request, m *member, name string, v view) {
	v.Me = m
	if paused := s.o.Pauses.Text(r.Context()); paused != "" {
		v.Paused = strings.Split(paused, "\n")
	}
	s.render(w, r, name, v)
}

func (s *site) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	s.o.Log.ErrorContext(r.Context(), "the page could not read the questions", "err", err)
	http.Error(w, "The store can't be reached. Nothing was changed; try again.", http.StatusServiceUnavailable)
}

// fault says in the log what went wrong, if something did.
func (s *site) fault(ctx context.Context, what string, err error) {
	if err != nil {
		s.o.Log.ErrorContext(ctx, what, "err", err)
	}
}

// text answers with one line.
func (s *site) text(w http.ResponseWriter, r *http.Request, line string) {
	s.send(w, r, "text/plain; charset=utf-8", []byte(line))
}

// note writes into the record what a person did on the page.
func (s *site) note(ctx context.Context, t *ticket, what string) error {
	if t.Viewer {
		what += ", to look only"
	}
	return s.record(ctx, record.Entry{Note: what}, record.Person{Name: t.Person})
}

// record is note with what else the entry says.
func (s *site) record(ctx context.Context, e record.Entry, who record.Person) error {
	who.Via, who.At = Via, s.o.Now().UTC()
	e.Kind, e.People = record.KindNote, []record.Person{who}
	err := s.o.Record.Append(e)
	s.fault(ctx, "the record could not be written", err)
	return err
}

// givenName is what a person calls a passkey or a device. It is shown to them alone.
func (s *site) givenName(r *http.Request, otherwise string) string {
	name := strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsGraphic(c) {
			return c
		}
		return -1
	}, strings.ToValidUTF8(s.o.Hide(r.PostFormValue("name")), "")))
	if letters := []rune(name); len(letters) > mostNamed {
		name = string(letters[:mostNamed])
	}
	return cmp.Or(name, otherwise)
}
