package channels

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/spelling"
)

// deed is what a call does, as the careful question asks for it.
type deed struct {
	question string
	text     string   // the right answer
	real     []string // what is in the call or true of it: none of it is a wrong answer
	said     []string // places that the owner wrote of: the best wrong answers
	another  func(d *dice) string
}

// dice throws numbers that follow from a seed: the same choices are offered when the answer comes.
type dice struct {
	seed   [sha256.Size]byte
	thrown uint64
}

func (d *dice) below(n int) int {
	d.thrown++
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(d.seed[:], d.thrown))
	return int(binary.BigEndian.Uint32(sum[:4])>>1) % n
}

// order is the numbers below n in any order.
func (d *dice) order(n int) []int {
	out := make([]int, n)
	for i := range out {
		j := d.below(i + 1)
		out[i], out[j] = out[j], i
	}
	return out
}

// effects are what the policy's own analysis says of a call, in a sentence.
var effects = map[string]string{
	string(policy.RunsDownloaded):   "It runs code that it downloads",
	string(policy.DeletesFiles):     "It deletes files",
	string(policy.CantBeUndone):     "It changes something that can't be changed back",
	string(policy.HoldsSecret):      "It uses a password or a key",
	string(policy.OutsideWorkspace): "It changes files outside the workspace",
	string(policy.LeavesMachine):    "It sends something to another machine",
}

// harmless are what else commands do. None is a wrong answer to what is the worst that one does.
var harmless = []string{
	"It only lists files", "It runs the project's tests", "It shows the history of a repository", "It prints the date", "It formats source files",
}

// meaning is what a person has to know of a call before they allow it: who gets it, which file it changes, the worst that it does, or
// what runs.
func meaning(a *approval.Ask) deed {
	goes := destination(a)
	d := deed{question: "Where does it go?", text: goes.text, real: goes.real}
	for _, said := range a.Said {
		d.said = append(d.said, places.FindAllString(said, -1)...)
	}
	if !goes.whole {
		d.another = placeLike(goes.text)
		return d
	}
	if file := File(a); file != "" {
		d.question, d.text, d.another = "Which file does it change?", file, aPath
		return d
	}
	var does []string
	for _, risk := range a.Risks {
		if effects[risk] != "" {
			does = append(does, effects[risk])
		}
	}
	if len(does) > 0 { // what the agent writes into the call changes nothing of what it does
		d.question, d.text, d.real, d.said, d.another = "What is the worst that it does?", does[0], does, nil, anEffect
	} else {
		d.question, d.said, d.another = "What will run?", nil, aCommand
	}
	return d
}

// others are the wrong answers: first what the owner has written of, then others of the same kind. None is in the call, and none can
// be taken for the right one. The agent can write so much into a call that there are fewer than needed: see [Choices].
func (d *deed) others(by *dice) (out []string) {
	_, compared := spelling.Nearest("", []string{d.text}) // bytes: of a long text only its head is
	add := func(s string) {
		same := func(x string) bool { return strings.EqualFold(x, s) }
		_, far := spelling.Nearest(s, []string{d.text})
		if s == "" || far <= max(2, compared/4) || slices.ContainsFunc(d.real, same) || slices.ContainsFunc(out, same) || len(out) == choices-1 {
			return
		}
		out = append(out, s)
	}
	for _, i := range by.order(len(d.said)) {
		if text, _ := Safe(d.said[i], Form{Limit: maxChoice}); len(out) < choices-2 && placeKind(text) == placeKind(d.text) {
			add(text)
		}
	}
	for tries := 0; len(out) < choices-1 && tries < 1000; tries++ {
		add(d.another(by))
	}
	return out
}

// Kinds of places.
const (
	asMail = iota
	asLink
	asPhone
	asPath
	asName
)

func placeKind(s string) int {
	switch {
	case strings.Contains(s, "://"):
		return asLink
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, "~/"), strings.HasPrefix(s, "./"):
		return asPath
	case strings.Contains(s, "@") && !strings.HasPrefix(s, "@"):
		return asMail
	case strings.Trim(s, "+-0123456789 ()") == "":
		return asPhone
	}
	return asName
}

// placeLike makes places of the kind that a text is of.
func placeLike(text string) func(d *dice) string {
	switch placeKind(text) {
	case asMail:
		return func(d *dice) string {
			return one(d, firstNames) + "." + one(d, lastNames) + "@" + one(d, hosts)
		}
	case asLink:
		return func(d *dice) string { return "https://" + one(d, hosts) + "/" + one(d, pages) }
	case asPath:
		return aPath
	case asPhone:
		return func(d *dice) string {
			digits := func(r rune) rune {
				if r >= '0' && r <= '9' {
					return rune("0123456789"[d.below(10)])
				}
				return r
			}
			return strings.Map(digits, text)
		}
	}
	sign := "" // such as @ or #
	if r, size := utf8.DecodeRuneInString(text); r != '_' && r != utf8.RuneError && (unicode.IsPunct(r) || unicode.IsSymbol(r)) {
		sign = text[:size]
	}
	return func(d *dice) string {
		return fmt.Sprintf("%s%s-%s", sign, one(d, firstNames), one(d, lastNames))
	}
}

func aPath(d *dice) string { return one(d, directories) + "/" + one(d, files) }

func anEffect(d *dice) string {
	if d.below(2) == 0 {
		return one(d, harmless)
	}
	return one(d, slices.Sorted(maps.Values(effects))) // the dice decide, and not the order of a map
}

func aCommand(d *dice) string { return one(d, programs) + " " + one(d, files) }

func one(d *dice, of []string) string { return of[d.below(len(of))] }

// What wrong answers are made of.
var (
	firstNames  = strings.Fields("anna ben carla david emma felix grace hugo irene jonas karin leo maria noah olga paul rosa simon tina victor")
	lastNames   = strings.Fields("adler brandt costa dubois evans fischer garcia hansen ivanov jansen keller larsen moreau novak olsen peters ricci santos turner weber")
	hosts       = strings.Fields("example.com example.net example.org mail.example.com docs.example.org files.example.net api.example.com shop.example.org news.example.net")
	pages       = strings.Fields("index.html status docs/start downloads/latest api/v1/items blog/2024 help/contact search about pricing login/return feed.xml")
	directories = strings.Fields("/srv/app /var/log /tmp/build /opt/tools ~/Documents ~/projects/site ~/Downloads ./src ./docs ./scripts ./internal/server ./testdata")
	files       = strings.Fields("README.md notes.txt main.go index.ts report.csv settings.toml deploy.sh schema.sql changelog.md photo.jpg backup.tar.gz Makefile")
	programs    = strings.Fields("cat head tail wc stat file less sort touch gofmt diff vim")
)

const (
	choices   = 4
	maxChoice = 160 // characters; what is longer is cut, not left out
)

// Choices are what a call does and other things that calls of its kind do, in an order that follows from the seed. There are none where
// the agent has written so many of the wrong answers into the call that a pick among the rest would prove nothing.
func Choices(a *approval.Ask, seed []byte) approval.Choices {
	by := &dice{seed: sha256.Sum256(seed)}
	does := meaning(a)
	all := append([]string{does.text}, does.others(by)...)
	out := approval.Choices{Question: does.question}
	if len(all) < choices {
		return out
	}
	for at, i := range by.order(len(all)) {
		out.Offered = append(out.Offered, all[i])
		if i == 0 {
			out.Right = at
		}
	}
	return out
}

// Picking is the careful question as a chat shows it, below the card or the details whose button was tapped: what the call does is
// among other things, and each has a letter.
func Picking(c *approval.Card, p *approval.Pick, now time.Time) *Document {
	a := &c.Questions[p.At].Ask
	h := Head(a)
	d := &Document{Ref: c.Ref(), Sign: "🔎", Title: "Look once more: " + h.Says, Of: h.Of, Then: h.Then, Full: true}
	if p.Missed {
		d.Blocks = append(d.Blocks, Block{Kind: Warning, Label: pickMissed})
	}
	question := p.Question
	if n := len(c.Questions); n > 1 {
		question = "Call " + callNumber(p.At, n) + ". " + question
	}
	d.Blocks = append(d.Blocks, Block{Kind: Note, Label: question, Gap: true})
	for i, offer := range p.Offers {
		letter := string(rune('A' + i))
		d.Blocks = append(d.Blocks, Block{Kind: Field, Label: letter, Text: offer.Text})
		d.Buttons = append(d.Buttons, Button{Action: approval.PickOne, Label: letter, Handle: offer.Handle})
	}
	d.Blocks = append(d.Blocks, Block{Kind: Note, Label: pickGives, Text: inline(p.Gives, normal.main), Gap: true}, Block{Kind: Note, Label: pickWhy},
		Block{Kind: Field, Part: OfTime, Label: "ref", Text: c.Ref() + ", " + timeLeft(c.Until(), now)})
	d.Buttons = append(d.Buttons, button(c, approval.DenyCall, denyLabel(c)))
	return d
}
