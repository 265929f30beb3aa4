package main

import (
	"slices"
	"strings"
)

// bashCompletion needs nothing but bash 3.2, which macOS has: neither the
// bash-completion package nor mapfile.
func bashCompletion(all []command) string {
	var l lines
	l.add("# bash completion of verifier, printed by `verifier completion bash`")
	l.add("_verifier() {")
	l.add(`    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at=verifier words= take= i IFS=$' \t\n'`)
	l.add(`    # To bash, --flag=value is three words.`)
	l.add(`    if [[ $cur == "=" ]]; then cur=; elif [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi`)
	l.add(`    for ((i = 1; i < COMP_CWORD; i++)); do`)
	l.add(`        case "$at ${COMP_WORDS[i]}" in`)
	l.add("            ", pathPatterns(all, single, " | "), `) at+=" ${COMP_WORDS[i]}" ;;`)
	l.add("        esac")
	l.add("    done")
	l.add(`    case "$at" in`)
	for _, c := range all {
		bashCommand(&l, c)
	}
	l.add("    esac")
	l.add(`    case "$at $prev" in`)
	for _, c := range all {
		bashValues(&l, c)
	}
	l.add("    esac")
	l.add(`    COMPREPLY=($(compgen -W "$words" -- "$cur"))`)
	l.add(`    [[ $take && $cur != -* ]] || return 0`)
	l.add("    IFS=$'\\n'")
	l.add(`    COMPREPLY+=($(compgen "$take" -- "$cur"))`)
	l.add("    compopt -o filenames 2>/dev/null")
	l.add("    return 0")
	l.add("}")
	l.add("complete -F _verifier verifier")
	return l.String()
}

// bashCommand is what can follow the command itself.
func bashCommand(l *lines, c command) {
	words := slices.Concat(c.children(), c.argument().words)
	for _, f := range c.flags {
		words = append(words, spellings(f)...)
	}
	l.add("        ", single(c.path), ") words=", single(strings.Join(words, " ")), bashTake(c.argument()), bashRefs(c.argument()), " ;;")
}

// bashRefs asks for references, unless a flag is being typed.
func bashRefs(can choice) string {
	if can.refs == "" {
		return ""
	}
	return `; [[ $cur == -* ]] || words+=" $(` + can.refs + ` | tr '\n' ' ')"`
}

// bashValues is what can follow a flag that takes a value.
func bashValues(l *lines, c command) {
	for _, f := range c.flags {
		if takesValue(f) {
			can := choiceOf(f.Value, f.PlaceHolder)
			l.add("        ", flagPatterns(c, f), ") words=", single(strings.Join(can.words, " ")), bashTake(can), " ;;")
		}
	}
}

// bashTake is compgen's switch for what the file system knows.
func bashTake(can choice) string {
	switch {
	case can.files:
		return " take=-f"
	case can.dirs:
		return " take=-d"
	}
	return " take="
}
