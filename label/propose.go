package label

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/openclaw-verifier/verifier/policy"
)

// Proposal is a label, and why it is as it is.
type Proposal struct {
	Label policy.Tool
	// Why are the words, arguments and claims that it rests on, the strictest first.
	Why []string
	// Unsure says that nothing tells what the tool does: it counts as source and sink.
	Unsure bool
}

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

var (
	// looking begin the names of tools that only look.
	looking = words("get list search read find lookup check show view count describe retrieve")

	// acting are verbs for changing something, or for sending it away.
	acting = words(`accept activate add adjust allow append apply approve archive assign attach authorize award backup ban bid block book broadcast buy call cancel change charge
		checkin checkout clear click clone close commit complete compose configure confirm connect convert copy create decline delete deliver deny deploy deposit destroy disable
		discard disconnect dismiss dispatch donate download draft drop duplicate edit email enable enroll erase escalate evaluate execute exec export extend file fill follow forward
		generate give grant hire import increase decrease initiate insert install invest invite invoke issue join kick kill launch leave link lock log login logout mail make mark merge
		message modify mount move mute navigate notify open order overwrite patch pause pay perform pin place play post press print process promote provision publish purchase purge
		push put quit rate react reassign rebook record redeem refund register reject release reload remind remove rename renew rent reopen reply report request reschedule reserve
		reset resolve respond restart restore resume return revert review revoke roll rotate run save schedule sell send set settle share ship shut sign sms spawn star start stop
		store stream submit subscribe suspend swap switch sync tag terminate text tip toggle track trade transfer transmit trigger truncate turn tweet type unblock undo uninstall
		unlink unlock unsend unsubscribe update upgrade upload upsert vote wipe wire withdraw write`)

	// nouns are verbs of acting that are as often names of things: beside a word for looking they say nothing.
	nouns = words(`archive award backup bid block book call change charge checkout clone comment commit copy deposit draft email export file import invite issue link log login mail mark
		message mute order patch pin place play post print process purchase rate record refund release report request return review run schedule set share ship sign sms star start stop
		store stream swap switch tag text tip track trade transfer trigger tweet type update upgrade vote open review`)

	// destroying are those whose effect can't be undone.
	destroying = words("ban cancel clear delete destroy discard drop erase kick kill overwrite purge remove reset revoke terminate truncate uninstall unsend wipe")

	// paying are words for money that goes away.
	paying = words("bid buy charge checkout deposit donate invest money order pay payment purchase redeem refund rent sell settle stake tip trade transaction transfer wire withdraw")

	// particles turn a word for looking into one for acting: check in, read aloud, search and replace.
	particles = words("in out off aloud and or then into onto")

	// secrets are words for what opens something, or says who somebody is.
	secrets = words("password passwords passwd passphrase credential credentials secret secrets apikey otp cvv ssn passport token tokens keychain vault")

	// carriers are words in the names of arguments that take a text or an address anywhere.
	carriers = words(`url urls uri link links href website site webpage endpoint webhook callback host hostname domain server to recipient recipients cc bcc attachment attachments body
		content contents text message messages subject html markdown comment comments note notes payload data json xml command commands cmd code script sql expression formula prompt
		instruction instructions amount price value values password secret token header headers cookie args argv env action operation method new`)

	// destinations are words in the names of arguments that say whom a call reaches.
	destinations = words("to recipient recipients cc bcc email emails address addresses channel channels user users chat room phone number contact attendee attendees participant participants target conversation thread group")

	// contents are arguments that only hold what is said.
	contents = words("subject body message text caption title")

	// web are words in the names of tools that look outside.
	web = words("web internet online google bing url urls website websites webpage webpages site page pages browser http https link feed rss")
)

// Propose says what a tool does, as far as its catalogue tells.
func Propose(t *Tool) Proposal {
	p := proposer{tool: t, name: nameWords(t.Name)}
	p.acts()
	p.label()
	return Proposal{Label: p.out, Why: p.why, Unsure: p.unsure}
}

type proposer struct {
	tool           *Tool
	name           []string
	sink, destroys bool
	named          bool // its name says that it acts
	unsure         bool
	out            policy.Tool
	why            []string
}

func (p *proposer) because(format string, args ...any) {
	p.why = append(p.why, fmt.Sprintf(format, args...))
}

// acts looks for all that speaks against a tool, and at last for whether anything speaks for it.
func (p *proposer) acts() {
	looks := len(p.name) > 0 && looking[p.name[0]]
	for i, w := range p.name {
		p.named = p.found(fmt.Sprintf("%q in its name", w), w, acting[w] && (!looks || !nouns[w]) || i > 0 && looks && particles[w] && (i == 1 || w == "and" || w == "or" || w == "then")) || p.named
	}
	for _, w := range verbs(p.tool.Description) {
		p.found(fmt.Sprintf("%q in its description", w), w, true)
	}
	if p.tool.Destructive != nil && *p.tool.Destructive {
		p.found("the server calls it destructive", "delete", true)
	}
	if p.tool.ReadOnly != nil && !*p.tool.ReadOnly {
		p.found("the server says that it is not only for reading", "", true)
	}
	if looks && slices.ContainsFunc(p.name, func(w string) bool { return web[w] }) {
		p.found("it looks outside", "", true)
	}
	if p.sink {
		return
	}
	switch carrier := p.carrier(); {
	case !looks:
		p.unsure = true
		p.because("no word of its name says what it does")
	case !bareName.MatchString(p.tool.Name):
		p.unsure = true
		p.because("its name holds unusual characters")
	case p.tool.Loose:
		p.unsure = true
		p.because("its schema takes arguments that it does not name")
	case carrier != "":
		p.unsure = true
		p.because("%q could carry something out", carrier)
	}
	p.sink = p.unsure
}

// found notes one reason why a tool acts.
func (p *proposer) found(why, verb string, counts bool) bool {
	if !counts {
		return false
	}
	if !p.sink || destroying[verb] && !p.destroys {
		p.because("%s", why)
	}
	p.sink = true
	p.destroys = p.destroys || destroying[verb]
	return true
}

// carrier is an argument that can take a text or an address out.
func (p *proposer) carrier() string {
	for _, param := range p.tool.Params {
		if param.Chosen {
			continue
		}
		if slices.ContainsFunc(nameWords(param.Name), func(w string) bool { return carriers[w] }) {
			return param.Name
		}
	}
	return ""
}

func (p *proposer) label() {
	p.out.Source, p.out.Sink = new(!p.tool.Numbers), new(p.sink)
	if p.tool.Numbers {
		p.because("it returns no text, as its schema says")
	}
	if w := p.secret(); w != "" {
		p.out.Secret = new(true)
		p.because("%q: it may bear secrets", w)
	}
	if !p.sink {
		p.out.Safe = new(true)
		p.because("%q in its name, no word for acting, and its arguments only choose what it looks at", p.name[0])
		if slices.ContainsFunc(p.tool.Params, func(a Param) bool { return !a.Chosen }) {
			p.out.Leaves = new(true)
		}
		return
	}
	if p.destroys {
		p.out.Destructive = new(true)
	}
	if i := slices.IndexFunc(p.name, func(w string) bool { return paying[w] }); i >= 0 {
		p.out.Money = new(true)
		p.because("%q: it may cost money", p.name[i])
	}
	p.arguments()
}

// arguments tells where a call goes from what it says. Unless one of them says whom it reaches, each is a destination.
func (p *proposer) arguments() {
	reaches := slices.ContainsFunc(p.tool.Params, func(a Param) bool {
		return slices.ContainsFunc(nameWords(a.Name), func(w string) bool { return destinations[w] })
	})
	says := reaches && p.named && !p.destroys && p.out.Money == nil && !p.tool.Loose
	p.out.Destinations = []string{}
	for _, a := range p.tool.Params {
		if says && contents[strings.ToLower(a.Name)] {
			p.out.Content = append(p.out.Content, a.Name)
			continue
		}
		p.out.Destinations = append(p.out.Destinations, a.Name)
	}
	if len(p.out.Destinations) == 0 { // an empty list would say that it goes nowhere
		p.out.Destinations = nil
	}
}

// secret is a word for secrets in the name or the description, or in the name of an argument.
func (p *proposer) secret() string {
	all := slices.Concat(p.name, nameWords(p.tool.Description))
	for _, a := range p.tool.Params {
		all = append(all, nameWords(a.Name)...)
	}
	if i := slices.IndexFunc(all, func(w string) bool { return secrets[w] }); i >= 0 {
		return all[i]
	}
	for i := 1; i < len(all); i++ {
		if pair := all[i-1] + " " + all[i]; slices.Contains([]string{"api key", "private key", "credit card", "social security"}, pair) {
			return pair
		}
	}
	return ""
}

// nameWords are the words of a name, in lower case: send_email, sendEmail and mcp__mail__send-email.
func nameWords(name string) []string {
	if rest, isMCP := strings.CutPrefix(name, "mcp__"); isMCP {
		_, name, _ = strings.Cut(rest, "__")
	}
	var out []string
	for part := range strings.FieldsFuncSeq(name, func(c rune) bool { return !unicode.IsLetter(c) }) {
		letters, from := []rune(part), 0
		for i := 1; i <= len(letters); i++ {
			if i < len(letters) && (!unicode.IsUpper(letters[i]) || unicode.IsUpper(letters[i-1]) && (i+1 == len(letters) || unicode.IsUpper(letters[i+1]))) {
				continue
			}
			out = append(out, strings.ToLower(string(letters[from:i])))
			from = i
		}
	}
	return out
}

// after are words behind which a verb says what is done; behind others, and behind a comma, a noun may stand as well.
var (
	after    = words("then also will can may to it that which tool function this")
	maybe    = words("and or")
	articles = words("it them the a an this these your all to")
)

// verbs are the verbs of acting that a description has where it says what is done, in their plain form. A word that is as
// often a noun counts within a sentence only before an article: "and emails it", but not "ratings and reviews".
func verbs(text string) (out []string) {
	fields, sure, unsure := strings.Fields(text), true, false
	for i, field := range fields {
		w := bare(field)
		if w == "" {
			continue
		}
		verb := plain(w)
		counts := acting[verb] && verb != "return"
		if counts && (sure || unsure && (!nouns[verb] || i+1 < len(fields) && articles[bare(fields[i+1])])) {
			out = append(out, verb)
		}
		end := strings.TrimRight(field, "\"'`)]*")
		sure = after[w] || strings.HasSuffix(end, ".") || strings.HasSuffix(end, ":") || strings.HasSuffix(end, ";") || strings.HasSuffix(end, "!")
		unsure = maybe[w] || strings.HasSuffix(end, ",")
	}
	return out
}

// bare is a word without the signs around it, in lower case.
func bare(field string) string {
	return strings.ToLower(strings.TrimFunc(field, func(c rune) bool { return !unicode.IsLetter(c) }))
}

// plain is the plain form of a verb: sends, copies, sending.
func plain(w string) string {
	for _, end := range [][2]string{{"ies", "y"}, {"es", "e"}, {"es", ""}, {"s", ""}, {"ing", ""}, {"ing", "e"}} {
		if stem, ok := strings.CutSuffix(w, end[0]); ok && acting[stem+end[1]] {
			return stem + end[1]
		}
	}
	return w
}
