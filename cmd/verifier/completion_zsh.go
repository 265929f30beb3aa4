package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// zshCompletion works as a file in $fpath and when it is sourced.
func zshCompletion(all []command) string {
	var l lines
	l.add("#compdef verifier")
	l.add("# zsh completion of verifier, printed by `verifier completion zsh`")
	l.add("_verifier() {")
	l.add(`    local at=verifier word cur=${words[CURRENT]} prev=${words[CURRENT-1]}`)
	l.add(`    local -a commands flags`)
	l.add(`    for word in ${words[2,CURRENT-1]}; do`)
	l.add(`        case "$at $word" in`)
	l.add("            ", pathPatterns(all, single, " | "), `) at+=" $word" ;;`)
	l.add("        esac")
	l.add("    done")
	l.add(`    if [[ $cur == --*=* ]]; then prev=${cur%%=*}; compset -P '*='; fi`)
	l.add(`    case "$at $prev" in`)
	for _, c := range all {
		zshValues(&l, c)
	}
	l.add("    esac")
	l.add(`    case "$at" in`)
	for _, c := range all {
		zshCommand(&l, c)
	}
	l.add("    esac")
	l.add("    (( $#commands )) && _describe -t commands command commands")
	l.add("    _describe -o flag flags")
	l.add("}")
	l.add(`if [[ $funcstack[1] == _verifier ]]; then _verifier "$@"; else compdef _verifier verifier; fi`)
	return l.String()
}

func zshCommand(l *lines, c command) {
	l.add("        ", single(c.path), ")")
	for _, child := range c.Children {
		if !child.Hidden {
			l.add("            commands+=(", zshEntry(child.Name, child.Help), ")")
		}
	}
	for _, f := range c.flags {
		for _, s := range spellings(f) {
			l.add("            flags+=(", zshEntry(s, f.Help), ")")
		}
	}
	if len(c.Positional) > 0 {
		l.add("            [[ $cur == -* ]] || ", zshTake(c.argument(), c.Positional[0].Summary()))
	}
	l.add("            ;;")
}

func zshValues(l *lines, c command) {
	for _, f := range c.flags {
		if takesValue(f) {
			l.add("        ", flagPatterns(c, f), ") ", zshTake(choiceOf(f.Value, f.PlaceHolder), placeholder(f)), "; return ;;")
		}
	}
}

// zshTake offers values; for free text it says what is expected.
func zshTake(can choice, expected string) string {
	switch {
	case can.refs != "":
		return `compadd -- ${(f)"$(` + can.refs + `)"}`
	case can.files:
		return "_files"
	case can.dirs:
		return "_files -/"
	case len(can.words) > 0:
		return "compadd -- " + strings.Join(can.words, " ")
	}
	return "_message " + single(expected)
}

// zshEntry is a word and what it means, which a colon keeps apart.
func zshEntry(word, help string) string { return single(word + ":" + help) }

// placeholder is what a flag's value is called.
func placeholder(f *kong.Flag) string { return strings.Trim(f.FormatPlaceHolder(), `"`) }
