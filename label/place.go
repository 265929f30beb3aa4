package label

import (
	"strings"
	"unicode"
)

// A word of which nothing is known may be an act. Where English has only names of things it is none: behind an article, an adjective or "of". Behind most
// other prepositions it may be how something is done ("with a chirp"), and as what is got it may be what is ordered.
var (
	// leading come directly before the name of a thing.
	leading = words(`the a an this these those your its their his her each every all any some no of another specific specified given certain unique current existing single multiple particular corresponding
		available previous next first last historical valid optional entire`)
	// relating are the prepositions of a description; the word behind the last of them is what it is about.
	relating = words("of for in on at by from with within to into onto via through against under between as about per over upon")
	// scanning are verbs with which nothing is ordered: what follows them is only looked at.
	scanning = words("search list count describe view read look return filter")
	// sorting come, after such a verb, before what is looked for or what it is chosen by: in lists, and where one searches.
	sorting = map[string]map[string]bool{"list": words("by"), "count": words("by in within"), "search": words("for by in within"), "look": words("for by in within")}
)

// saidOfATool reports whether a word of a description can only be the name of a thing.
func saidOfATool(fields []string, i int) bool {
	if !namesAThing(fields, i) {
		return false
	}
	verb, about := unbent(bare(fields[0]), describes), ""
	for j := i - 1; j > 0 && about == ""; j-- {
		if w := bare(fields[j]); relating[w] {
			about = w
		}
	}
	switch {
	case isProper(fields, i) && (about == "in" || scanning[verb] && about == "from" || (about == "" || about == "of") && !endsWith(fields[i], ".,;:!?)") && i+1 < len(fields)):
		return true
	case !leads(fields[i-1]) && !sorting[verb][bare(fields[i-1])]:
		return false
	}
	return about == "of" || scanning[verb] && (about == "" || sorting[verb][about] && (about != "by" || bare(fields[i-1]) == "by"))
}

// saidOfAValue reports whether a word of what is said of an argument can only be the name of a thing, or an example.
func saidOfAValue(fields []string, i int) bool {
	if isCode := strings.ContainsAny(fields[i], "0123456789") || strings.ToUpper(fields[i]) == fields[i]; isCode && strings.ContainsAny(fields[i][:1], "'\"`") {
		return true
	}
	return namesAThing(fields, i) && (leads(fields[i-1]) || words("for in from by as")[bare(fields[i-1])])
}

// namesAThing reports whether a word is no form of a verb, and is neither set apart from the word before it nor followed by what a verb acts on.
func namesAThing(fields []string, i int) bool {
	w := bare(fields[i])
	if i == 0 || strings.HasSuffix(w, "ed") || strings.HasSuffix(w, "ing") || determiners[following(fields, i)] {
		return false
	}
	return bare(fields[i-1]) != "" && !endsWith(fields[i-1], ",;:.!?)") && !strings.HasPrefix(fields[i], "(") && !strings.HasPrefix(fields[i], "/")
}

// leads reports whether the name of a thing follows: "the", "specified", "user's".
func leads(field string) bool {
	return leading[bare(field)] || strings.HasSuffix(field, "'s") || strings.HasSuffix(field, "’s")
}

// isProper reports whether a word is written as a name within a sentence whose other words are not: "all Acme projects".
func isProper(fields []string, i int) bool {
	isUpper := func(field string) bool { return strings.IndexFunc(field, unicode.IsUpper) == 0 }
	return isUpper(fields[i]) && (i == 1 && i+1 < len(fields) && !isUpper(fields[i+1]) || leads(fields[i-1]) && !isUpper(fields[i-1]))
}
