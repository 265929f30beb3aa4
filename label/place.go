package label

import (
	"slices"
	"strings"
	"unicode"
)

// A word of which nothing is known may be an act. Where English has only names of things it is none: behind an article, an adjective or "of". Behind most
// other prepositions it may be how something is done ("with a chirp"), and as what is got it may be what is ordered.
var (
	// leading come directly before the name of a thing. Those of loosely may also end what is said before it ("if any evict pods"): they lead only behind
	// the verb or a preposition.
	leading = words(`the a an your its their every of specific specified certain unique current single multiple particular corresponding previous historical valid entire`)
	loosely = words("this these those his her each all any some no another given existing available next first last optional")
	// relating are the prepositions of a description; the word behind the last of them is what it is about.
	relating = words("of for in on at by from with within to into onto via through against under between as about per over upon")
	// scanning are verbs with which nothing is ordered: what follows them is only looked at.
	scanning = words("search list count describe view read look return filter")
	// sorting come, after such a verb, before what is looked for or where.
	sorting = map[string]map[string]bool{"count": words("in within"), "search": words("for in within"), "look": words("for in within")}
	// asOne are what one gets a lot of things as.
	asOne = words("list listing summary overview set")
)

// saidOfATool reports whether a word of a description can only be the name of a thing. In a further sentence it may be what else happens.
func saidOfATool(fields []string, i int) bool {
	if !namesAThing(fields, i) || slices.ContainsFunc(fields[:i], endsSentence) {
		return false
	}
	verb, about := unbent(bare(fields[0]), describes), preposition(fields, i)
	isOne := getting[verb] && words("a an some another one")[bare(fields[1])] && (i < 3 || !asOne[bare(fields[2])]) // "Get a case of champagne."
	switch {
	case isOne:
		return false
	case isProper(fields, i) && (about == "in" && verb != "list" || scanning[verb] && about == "from" || (about == "" || about == "of") && i+1 < len(fields) && !endsWith(fields[i], ".,;:!?)") && (!getting[verb] || isMany(following(fields, i)))):
		return true
	case !leads(fields, i-1) && !sorting[verb][bare(fields[i-1])] || bare(fields[i-1]) == "for" && i != 2:
		return false
	}
	return about == "of" || scanning[verb] && (about == "" || sorting[verb][about])
}

// preposition is the last one before a word, or "".
func preposition(fields []string, i int) string {
	for j := i - 1; j > 0; j-- {
		if w := bare(fields[j]); relating[w] {
			return w
		}
	}
	return ""
}

// saidOfAValue reports whether a word of what is said of an argument can only be the name of a thing, or an example. Behind "for", "as", "by", "to" and the like it
// may be what is done with it: "the account for closure".
func saidOfAValue(fields []string, i int) bool {
	if isCode(fields[i]) {
		return true
	}
	return namesAThing(fields, i) && leads(fields, i-1) && set([]string{"", "of", "in"})[preposition(fields, i)]
}

// isCode reports whether a word is an example of a code: 'W0815', "SFO".
func isCode(field string) bool {
	digits := strings.Count(strings.Map(func(c rune) rune {
		if unicode.IsDigit(c) {
			return '0'
		}
		return c
	}, field), "0")
	return strings.ContainsAny(field[:1], "'\"`") && (digits > 1 || strings.ToUpper(field) == field && len(bare(field)) < 4)
}

// actsInName are ends of names for acts: eviction, fulfilment, removal, closure. No place makes a thing of them.
var actsInName = []string{"ion", "ment", "al", "ure", "ance", "off", "out", "back", "over", "up", "down", "ing"}

// isActInName reports whether a word may be the name of one act.
func isActInName(w string) bool {
	return len(w) > 5 && !plainWords[w] && slices.ContainsFunc(actsInName, func(end string) bool { return strings.HasSuffix(w, end) })
}

// namesAThing reports whether a word is no form of a verb, and is neither set apart from the word before it nor followed by what a verb acts on.
func namesAThing(fields []string, i int) bool {
	w := bare(fields[i])
	if i == 0 || strings.HasSuffix(w, "ed") || strings.HasSuffix(w, "ing") || isActInName(w) || determiners[following(fields, i)] {
		return false
	}
	return bare(fields[i-1]) != "" && !endsWith(fields[i-1], ",;:.!?)") && !strings.HasPrefix(fields[i], "(") && !strings.HasPrefix(fields[i], "/")
}

// leads reports whether the name of a thing follows: "the", "specified", "user's".
func leads(fields []string, i int) bool {
	w := bare(fields[i])
	isNear := i < 2 || relating[bare(fields[i-1])]
	return leading[w] || loosely[w] && isNear || strings.HasSuffix(fields[i], "'s") || strings.HasSuffix(fields[i], "’s")
}

// isProper reports whether a word is written as a name within a sentence whose other words are not: "all Acme projects".
func isProper(fields []string, i int) bool {
	isUpper := func(field string) bool { return strings.IndexFunc(field, unicode.IsUpper) == 0 }
	return isUpper(fields[i]) && (i == 1 && i+1 < len(fields) && !isUpper(fields[i+1]) || leads(fields, i-1) && !isUpper(fields[i-1]))
}

// done is what a tool gets that may be an act or an order: the name of one act ("get_eviction"), or one thing of which nothing is known ("Get a pizza."), and
// no argument says which of several it is.
func (p *proposer) done() string {
	isThere := func(w string) bool {
		return slices.ContainsFunc(p.tool.Params, func(a Param) bool {
			named := nameWords(a.Name)
			last := len(named) - 1
			return last >= 0 && (p.finds(named) || named[last] == w+"name" || words("id name key slug uuid number code")[named[last]] && (last == 0 || named[last-1] == w))
		})
	}
	last := p.name[len(p.name)-1]
	if p.name[0] != "search" && isActInName(last) && !isThere(last) {
		return last
	}
	if one := strings.TrimSuffix(last, "s"); p.name[0] == "list" && slices.ContainsFunc(p.tool.Params, func(a Param) bool {
		named := nameWords(a.Name)
		return len(named) > 1 && isID(named) && named[0] == one
	}) {
		return last
	}
	all := tokens(p.tool.Description)
	what := object(all)
	isOne := getting[unbent(bare(all[0]), describes)] && words("a an some another one")[following(all, 0)] && !isMany(what) && !strings.ContainsAny(all[min(2, len(all)-1)], "'’") // not "a user's profile"
	if isFor := isOne && followedBy(all, what, "for"); isFor || isOne && !asOne[what] && !isThere(what) {
		return what
	}
	return ""
}

// followedBy reports whether a word comes directly behind another.
func followedBy(all []string, w, next string) bool {
	i := slices.IndexFunc(all, func(field string) bool { return bare(field) == w })
	return i >= 0 && following(all, i) == next
}
