package web

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strconv"
	"unicode"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/codes"
)

// What a person is asked before something is allowed that outside content could
// drive, or that can't be undone: to pick where it goes among others that look
// like it. A hand that taps by habit can't.
const (
	choices   = 4
	maxMisses = 2   // then this session may not allow the card any more
	maxChoice = 160 // characters; what is longer is cut, not left out
)

// confirmView is that question.
type confirmView struct {
	Question string
	Choices  []string
	Nonce    string
	Missed   bool
	Card     cardView
	Handle   string
	Minutes  string
}

// careful stops an allow that needs care until the right choice was picked. It
// reports whether the answer may go on to the desk; otherwise it has answered.
func (p *Page) careful(w http.ResponseWriter, r *http.Request, m *member, handle string) bool {
	c, action, err := p.o.Desk.Tapped(r.Context(), handle)
	if err != nil {
		p.unreachable(w, r, err)
		return false
	}
	if c == nil || !c.Careful() || !action.Allows() {
		return true
	}
	if several(c) {
		p.one(w, r, m, c.ID, said{Text: oneByOne + " Nothing was approved.", Tone: bad})
		return false
	}
	count := "page-pick:" + m.ID + c.ID[:16]
	misses, err := p.o.Tries.Miss(r.Context(), count, approval.Retention, false)
	right := false
	if pick := r.PostFormValue("pick"); err == nil && pick != "" && misses < maxMisses {
		n, errPick := strconv.Atoi(pick)
		offered, itself := p.choices(m, c, r.PostFormValue("nonce"))
		if right = errPick == nil && n >= 0 && n < len(offered) && offered[n] == itself; !right {
			misses, err = p.o.Tries.Miss(r.Context(), count, approval.Retention, true)
		}
	}
	switch {
	case err != nil:
		p.unreachable(w, r, err)
	case right:
		return true
	case misses >= maxMisses:
		p.one(w, r, m, c.ID, said{Text: "That was not it, twice. Nothing was approved, and this login can't allow the call any more. Deny it, or look again and answer elsewhere.", Tone: bad})
	default:
		p.confirm(w, r, m, c, handle, misses > 0)
	}
	return false
}

// confirm asks, each time anew.
func (p *Page) confirm(w http.ResponseWriter, r *http.Request, m *member, c *approval.Card, handle string, missed bool) {
	nonce, err := codes.NewID(nil)
	if err != nil {
		p.unreachable(w, r, err)
		return
	}
	offered, _ := p.choices(m, c, nonce)
	_, o, now, err := p.o.Desk.Look(r.Context(), c.ID)
	if err != nil || o.State != approval.Open {
		p.one(w, r, m, c.ID, said{})
		return
	}
	v := confirmView{Question: "Where does it go?", Choices: offered, Nonce: nonce, Missed: missed, Handle: handle, Minutes: r.PostFormValue("minutes"), Card: shown(c, nil, now, m)}
	if a := carefulAsk(c); destination(a).whole {
		v.Question = "What will run?"
	}
	p.show(w, r, m, "confirm", view{Title: "Look once more", At: "waiting", Confirm: v})
}

// oneByOne is said where several cannot be allowed together.
const oneByOne = "More than one of these calls needs a close look, and one pick can't stand for several: they are not allowed together here. Deny them, and have the agent try them one at a time."

// several reports whether one pick would allow more than the call it was about.
func several(c *approval.Card) bool {
	n := 0
	for i := range c.Questions {
		if c.Questions[i].Ask.Careful {
			n++
		}
	}
	return n > 1
}

func carefulAsk(c *approval.Card) *approval.Ask {
	i := slices.IndexFunc(c.Questions, func(q approval.Question) bool { return q.Ask.Careful })
	return &c.Questions[max(i, 0)].Ask
}

// choices are the real one and others that look like it, in an order that only
// this server can tell from the nonce.
func (p *Page) choices(m *member, c *approval.Card, nonce string) (offered []string, right string) {
	seed := sha256.Sum256([]byte(p.o.Key.Seal("page-decoy", m.ID, c.ID, nonce)))
	goes := destination(carefulAsk(c))
	offered = append([]string{goes.text}, lookalikes(goes, seed[:])...)
	for i := len(offered) - 1; i > 0; i-- {
		j := int(seed[16+i]) % (i + 1)
		offered[i], offered[j] = offered[j], offered[i]
	}
	return offered, goes.text
}

// changed swaps, drops or replaces letters at a place that n picks.
func changed(s string, n int) string {
	r := []rune(s)
	var letters []int
	marked := 0 // in what is said about the text, as of what was cut: nobody compares that
	for i, c := range r {
		switch c {
		case '⟨':
			marked++
		case '⟩':
			marked = max(0, marked-1)
		}
		if marked == 0 && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
			letters = append(letters, i)
		}
	}
	if len(letters) < 2 {
		return s + strconv.Itoa(n%10)
	}
	at := letters[n%len(letters)]
	switch n % 3 {
	case 0:
		if next := letters[(n+1)%len(letters)]; r[at] != r[next] {
			r[at], r[next] = r[next], r[at]
			return string(r)
		}
		return string(append(r[:at:at], r[at+1:]...))
	case 1:
		return string(append(r[:at:at], r[at+1:]...))
	}
	r[at] = 'a' + (unicode.ToLower(r[at])-'a'+rune(n%25)+26)%26
	return string(r)
}
