package web

import (
	"errors"
	"net/http"

	"github.com/openclaw-verifier/verifier/approval"
)

// reveal shows an approver a call with what redaction hides. It takes a form of
// its own, so that nothing secret is on the screen by chance; it is recorded, and
// it goes to this answer and nowhere else.
func (p *Page) reveal(w http.ResponseWriter, r *http.Request, m *member) {
	c, o, now, err := p.o.Desk.Look(r.Context(), r.PostFormValue("card"))
	if errors.Is(err, approval.ErrGone) || err == nil && o.State != approval.Open {
		p.one(w, r, m, r.PostFormValue("card"), said{})
		return
	}
	if err != nil {
		p.unreachable(w, r, err)
		return
	}
	if a := (approval.Answer{ID: m.id(), Via: Via}); len(c.Questions) > 1 {
		err = p.o.Desk.Open(r.Context(), a, c)
	} else {
		_, err = p.o.Desk.Reveal(r.Context(), a, c)
	}
	switch {
	case errors.Is(err, approval.ErrNotHeld):
		p.one(w, r, m, c.ID, said{Text: "The call is not waiting here any more, and what was hidden in it is kept nowhere.", Tone: odd})
		return
	case err != nil:
		p.o.Log.ErrorContext(r.Context(), "what is hidden could not be shown", "err", err)
		p.one(w, r, m, c.ID, said{Text: "It can't be shown: the record can't be written.", Tone: odd})
		return
	}
	p.like(r.Context(), c, o, m, 0)
	v := whole(c, o, now, m)
	p.around(r.Context(), &v, &c.Questions[0].Ask)
	v.Revealed = true
	p.show(w, r, m, "card", view{Title: c.Ref(), At: "waiting", Card: v})
}
