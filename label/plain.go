package label

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// plainWords are words that say nothing of acting: those that join others, and names of things and of what they are like. A description that has any other
// word, beyond those of its tool's name and arguments, may say of something else, in any language, that it happens.
var plainWords = words(`a about above across after against all also among an and another any are around as at available back be before below between both but by can contain contains containing could current
	currently detailed details different does each either else empty entire equal etc every exact existing false first following for from full general given greater has have having how however i if in include includes
	included including individual information into is it its itself json just known last later latest least less like limit many match matches matching max maximum may metadata min minimum more most multiple must n need
	next no none not null number object objects of older oldest newer newest on one only operations optional optionally or other others otherwise our over own page pages paginated pagination per plain possible previous
	provided recent recently relevant result results same second section select selected several shall should similar simple single size so some sort sorted specific specified standard such supported supports
	than that the their them then there these they this those through to tool top total true two type types unique until up upcoming use used useful using value values via was well were what when where whether which
	while who whose why will with within without would yes yet you your zero three four five asc desc ascending descending default defaults e g eg iso id ids key keys list lists listing name names title titles
	count counts amount amounts range ranges level levels index offset cursor field fields filter filters query queries string strings text texts format formats example examples based basic complete current day days date dates
	week weeks month months year years hour hours minute minutes time times timestamp timezone timezones zone zones today start end begin ending starting duration period since yyyy mm dd utc
	account accounts activity address addresses agent agents airport airports alert album amenities app application applications appointment appointments area areas arrival article articles artist asset assets assistant assume attachment attachments
	attendee attendees author authors availability balance balances bank base bill bills binary board boards body branch branches brand browser bucket budget budgets building business calendar calendars camera cameras
	car card cards case catalog catalogue categories category cell chain channel channels chapter chart charts child children city cities class client clients cloud cluster clusters code codes collection collections
	color column columns comment comments commit commits companies company condition conditions configuration contact contacts content contents context contract contracts conversation conversations coordinates countries
	country course courses crypto cuisine currencies currency customer customers dairy dashboard dashboards data database databases deal deals definition definitions definitive departure department departments depart arrive description descriptions
	design device devices diagnosis dictionaries dictionary dietary diff difference direction directions directories directory disk distance doctor doctors document documents documentation domain domains door doors draft drafts drive drives
	drug drugs dns due duplicate edition email emails employee employees engine entities entity entries entry environment environments equipment error errors event events exchange expense expenses factor family fee fees feed field file
	filename filenames files flight flights floor folder folders forecast form forms free fuel function gas genre given google github gluten graph group groups guest guests guide hash header health help high history hits holiday holidays home hotel hotels hotel's
	html iban icon image images inbox inbox's incident incidents index industry info informations input instance instances instrument interaction interactions inventory invoice invoices issue issues item items jira job jobs journal kind kinds kubernetes label labels language languages
	latitude layer lead leads length lesson letter library license line lines link links loan loans local location locations log logs longitude lookup low mail mailbox mailboxes map maps market meal medication medications meeting meetings member members memory
	menu message messages meter meters method metric metrics milestone milestones model models module money movie music namespace namespaces near nearby network news node nodes note notes offer offers office open opening openning operating option options order orders organization
	organizations origin outage output overview owner owners package packages parameter parameters parent part participant participants party passenger passengers passport patient patients pattern patterns path paths payee payees payment payments pdf people percent permission permissions
	person phone photo photos picture place places plan plans platform player playlist playlists pod pods point points policies policy poll port position positions postal price prices priority product products profile profiles program project projects
	properties property provider providers public purchase purchases quality quantity quarter question questions quota quote rate rates rating ratings ratio reaction reactions read reading readings reason received recipient record records
	recipe recipes recursive reference references region regions rel relation relations relationship relationships release releases remaining rental rentals report reports repositories repository request requests reservation reservations resource resources restaurant restaurants
	restrictions review reviews revision revisions role roles room rooms route routes row rows rule rules sale sales sample scene schedule scheduled schedules schema schemas score scores screen seat seats secret section sender senders sensor sensors sent sequence series server servers service services session sessions
	setting settings shape share shared shipment shipments shop shops side site sites slack slot slots snapshot song songs source sources space spaces sport sprint sprints staff stage state states statement statements statistics stats status statuses step steps stock stocks stop storage store
	stored stores story stream street structure student students style subject subjects subscription subscriptions summary supplier suppliers support symbol symbols system systems tab tabs table tables tag tags target task tasks tax team teams temperature template
	templates tenant term terms test tests thread threads ticker ticket tickets tile token tokens topic topics track tracks train trains transaction transactions transcript translation transport travel tree trend trends trip trips uid unit units university
	unknown unread url urls usage user user's users uuid variable variables vegan vegetarian vehicle vehicles vendor vendors venue venues version versions video videos view visit visits volume volumes wallet ward wards warehouse weather web webpage website weight word words work
	workflow workflows workspace workspaces world zip italian chinese indian japanese active alarm alarms aws azure api birth birthdate busy cabin calls cloudwatch container containers created
	credit crm db depth destination docker dropoff e.g found gitlab gmail handles head host hostname hubspot knowledge live listed manager managers microsoft monthly daily notion outlook pickup postgres prefix pull
	ref repo repos returned salesforce saved searched sha sku smart sqlite stripe suffix syntax tail ts weekly changes file's booking updates elapsed already attached filesystem filepath budgets argument arguments ec filtering troubleshooting associated authenticated clearly distinguish various simultaneously efficient us encodings understanding perfect essential great works operates regardless extension mime base encoded data audio deprecated instead com dir cannot objective visual inspection needed prefixes allowed high original resolution detail username combined checks changed precise goal know summarize analyze compare examine inspect csv xml yaml mode follower followers joined observation observations
	identifier identifiers identify identifies identified uniquely directly keyword keywords valid invalid required historical character characters digit digits numeric integer boolean float array dictionary dict param params comma separated respectively
	specify specifies omitted ignored inclusive exclusive applicable primary secondary specialty sector careful development production nearest particular usernames fiscal hh ss corresponding memories portfolio situation criteria tx str int bool tuple takes letters persons ports sizes logo continuation`)

// isHarmless reports whether a word is one of these, a form of a word for looking, or one of the words that name the tool and what it takes.
func isHarmless(w string, named map[string]bool) bool {
	w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
	return len(w) < 2 || plainWords[w] || filtering[w] || describes[unbent(w, describes)] || named[w] || named[w+"s"] || named[strings.TrimSuffix(w, "s")]
}

// isCutOff reports whether a text was cut off in its last word, as catalogues do that bound what they quote, and the rest of that word is plain.
func isCutOff(text, last string) bool {
	if verb, _ := actOf(last); len(text) < 200 || !strings.HasSuffix(text, last) || len(last) < 4 || verb != "" {
		return false
	}
	for whole := range plainWords {
		if strings.HasPrefix(whole, last) {
			return true
		}
	}
	return false
}

// unknown is why a word of a description, or of an argument, may be an act: nothing is known of it.
func (p *proposer) unknown() string {
	own, named := set(p.name), set(slices.Concat(p.name, p.argumentWords()))
	if w := notPlain(strings.Join(tokens(p.tool.Description), " "), named, saidOfATool); w != "" {
		return fmt.Sprintf("%q in its description is not known to be harmless", w)
	}
	for _, a := range p.tool.Params {
		words := nameWords(a.Name)
		if !isName(words) && (strings.ContainsAny(a.Name, "0123456789") || slices.ContainsFunc(words, func(w string) bool { return !isHarmless(w, own) })) {
			return fmt.Sprintf("%q is no argument of which is known what it chooses", a.Name)
		}
		if w := notPlain(a.Text, named, saidOfAValue); w != "" {
			return fmt.Sprintf("%q in what is said of %q is not known to be harmless", w, a.Name)
		}
	}
	if w := notPlain(p.answer, named, saidOfAValue); w != "" {
		return fmt.Sprintf("%q in what is said of its answer is not known to be harmless", w)
	}
	return ""
}

// notPlain is the first word of a text that is not plain, or "".
func notPlain(text string, named map[string]bool, isThing func(fields []string, i int) bool) string {
	for line := range strings.SplitSeq(text, "\n") {
		fields := tokens(line)
		for i, field := range fields {
			for _, w := range textWords(field) {
				if !isHarmless(w, named) && !isThing(fields, i) && (i+1 < len(fields) || !isCutOff(text, w)) {
					return w
				}
			}
		}
	}
	return ""
}

// textWords are the words of a field of a text: a name in it, such as read_text_file or ann@example.com, is several.
func textWords(field string) []string {
	w := bare(field)
	if w == "e.g" || !strings.ContainsFunc(w, func(c rune) bool { return !unicode.IsLetter(c) && !strings.ContainsRune("'’", c) }) {
		return []string{w}
	}
	return nameWords(field)
}
