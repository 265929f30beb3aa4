package web

import (
	"errors"
	"net/http"

	"github.com/openclaw-verifier/verifier/approval"
)

// reveal shows an approver a call with what redaction hides. It takes a form of
// its own, so that nothing secret is on the screen by chance; it is recorded, and
// it goes to this answer and nowhere else.
func (q *questions) reveal(w http.ResponseWriter, r *http.Request, m *member) {
	c, o, now, ok := q.named(w, r, m)
	if !ok {
		return
	}
	var err error
	if a := (approval.Answer{ID: m.id(), Via: Via}); len(c.Questions) > 1 {
		err = q.o.Desk.Open(r.Context(), a, c)
	} else {
		_, err = q.o.Desk.Reveal(r.Context(), a, c)
	}
	switch {
	case errors.Is(err, approval.ErrNotHeld):
		q.one(w, r, m, c.ID, said{Text: "The call is not waiting here any more, and what was hidden in it is kept nowhere.", Tone: odd})
		return
	case err != nil:
		q.o.Log.ErrorContext(r.Context(), "what is hidden could not be shown", "err", err)
		q.one(w, r, m, c.ID, said{Text: "It can't be shown: the record can't be written.", Tone: odd})
		return
	}
	q.like(r.Context(), c, o, m, 0)
	v := whole(c, o, now, m)
	q.around(r.Context(), &v, &c.Questions[0].Ask)
	v.Revealed = true
	q.show(w, r, m, "card", view{Title: c.Ref(), At: "waiting", Card: v})
}
