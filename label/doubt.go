package label

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

var (
	// joining are words that come before an article, or one like it, in a text that only describes. Any other word there may be a verb: "evicts it".
	joining = words(`of in on at by for from to with within without about as if when where whether while that which what who whose how than and or not but because so all both only
		is are was were be has have had do does can could should contain contains containing include includes including match matches matching before after since until during between
		across per via under against based like use used using given either support supports supported filter filters understand know need exclude excludes included excluded near summarize analyze compare inspect examine corresponding associated`)
	getting     = words("get retrieve fetch find obtain")
	determiners = words("the a an it them this these those your its their his her him each every itself everyone")

	lists = words("deprecated following fields values options example examples format formats note one types returns")

	// openers begin the later sentences of such a text. What else follows may be what else happens: "The siren sounds."
	openers = words("each these operates works deprecated if it use only this results result optional optionally supports support includes include contains contain handles great useful uses defaults default by with for must filters example note when to")

	// prefaces may come before the verb of a description: "This tool will list …".
	prefaces = set([]string{"", "this", "tool", "function", "will", "can", "be", "used", "to", "is"})

	// audiences are words behind which those are whom something is shown to; movers are words that make fetching of "get".
	audiences = words("to on over aloud")
	showing   = words("show display describe read report give provide")
	movers    = words("into onto out past inside back done ready going through")

	// carried are what else is sent, or carries it.
	carried = words("post courier text letter postcard message telegram fax pigeon phone")

	// ticked are what "check" ticks, or does with a cheque.
	ticked = words("item todo box boxes checkbox element task step stop void order print printing claim run cash bag baggage luggage suitcase coat vote option cheque")
	// informing are what is provided to who asks, brought are what one returns to a shop, and performed are names of acts and of what came of them.
	informing  = words("information info details list lists summary overview data metadata statistics status history description")
	brought    = words("item product car book bike parcel package purchase rental equipment")
	performed  = words("release transfer stop merge start hold freeze swap exchange upgrade booking refund purchase payment")
	determined = words("the all")
	// forms are those in which something is returned.
	forms = words("json text csv xml yaml html markdown well of used such specified provided")
	// renewed are what is done with a view or a value that is named first: view.refresh.
	renewed = words("set pop clear drop refresh reset share")
	// uncounted are names of many things without an s.
	uncounted = words("all inventory data metadata history people calendar activity staff children directory content contents mail media info information stock")
)

// aboutLooking is why a description may be about more than looking.
func aboutLooking(text string, isThere func(ordered string) bool) string {
	if !isEnglish(text) {
		return "its description holds letters that can't be judged"
	}
	all := tokens(text)
	for len(all) > 0 && prefaces[bare(all[0])] {
		all = all[1:]
	}
	if len(all) == 0 {
		return "its description does not begin with a word for looking"
	}
	if why := firstWords(all, isThere); why != "" {
		return why
	}
	if why := firstSentence(all); why != "" {
		return why
	}
	for _, field := range all {
		if w := bare(field); against[w] {
			return fmt.Sprintf("%q in its description", w)
		}
	}
	return laterWords(all)
}

// firstWords is why what a description begins with may be no looking.
func firstWords(all []string, isThere func(ordered string) bool) string {
	at := func(i int) string {
		if i < len(all) {
			return bare(all[i])
		}
		return ""
	}
	verb, next := unbent(at(0), describes), at(1)
	isOne := next == "a" || next == "an" || next == "your"
	if why := notLooked(all, verb); why != "" {
		return why
	}
	switch {
	case !describes[verb]:
		return "its description does not begin with a word for looking"
	case next == "you":
		return "it does something with you"
	case verb == "list" && (next == "a" || next == "an"):
		return "it lists one thing, as one does to sell it"
	case isOne && (services[at(2)] && !isThere(at(2)) || services[at(3)] && !isThere(at(3))):
		return fmt.Sprintf("one gets %q by ordering it", at(2))
	case getting[verb] && services[object(all)] && !isThere(object(all)):
		return fmt.Sprintf("one gets %q by ordering it", object(all))
	case getting[verb] && (next == "to" || movers[next]):
		return fmt.Sprintf("one does not look at %q by getting it", next)
	case verb == "check" && slices.ContainsFunc(all, func(w string) bool { return bare(w) == "in" || bare(w) == "out" || bare(w) == "off" }):
		return "it may check something in, out or off"
	case verb == "check" && (isTicked(next) || determiners[next] && isTicked(at(2))):
		return "it may tick something, or be about a cheque"
	}
	return ""
}

// notLooked is why a verb for looking may be one of its other meanings: to report a user, show a film, return a purchase, count a vote, get guests rooms.
func notLooked(all []string, verb string) string {
	next, what := following(all, 0), object(all)
	isOne := next == "a" || next == "an"
	switch {
	case (verb == "show" || verb == "display") && isOne:
		return fmt.Sprintf("%q: it may be shown to others", what)
	case verb == "provide" && !informing[what]:
		return fmt.Sprintf("%q may be handed out", what)
	case verb == "return" && brought[strings.TrimSuffix(what, "s")] && !determined[next], verb == "count" && !isMany(what) && !words("number total")[what]:
		return fmt.Sprintf("it may %s %q as one does to act", verb, what)
	case getting[verb] && (next == "next" || next == "the" && len(all) > 2 && bare(all[2]) == "next"):
		return "the next one may be taken by getting it"
	case getting[verb] && performed[what] && followedBy(all, what, "of"):
		return fmt.Sprintf("%q may be what is done", what)
	case getting[verb] && (people[next] || words("guests passengers students")[next]) && isMany(next) && len(all) > 2 && !joining[bare(all[2])] && !endsWith(all[1], ".,;:!?)"):
		return fmt.Sprintf("it may get something for %q", next)
	}
	return ""
}

// isTicked reports whether a word names what "check" ticks, one or several.
func isTicked(w string) bool { return ticked[w] || ticked[strings.TrimSuffix(w, "s")] }

// object is the last word of what a description says is got: "access" of "Get file access for a guest".
func object(all []string) (last string) {
	for _, field := range all[1:] {
		w := bare(field)
		if joining[w] {
			break
		}
		last = w
		if endsSentence(field) || strings.ContainsAny(field, ",:(") {
			break
		}
	}
	return last
}

// firstSentence is why the first sentence may say that something is moved, or shown to others.
func firstSentence(all []string) string {
	verb, whence := unbent(bare(all[0]), describes), false
	for i, field := range all {
		w := bare(field)
		switch {
		case i > 0 && showing[verb] && (audiences[w] || w == "for" && (verb == "describe" || verb == "read")):
			return fmt.Sprintf("%q: it may be shown to others", w)
		case getting[verb] && (movers[w] || w == "to" && !whence):
			return fmt.Sprintf("%q: it may bring something about", w)
		}
		if endsSentence(field) || i == len(all)-1 {
			return lastWord(verb, all[:i+1])
		}
		whence = whence || w == "from" || w == "e.g"
	}
	return ""
}

// lastWord is why the last word of the first sentence may be what one gets done, or where one gets: "Get a letter signed.", "View a door open."
func lastWord(verb string, sentence []string) string {
	last := len(sentence) - 1
	w := bare(sentence[last])
	isPlace := last > 0 && (particles[w] || w == "open" && !being[bare(sentence[last-1])])
	isDone := strings.HasSuffix(w, "ed") && !joining[w] || irregular[w] != "" || last == 1 && !isMany(w)
	if isPlace || isDone && (verb == "get" || verb == "fetch") {
		return fmt.Sprintf("%q may be what one gets done, or where one gets", w)
	}
	return ""
}

// laterWords looks for verbs of which nothing is known: before an article, behind "by", behind "it", and at the start of a further sentence.
func laterWords(all []string) string {
	starts := false
	for i, field := range all {
		w, next := bare(field), following(all, i)
		describing := describes[unbent(w, describes)]
		switch {
		case w == "":
		case starts && !openers[w] && !describing && !isAStatement(all[i:]):
			return fmt.Sprintf("a sentence of its description begins with %q", w)
		case meansMore(all, i):
			return fmt.Sprintf("%q in its description may be what is done, or what it costs", next)
		case w == "it" && starts && !joining[next] && next != "takes" && !describes[unbent(next, describes)]:
			return fmt.Sprintf("%q is what it does", next)
		case w == "by" && strings.HasSuffix(next, "ing") && !describes[unbent(next, describes)] && !joining[next]:
			return fmt.Sprintf("it does so by %q", next)
		case strings.HasSuffix(field, ":") && !joining[w] && !lists[w]:
			return fmt.Sprintf("what is said behind %q may be what else happens", field)
		case w == "up" && i == 1: // look up a name
		case determiners[next] && !strings.HasSuffix(field, ",") && !joining[w] && !describing && !endsSentence(field):
			return fmt.Sprintf("%q in its description may be an act", w)
		}
		if w != "" {
			starts = endsSentence(field)
		}
	}
	return ""
}

// meansMore reports whether a word and those behind it say what is done with what is looked at, or what it costs: "as complete", "with a hold", "and text.",
// "and use it", "for a fee".
func meansMore(all []string, i int) bool {
	w, next := bare(all[i]), following(all, i)
	isLast := i+2 == len(all) || i+1 < len(all) && endsSentence(all[i+1])
	second := ""
	if i+2 < len(all) {
		second = bare(all[i+2])
	}
	switch w {
	case "as":
		return next != "" && !determiners[next] && !forms[next]
	case "with", "by":
		return (next == "a" || next == "an") && acting[second]
	case "and":
		return next == "use" || isLast && acting[next]
	case "a", "one":
		return words("credit credits fee")[next]
	}
	return false
}

// isAStatement reports whether a sentence says what an argument must be, or what can be looked for: "The id must be a number.", "You can also search".
func isAStatement(all []string) bool {
	for i, field := range all[:min(6, len(all))] {
		w, next := bare(field), following(all, i)
		switch {
		case w == "be" && i > 1:
			return words("must should")[bare(all[i-1])] && !strings.HasSuffix(next, "ed") && !strings.HasSuffix(next, "ing")
		case words("can may also")[w] && words("search filter look view")[unbent(next, describes)]:
			return i < 3 && !endsWith(field, ",")
		case endsWith(field, ".,;:!?"), acting[unbent(w, acting)]:
			return false
		}
	}
	return false
}

// endsSentence reports whether a sentence ends with this word.
func endsSentence(field string) bool {
	w := bare(field)
	return endsWith(field, ".;!?") && w != "e.g" && w != "i.e"
}

// tokens are the words of a text, with the signs around them. Words joined by a dash or a stroke are several: auto-deletes, read/write; the stroke stays
// with the second. A line that begins with a capital begins a sentence.
func tokens(text string) (out []string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "/", " /"), "\n") {
		if len(out) > 0 && strings.IndexFunc(strings.TrimSpace(line), unicode.IsUpper) == 0 {
			out[len(out)-1] += "."
		}
		for field := range strings.FieldsSeq(line) {
			if bare(field) == "" {
				out = append(out, field)
				continue
			}
			out = append(out, strings.FieldsFunc(field, func(c rune) bool { return c == '-' || c == '–' || c == '—' })...)
		}
	}
	return out
}

// happens is a word that says of others what happens to them, or of a thing that it was not there before.
func happens(text string) string {
	said := nameWords(text)
	return first(said, happening) + first(said, against)
}

// sent is a way by which something is sent, as a text says it: "by email", "a text to". What one finds something by is an argument.
func (p *proposer) sent(text string) string {
	fields, found := tokens(text), map[string]bool{}
	for _, a := range p.tool.Params {
		if named := nameWords(a.Name); len(named) > 0 && !isID(named) {
			found[named[0]] = true
		}
	}
	for i, field := range fields {
		w, before, next := bare(field), "", following(fields, i)
		if i > 0 {
			before = bare(fields[i-1])
		}
		if (ways[w] || carried[w]) && !found[w] && (words("by via per")[before] && !kinds[next] && !searching[p.name[0]] || next == "to") {
			return w
		}
	}
	return ""
}
