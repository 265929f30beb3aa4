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

	milder bool // a model thinks that the tool only looks
}

func words(list string) map[string]bool { return set(strings.Fields(list)) }

func set(list []string) map[string]bool {
	out := make(map[string]bool, len(list))
	for _, w := range list {
		out[w] = true
	}
	return out
}

var (
	// looking begin the names of tools that only look, and their descriptions.
	looking   = words("get list search read find lookup check view count describe retrieve")
	describes = words("get list search read find look lookup check show view count describe retrieve return provide display query fetch browse")

	// acting are verbs for changing something, or for sending it away.
	acting = words(`accept acknowledge activate add adjust allow append apply approve archive ask assign attach authorize award backup ban begin bid block book boost boot bring broadcast
		buy call cancel cast change charge checkin checkout claim clean clear click clone close collect commit complete compose configure confirm connect consume convert copy correct create
		deactivate decline decrease del delete deliver demote deny deploy deposit destroy detach dial disable discard disconnect dismiss dispatch donate download draft drop duplicate edit
		elevate email empty enable enroll erase escalate evaluate execute exec export extend fail fax file fill flag follow forward freeze generate grant hail hand hire hold import increase
		initiate insert install invest invite invoke issue join kick kill launch leave let like link lock log login logout mail make mark merge message migrate mint modify mount move
		mute narrate navigate notify open order overwrite page patch pause pay perform pin ping place play point pop post press print process promote provision publish purchase purge push
		put quit rate react reassign rebook rebuild record redeem refer refill refresh refund register reject release reload remind remove rename renew rent reopen replace reply report
		request rerequest rerun reschedule reserve reset resize resolve respond restart restore resume retweet return revert review revoke ring roll rotate rsvp run save scale schedule sell
		send set settle share ship shut sign sms spawn speak spin star start stop store stream submit subscribe suspend swap switch sync tag take terminate text tick tip toggle track trade
		transfer transmit trigger truncate turn tweet type unassign unblock undo unfollow unfreeze uninstall unlink unlock unmute unpin unsend unsubscribe update upgrade upload upsert visit
		void vote wipe wire withdraw write cut`)

	// nouns are verbs of acting that are as often something else. They count where a verb must be, and not in the name of a tool that looks.
	nouns = words(`archive award backup bid block book boost boot call cast change charge checkout claim clean clear clone close collect comment commit complete copy correct deposit dial draft drop
		duplicate email empty export extend fail fax file fill flag freeze hand hold import increase decrease invite issue join leave let like link log login mail mark message mint
		mount mute open order page patch pause pin ping place play point pop post press print process provision purchase put rate record refund refresh release report request resume return
		review ring roll run scale schedule set share ship sign sms spin star start stop store stream swap switch tag text tick tip track trade transfer trigger turn tweet type update upgrade
		visit void vote wire use cut`)

	// destroying are those whose effect can't be undone.
	destroying = words("ban cancel clear del delete destroy close deactivate decommission discard dispose drop empty erase expunge force format kick kill overwrite prune purge remove reset revoke shred terminate trash truncate uninstall unpublish unregister unsend void wipe")

	// paying are words for money that goes away.
	paying = words("amount bid book buy cash currency funds hire paypal price reserve subscribe topup upgrade venmo charge checkout deposit donate invest money order pay payment purchase redeem refund rent sell settle stake tip trade transaction transfer wire withdraw")

	// against are words that no description of a tool has which only looks: what is sold, what pops up, what is new.
	against = words("so receipt receipts once queue sale auction classifieds storefront marketplace notification notifications alert popup dialog checkbox new immediately automatically aloud loud billed charged fresh gone sees publicly public everyone now anybody anyone visible subscribers")

	// services are what one gets by ordering it: "get a ride".
	services = words("ride rides taxi taxis cab cabs refund loan advance table appointment insurance reservation callback signature delivery card copy human tickets ticket coffee heat cash overdraft airdrop faucet approval feedback help attention access badge laptop leave invite delegate interpreter transport bed dose gift swap shell lease followers likes instance runner certificate license desk seat pass sandbox vm membership captcha trash coins check raise code coupon mandate payout light entry voucher boost roaming topup pickup dropoff snapshot consent blood money funds payment deposit")

	// people have an address by which they are found.
	isReach = set([]string{"email", "email address", "phone", "phone number"})
	people  = words("user users customer customers contact contacts person people employee employees member members client clients lead leads patient patients id")

	// records are those of them that have an id of their own then.
	records = words("payment deposit snapshot instance runner certificate sandbox vm ticket appointment reservation refund loan delivery payout lease mandate card")

	// results end words for what came of an act, or may: assignments, reminder.
	results = words("ments ions ations er ers able")

	// products are names of services, as they begin the names of tools.
	products = words("github gitlab google gmail slack notion jira confluence hubspot salesforce stripe outlook microsoft aws azure docker kubernetes helm grafana linear asana trello discord telegram spotify youtube zendesk shopify airtable sentry")

	// particles turn a word for looking into one for acting: check in, read aloud, list for sale, search and replace.
	particles = words("in out off aloud on for into onto down up")

	// secrets are words for what opens something, or says who somebody is.
	secrets = words("password passwords passwd passphrase credential credentials secret secrets apikey otp cvv ssn passport token tokens keychain vault")

	// openings are more such words and pairs of words. In what is said of a tool that acts they are as often something else.
	openings = words("cvc puk mnemonic keystore kubeconfig cookie cookies jwt bearer xprv dotenv totp creds pw pwd pem nsec macaroon hmac pgp gpg dsn auth login logins autofill clipboard envvars wifi")

	// openingEnds are such words at the end of a name: elsewhere a key is pressed, and something is pinned.
	openingEnds = words("key keys pan pin")

	secretPairs  = []string{"api key", "private key", "credit card", "debit card", "card number", "card verification", "social security"}
	openingPairs = []string{
		"ssh key", "unlock key", "routing number", "access key", "signing key", "encryption key", "extended key", "recovery code", "recovery phrase", "backup code", "invite code", "invite link", "join code", "join link", "access code", "reset link",
		"the passcode", "get passcode", "master key", "root key", "stream key", "license key", "entry code", "gate code", "door code", "lock code", "factor code", "mfa code", "service account", "shadow file", "national id", "tax id", "license number", "sms message", "list variable", "the variable",
		"seed phrase", "the seed", "get seed", "wallet seed", "card pin", "the pin", "get pin", "connection string", "local storage", "session storage", "environment variables", "get env", "list env", "env vars",
	}

	// carriers are words in the names of arguments that take a text or an address anywhere.
	carriers = words(`url urls uri link links href website site webpage endpoint webhook callback to recipient recipients cc bcc email emails phone address contact attendee attendees participant
		participants attachment attachments body content contents text message messages subject html markdown comment comments note notes payload data json xml command commands cmd code script
		sql expression formula prompt instruction instructions question input answer topic phrase replacement replace reason title description summary caption amount price value values password
		secret token header headers cookie args argv env new reply response
		receiver receivers notify output outfile outdir sendto mailto mirror share distribution qty quantity statement pipeline where dax spl kql soql jql cypher gremlin`)

	// addresses are parts of such names that are not set apart: callbackurl.
	addresses = []string{"url", "webhook", "callback", "mailto", "sendto", "recipient"}

	// filtering begin the names of truth values that choose what is shown, ways are values of a list that say how something is sent or what becomes of
	// it, and counted are words in the names of numbers that choose what is shown.
	filtering = words("include exclude with without show only is has in recursive recursively verbose ascending descending asc desc full detailed details deep exact case all reverse unread expand fuzzy raw pretty long short compact hidden active available archived deleted closed completed resolved cancelled starred")
	ways      = words("email mail sms fax print printer webhook ftp sftp trash shred notify phone call")
	counted   = words("limit page pages offset size per max maximum min minimum n top count depth head tail days hours minutes year month week day latitude longitude lat lon radius number index from until since start end cursor results timeout version age guests passengers id width height line lines")

	// languages are words for a text that is a program.
	languages = words("sql graphql cypher gremlin spl kql soql dax pipeline traversal statement javascript python lambda")

	// kinds are second words of names: order number, start date.
	kinds = words("id ids identifier number date time timestamp hash name key type size status code address title index limit count")

	// happening are words that say of others what happens to them.
	happening = words("gets sees hears knows becomes receives learns finds owes loses")

	// switches are words in the names of arguments that choose what is done, whatever their type.
	switches = words("action actions operation operations op method verb command")

	// searching begin the names of tools that may take a query. A query of a database is a program.
	searching = words("search find lookup list")
	filters   = words("title topic subject phrase description")
	databases = words("sql database db table tables row rows record records graphql cypher sparql mongo mongodb collection dataset warehouse bigquery snowflake splunk spl kusto kql dax gremlin elasticsearch pipeline pipelines statement statements")

	// destinations are words in the names of arguments that say whom a call reaches.
	destinations = words("to recipient recipients cc bcc email emails address addresses channel channels user users chat room phone number contact attendee attendees participant participants target conversation thread group")

	// contents are arguments that only hold what is said.
	contents = words("body message text")

	// writing are words in the names of tools that write to people, and beyond words in those that do more than that.
	writing = words("send reply message notify dm email mail sms")
	beyond  = words("forward run execute exec call invoke share command prompt transfer")

	// machines are words for what obeys a text: to these, another text is another act.
	machines = words("terminal shell tmux console stdin process session device devices mqtt queue broker bot agent agents assistant model command commands robot server pane keystrokes")

	// codes are arguments that hold a one-time code.
	codes = words("code passcode verification_code confirmation_code one_time_code auth_code authentication_code security_code sms_code mfa_code two_factor_code")

	// entering begin the names of tools that take a one-time code, codeKinds are what else such a name says of the code, and codeEnds end it. None
	// of them can mean a payment, a door, a login or a device.
	entering  = words("enter submit verify validate confirm provide input")
	codeKinds = words("verification confirmation one time onetime sms")
	codeEnds  = words("code passcode")

	// ofCodes are all words that may be said of such a tool and its argument: any other may say, in any language, that it does more.
	ofCodes = words(`a an the this that your it its is was were be has have of for to by from in with as and or if only once when after before you user customer tool use enter enters entered submit submits submitted verify
		verifies validate validates confirm confirms provide provides input takes take code codes passcode verification confirmation one time onetime sms text message email mail phone sent received
		digit digits number numeric string four five six seven eight complete completes step shop`)

	// web are words in the names of tools that look outside.
	web = words("web internet online google bing url urls website websites webpage webpages site page pages browser http https link feed rss")
)

// Propose says what a tool does, as far as its catalogue tells.
func Propose(t *Tool) Proposal {
	p := proposer{whole: t, name: verbFirst(t.Name)}
	p.tool, p.answer = t.sorted()
	p.acts()
	p.label()
	return Proposal{Label: p.out, Why: p.why, Unsure: p.unsure}
}

type proposer struct {
	whole          *Tool // as the catalogue has it, and
	tool           *Tool // sorted, with
	answer         string
	name           []string
	sink, destroys bool
	unsure         bool
	out            policy.Tool
	why            []string
}

func (p *proposer) because(format string, args ...any) {
	p.why = append(p.why, fmt.Sprintf(format, args...))
}

// acts looks for all that speaks against a tool, and at last for whether all of it speaks of looking.
func (p *proposer) acts() {
	looks := len(p.name) > 0 && looking[p.name[0]]
	for i, w := range p.name {
		p.found(fmt.Sprintf("%q in its name", w), w, (acting[w] || destroying[w]) && (!looks || !nouns[w]) || looks && p.turns(i, w))
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
	if p.sink {
		for _, w := range verbs(p.whole.Description) {
			p.found(fmt.Sprintf("%q in its description", w), w, true)
		}
		return
	}
	if why := p.doubt(looks); why != "" {
		p.unsure, p.sink = true, true
		p.because("%s", why)
	}
}

// turns reports whether a word behind one for looking makes acting of it.
func (p *proposer) turns(i int, w string) bool {
	first := p.name[0]
	switch {
	case i == 0:
		return false
	case w == "and" || w == "or" || w == "then":
		return true
	case len(p.name) == 2 && ((first == "list" || first == "count") && acting[w] || first == "check" && isTicked(w) || renewed[w]):
		return true
	case first == "list" && w == "on", first == "check" || first == "read" && w == "aloud", first == "list" && i == 1, first == "count" && i == 1:
		return particles[w]
	}
	for verb := range acting { // deleteuser
		if rest, ok := strings.CutPrefix(w, verb); ok && len(verb) > 4 && !nouns[verb] && len(rest) > 1 && !results[rest] {
			return true
		}
	}
	return false
}

// doubt is why a tool whose words name no act may act all the same.
func (p *proposer) doubt(looks bool) string {
	t := p.tool
	switch {
	case !looks:
		return "its name does not begin with a word for looking"
	case !bareName.MatchString(t.Name):
		return "its name holds unusual characters"
	case first(p.name, web) != "":
		return "it looks outside"
	case particles[p.name[len(p.name)-1]] || p.name[len(p.name)-1] == "to":
		return "its name ends with a word that makes acting of it"
	case first(p.name, against) != "":
		return fmt.Sprintf("%q in its name", first(p.name, against))
	case len(p.name) == 2 && p.name[0] != "search" && services[p.name[1]] && !p.takesID(p.name[1]):
		return fmt.Sprintf("one gets %q by ordering it", p.name[1])
	case p.name[0] == "list" && !slices.ContainsFunc(p.name[1:], isMany):
		return "it may list one thing, as one does to sell it"
	case t.Loose:
		return "its schema takes arguments that it does not name, or can't be read"
	}
	if why := aboutLooking(t.Description, p.takesID); why != "" {
		return why
	}
	if w := p.done(); w != "" {
		return fmt.Sprintf("%q may be what is done, or what is ordered", w)
	}
	for _, a := range t.Params {
		if why := p.argument(&a); why != "" {
			return why
		}
	}
	if w := verbs(p.answer); len(w) > 0 {
		return fmt.Sprintf("%q in what is said of its answer", w[0])
	}
	if w := happens(p.answer); w != "" || !isEnglish(p.answer) {
		return fmt.Sprintf("%q: what is said of its answer may be what else happens", w)
	}
	if w := p.sent(p.tool.Description + "\n" + p.answer); w != "" {
		return fmt.Sprintf("it may be sent by %q", w)
	}
	return p.unknown()
}

// argument is why an argument may make a call act, or carry something out.
func (p *proposer) argument(a *Param) string {
	named := nameWords(a.Name)
	if len(named) == 0 {
		return fmt.Sprintf("%q does not say what it chooses", a.Name)
	}
	if w := first(named, switches); w != "" {
		return fmt.Sprintf("%q chooses what is done", a.Name)
	}
	for _, w := range named {
		if acting[w] && !nouns[w] {
			return fmt.Sprintf("%q in its arguments", w)
		}
	}
	if w := a.verbs(); len(w) > 0 {
		return fmt.Sprintf("%q in what is said of %q", w[0], a.Name)
	}
	if w := happens(a.Text); w != "" {
		return fmt.Sprintf("%q in what is said of %q may be what else happens", w, a.Name)
	}
	if !isEnglish(a.Text) || !isEnglish(a.Name) {
		return fmt.Sprintf("what is said of %q can't be judged", a.Name)
	}
	if a.Nested {
		return fmt.Sprintf("%q may hold more than its name says", a.Name)
	}
	if why := a.chooses(named); why != "" {
		return why
	}
	if a.Chosen || a.Number {
		return ""
	}
	if p.carries(a.Name, named) {
		return fmt.Sprintf("%q could carry something out", a.Name)
	}
	if first(nameWords(a.Text), languages) != "" {
		return fmt.Sprintf("%q may be a program", a.Name)
	}
	if first(named, words("query search q")) != "" && (!searching[p.name[0]] || first(append(nameWords(p.whole.Description), p.name...), databases) != "") {
		return fmt.Sprintf("%q may be a program", a.Name)
	}
	return ""
}

// verbs are those in what is said of an argument. What begins with the name of a thing in two words names it: "Order number".
func (a *Param) verbs() []string {
	lines := strings.Split(a.Text, "\n")
	for i, line := range lines {
		if fields := tokens(line); !a.Chosen && len(fields) > 1 && nouns[bare(fields[0])] && !endsWith(fields[0], ",;:.") && kinds[bare(fields[1])] {
			lines[i] = strings.Join(fields[1:], " ")
		}
	}
	return verbs(strings.Join(lines, "\n"))
}

// chooses is why a truth value, a list of words or a number may do more than choose what is shown.
func (a *Param) chooses(named []string) string {
	if a.Switch && !filtering[named[0]] && named[len(named)-1] != "only" {
		return fmt.Sprintf("%q may switch on more than looking", a.Name)
	}
	if w := first(nameWords(a.Text), ways); a.Chosen && w != "" {
		return fmt.Sprintf("%q is among the values of %q", w, a.Name)
	}
	if a.Number && (first(named, counted) == "" || len(named) == 1 && words("count number")[named[0]]) {
		return fmt.Sprintf("%q may be how much is got", a.Name)
	}
	return ""
}

// carries reports whether an argument's name says that it goes somewhere: an address, a place that is written to, a host that is asked.
func (p *proposer) carries(name string, named []string) bool {
	switch {
	case isID(named) || isPaging(named) || p.finds(named) || searching[p.name[0]] && p.name[0] != "list" && len(named) == 1 && filters[named[0]]:
		return false
	case first(named, carriers) != "" || slices.ContainsFunc(addresses, func(part string) bool { return strings.Contains(strings.ToLower(name), part) }):
		return true
	case first(named, words("local save dest target export")) != "" && first(named, words("path file dir directory folder")) != "":
		return true
	case first(named, words("destination dest")) != "":
		return !slices.ContainsFunc(p.tool.Params, func(a Param) bool { return first(nameWords(a.Name), words("origin source from departure")) != "" })
	}
	return p.name[0] != "get" && p.name[0] != "list" && p.name[0] != "describe" && first(named, words("host hostname domain ip server")) != ""
}

// finds reports whether an argument is what somebody is found by, as the tool's name says: get_user_by_email, search_contacts.
func (p *proposer) finds(named []string) bool {
	by := slices.Index(p.name, "by")
	isSaid := by > 1 && by+1 < len(p.name) && people[p.name[by-1]] && named[0] == p.name[by+1]
	return (isSaid || searching[p.name[0]] && p.name[0] != "list" && len(p.name) == 2 && people[p.name[1]]) && isReach[strings.Join(named, " ")]
}

// takesID reports whether all that can be said in a call is the id of something that is there once it was ordered: that one is looked at.
func (p *proposer) takesID(ordered string) bool {
	params := p.tool.Params
	return records[ordered] && len(params) == 1 && slices.Equal(nameWords(params[0].Name), []string{ordered, "id"})
}

// isMany reports whether a word names several things.
func isMany(w string) bool {
	return strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is") || uncounted[w]
}

// isID reports whether an argument only names a thing: message_id, commentIds.
func isID(named []string) bool {
	last := named[len(named)-1]
	return len(named) > 1 && (last == "id" || last == "ids")
}

// isName reports whether an argument only names a thing, or says which of several: person_name, flight_type.
func isName(named []string) bool {
	return isID(named) || len(named) > 1 && words("name type status date category")[named[len(named)-1]]
}

func first(list []string, in map[string]bool) string {
	if i := slices.IndexFunc(list, func(w string) bool { return in[w] }); i >= 0 {
		return list[i]
	}
	return ""
}

// isEnglish reports whether a text has only ASCII letters. Signs as editors write them are fine.
func isEnglish(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool {
		return c > unicode.MaxASCII && !strings.ContainsRune("‘’“”–—…•→≤≥°€£", c) || c < ' ' && c != '\n' && c != '\t' && c != '\r'
	})
}

// found notes one reason why a tool acts.
func (p *proposer) found(why, verb string, counts bool) {
	if !counts {
		return
	}
	if !p.sink || destroying[verb] && !p.destroys {
		p.because("%s", why)
	}
	p.sink = true
	p.destroys = p.destroys || destroying[verb]
}

func (p *proposer) label() {
	p.out.Source, p.out.Sink = new(true), new(p.sink)
	if w := p.secret(); w != "" {
		p.out.Secret = new(true)
		p.because("%q: it may bear secrets", w)
	}
	if !p.sink {
		p.out.Safe = new(true)
		p.because("%q in its name, no word for acting anywhere, and its arguments only choose what it looks at", p.name[0])
		if slices.ContainsFunc(p.tool.Params, func(a Param) bool { return !a.Chosen }) {
			p.out.Leaves = new(true)
		}
		return
	}
	if p.destroys {
		p.out.Destructive = new(true)
	}
	if w := p.price(); w != "" {
		p.out.Money = new(true)
		p.because("%q: it may cost money", w)
	}
	p.arguments()
	p.completes()
}

// completes proposes a tool as one that takes the code for what another began: its name says that it takes a code and nothing else, a code is
// all that its schema takes, and nothing says that it pays, destroys, bears secrets or lets anyone in.
func (p *proposer) completes() {
	t := p.whole
	if p.unsure || !entersCode(p.name) || len(t.Params) != 1 || t.Loose || p.destroys || p.out.Money != nil || p.out.Secret != nil || !bareName.MatchString(t.Name) {
		return
	}
	a := &t.Params[0]
	if a.Nested || a.Chosen || !codes[strings.Join(nameWords(a.Name), "_")] || !isEnglish(t.Description+a.Text) {
		return
	}
	if slices.ContainsFunc(slices.Concat(nameWords(t.Description), nameWords(a.Text)), func(w string) bool { return !ofCodes[w] }) {
		return
	}
	p.out.Completes = new(true)
	p.because("%q is all that it takes: it may complete what another call began", a.Name)
}

// entersCode reports whether the words of a name say that a code is entered, and nothing else.
func entersCode(name []string) bool {
	last := len(name) - 1
	return last > 0 && entering[name[0]] && codeEnds[name[last]] && !slices.ContainsFunc(name[1:last], func(w string) bool { return !codeKinds[w] })
}

// price is a word for money in the name, among the verbs of the description or in the name of an argument.
func (p *proposer) price() string {
	return first(slices.Concat(p.name, verbs(p.whole.Description), p.argumentWords()), paying)
}

// argumentWords are the words in the names of all arguments but those that turn pages.
func (p *proposer) argumentWords() (out []string) {
	for _, a := range p.tool.Params {
		if named := nameWords(a.Name); !isPaging(named) {
			out = append(out, named...)
		}
	}
	return out
}

// isPaging reports whether an argument is a token that says where the next page of a list begins, and opens nothing.
func isPaging(named []string) bool {
	last := len(named) - 1
	return last > 0 && named[last] == "token" && !slices.ContainsFunc(named[:last], func(w string) bool { return w != "next" && w != "page" && w != "continuation" })
}

// arguments tells where a call goes from what it says. Unless one of them says whom it reaches, each is a destination.
func (p *proposer) arguments() {
	says := first(p.argumentWords(), destinations) != "" && first(slices.Concat(p.name, nameWords(p.whole.Description)), machines) == "" && first(p.name, writing) != "" && first(p.name, beyond) == "" &&
		!p.destroys && p.out.Money == nil && !p.tool.Loose
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
	named, said := slices.Concat(p.name, p.argumentWords()), nameWords(p.whole.Description)
	if w := either(slices.Concat(p.name, said, p.argumentWords()), secrets, secretPairs); w != "" {
		return w
	}
	if !p.sink || p.unsure {
		if w := either(p.name[max(0, len(p.name)-2):], openingEnds, []string{"session id"}); w != "" {
			return w
		}
		named = slices.Concat(named, said)
	}
	return either(named, openings, openingPairs)
}

// either is a word of a list, or a pair of words next to each other.
func either(list []string, in map[string]bool, pairs []string) string {
	if w := first(list, in); w != "" {
		return w
	}
	for i := 1; i < len(list); i++ {
		if pair := list[i-1] + " " + list[i]; slices.Contains(pairs, pair) || slices.Contains(pairs, strings.TrimSuffix(pair, "s")) {
			return pair
		}
	}
	return ""
}

// verbFirst are the words of a tool's name, with the word for looking first where only things are named before it: pods_list, slack_list_channels,
// mcp__acme__acme_get_user. The name of a server is the owner's word.
func verbFirst(tool string) []string {
	name, server := nameWords(tool), ""
	if rest, isMCP := strings.CutPrefix(tool, "mcp__"); isMCP {
		server, _, _ = strings.Cut(rest, "__")
	}
	names := set(nameWords(server))
	isThing := func(w string) bool {
		return (products[w] || names[w] || plainWords[w] && isMany(w)) && !acting[w] && !against[w]
	}
	at := slices.IndexFunc(name, func(w string) bool { return looking[w] })
	if at <= 0 || slices.ContainsFunc(name[:at], func(w string) bool { return !isThing(w) }) {
		return name
	}
	return slices.Concat(name[at:at+1], name[:at], name[at+1:])
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
	after = words("then also will can may to it that which tool function this not please optionally must should")
	maybe = words("and or")
	being = words("is are be been being was were get gets getting has have having had will")
)

// verbs are the verbs of acting in a text, in their plain form, wherever they are. A word that is as often something else counts
// only where a verb must be: at the start, behind "to" or "will", before an article. A participle counts behind a form of be,
// get or have: "is sent", but not "all sent emails".
func verbs(text string) (out []string) {
	fields, sure, unsure, passive := tokens(text), true, false, 0
	for i, field := range fields {
		w := bare(field)
		sure = sure || w == "" || setsApart(fields, i)
		if w == "" || strings.HasSuffix(w, "ly") && !acting[w] {
			continue
		}
		verb, participle := actOf(w)
		next := following(fields, i)
		switch {
		case verb == "" || isNoAct(fields, i, verb, participle):
		case participle && passive > 0, !participle && (!nouns[verb] || sure || unsure && takesObject(field, next)), passive == 3 && unchanging[w]:
			out = append(out, verb)
		}
		sure, unsure = after[w] || endsSentence(field) || endsWith(field, ":"), maybe[w] || endsWith(field, ",")
		if passive--; being[w] {
			passive = 3
		}
	}
	return out
}

// isNoAct reports whether a verb of acting is none where it is: what is returned, how many arguments are taken, what was done before.
func isNoAct(fields []string, i int, verb string, participle bool) bool {
	return verb == "return" || verb == "report" && i == 0 || verb == "take" && isOfArguments(fields[i+1:]) || participle && i > 1 && isPast(fields, i)
}

// isPast reports whether a participle says what was done before: "users have shared", "all archived notes".
func isPast(fields []string, i int) bool {
	before, next := bare(fields[i-1]), following(fields, i)
	if words("has have had")[before] {
		who := bare(fields[i-2])
		isOfThings := slices.ContainsFunc(fields[max(0, i-5):i-1], func(field string) bool { return words("that which who whom")[bare(field)] })
		return isOfThings && (people[who] || plainWords[who] && strings.HasSuffix(who, "s") && !words("this its is was")[who])
	}
	return words("all any each every previously recently")[before] && next != "" && !joining[next] && !determiners[next] && !endsWith(fields[i], ".,;:!?)")
}

// isOfArguments reports whether it is said how many arguments a tool takes.
func isOfArguments(rest []string) bool {
	return slices.ContainsFunc(rest[:min(3, len(rest))], func(field string) bool {
		return words("argument arguments parameter parameters input inputs")[bare(field)]
	})
}

// setsApart reports whether a bracket, or a stroke behind a word for looking, makes a word begin anew: "(pings the owner)", "Get/share".
func setsApart(fields []string, i int) bool {
	w := bare(fields[i])
	return strings.HasPrefix(fields[i], "(") && w != unbent(w, acting) || i > 0 && strings.HasPrefix(fields[i], "/") && describes[unbent(bare(fields[i-1]), describes)]
}

// endsWith reports whether a word ends with one of some signs, before what closes a quotation.
func endsWith(field, signs string) bool {
	end := strings.TrimRight(field, "\"'`)]*")
	return end != "" && strings.ContainsRune(signs, rune(end[len(end)-1]))
}

// following is the word behind one, or "".
func following(fields []string, i int) string {
	if i+1 < len(fields) {
		return bare(fields[i+1])
	}
	return ""
}

// unchanging are verbs that are their own participles: "is set up".
var unchanging = words("set put cut shut let")

// takesObject reports whether the next word may be what a verb acts on: "email it", "email customers", and not "reviews of", "reviews."
func takesObject(field, next string) bool {
	return determiners[next] || next == "all" || next == "to" || next != "" && !joining[next] && !strings.ContainsAny(field, ".,;:)")
}

// bare is a word without the signs around it, in lower case.
func bare(field string) string {
	return strings.ToLower(strings.TrimFunc(field, func(c rune) bool { return !unicode.IsLetter(c) }))
}

// irregular participles.
var irregular = map[string]string{
	"sent": "send", "paid": "pay", "sold": "sell", "bought": "buy", "written": "write", "put": "put", "set": "set", "made": "make", "given": "grant", "taken": "take", "held": "hold", "begun": "begin",
	"shut": "shut", "left": "leave", "spoken": "speak", "rung": "ring", "withdrawn": "withdraw", "rebuilt": "rebuild", "frozen": "freeze", "overwritten": "overwrite",
}

// actOf is the plain form of a verb of acting, or "", and whether it is a participle: sends, copies, sending, cancelled.
func actOf(w string) (verb string, participle bool) {
	if verb, ok := irregular[w]; ok && !acting[w] {
		return verb, true
	}
	if verb = unbent(w, acting); acting[verb] {
		return verb, false
	}
	for _, end := range []string{"ed", "d"} {
		stem, ok := strings.CutSuffix(w, end)
		if !ok {
			continue
		}
		for _, try := range []string{stem, strings.TrimSuffix(stem, "i") + "y", undoubled(stem)} {
			if acting[try] {
				return try, true
			}
		}
	}
	return "", false
}

// unbent is the plain form of a verb in a set: sends, copies, sending, cancelling.
func unbent(w string, in map[string]bool) string {
	for _, end := range [][2]string{{"", ""}, {"ies", "y"}, {"es", "e"}, {"es", ""}, {"s", ""}, {"ing", ""}, {"ing", "e"}} {
		if stem, ok := strings.CutSuffix(w, end[0]); ok && in[stem+end[1]] {
			return stem + end[1]
		}
	}
	if stem, ok := strings.CutSuffix(w, "ing"); ok && in[undoubled(stem)] {
		return undoubled(stem)
	}
	return w
}

// undoubled takes the second of two equal letters off the end: cancell, stopp.
func undoubled(stem string) string {
	if n := len(stem); n > 2 && stem[n-1] == stem[n-2] {
		return stem[:n-1]
	}
	return stem
}
