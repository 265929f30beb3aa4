package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// fishCompletion is one line for each thing that can follow.
func fishCompletion(all []command) string {
	var l lines
	l.add("# fish completion of verifier, printed by `verifier completion fish`")
	l.add("function __verifier_at")
	l.add("    set -l at verifier")
	l.add("    for word in (commandline -opc)")
	l.add(`        switch "$at $word"`)
	l.add("            case ", pathPatterns(all, fishQuote, " "))
	l.add(`                set at "$at $word"`)
	l.add("        end")
	l.add("    end")
	l.add(`    test "$at" = "$argv"`)
	l.add("end")
	l.add("complete -c verifier -f")
	for _, c := range all {
		fishCommand(&l, c)
	}
	return l.String()
}

func fishCommand(l *lines, c command) {
	start := "complete -c verifier -n " + fishQuote("__verifier_at "+c.path)
	for _, child := range c.Children {
		if !child.Hidden {
			l.add(start, " -a ", child.Name, " -d ", fishQuote(child.Help))
		}
	}
	if can := c.argument(); len(c.Positional) > 0 {
		l.add(start, fishTake(can, false), " -d ", fishQuote(c.Positional[0].Help))
	}
	for _, f := range c.flags {
		l.add(start, fishFlag(f), " -d ", fishQuote(f.Help))
	}
}

func fishFlag(f *kong.Flag) string {
	out := " -l " + f.Name
	if f.Short != 0 {
		out += " -s " + string(f.Short)
	}
	if takesValue(f) {
		out += fishTake(choiceOf(f.Value, f.PlaceHolder), true)
	}
	return out
}

// fishTake offers values; a flag's value is also demanded.
func fishTake(can choice, flag bool) string {
	demand := ""
	if flag {
		demand = " -x"
	}
	switch {
	case can.refs != "":
		return demand + " -a " + fishQuote("("+can.refs+")")
	case can.files && flag:
		return " -r -F"
	case can.files:
		return " -F"
	case can.dirs:
		return demand + " -a '(__fish_complete_directories)'"
	case len(can.words) > 0:
		return demand + " -a " + fishQuote(strings.Join(can.words, " "))
	}
	return demand
}

// fishQuote knows fish's own escapes inside single quotes.
func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
