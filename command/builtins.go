package command

import (
	"slices"
	"strings"
)

// What the shell runs itself.

// checkSet allows the options that make a script stricter.
func checkSet(_ *reader, args []arg) bool {
	return !slices.ContainsFunc(args, func(a arg) bool { return !a.fixed || a.text != "pipefail" && strings.Trim(a.text, "-+euxo") != "" })
}

// checkShopt allows the options that say which files a pattern finds.
func checkShopt(_ *reader, args []arg) bool {
	return !slices.ContainsFunc(args, func(a arg) bool { return !a.fixed || !patternOptions[a.text] })
}

var patternOptions = set("-s -u -q dotglob nullglob failglob globstar nocaseglob")

// checkTest reads test and [: -v evaluates what it names, and zsh what it compares as numbers. A word that may become -v has to be the last, or to be
// compared.
func checkTest(_ *reader, args []arg) bool {
	for i := range args {
		a := &args[i]
		last := i+1 == len(args) || i+2 == len(args) && args[i+1].text == "]"
		if a.text == "-v" || a.text == "-R" || a.bare || strings.ContainsAny(a.text, "`(") && len(a.text) > 1 || !a.fixed && !last && !compares[args[i+1].text] {
			return false
		}
	}
	return true
}

var compares = set("= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef")

// checkPrintf reads printf: -v sets a variable, and so does %n.
func checkPrintf(_ *reader, args []arg) bool {
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	} else if len(args) > 0 && args[0].option() {
		return strings.HasPrefix(args[0].text, "\x00") && !args[0].bare && len(args) == 1
	}
	return len(args) < 2 && !splits(args) || len(args) > 1 && args[0].fixed && !setsCount.MatchString(strings.ReplaceAll(args[0].text, "%%", ""))
}

var setsCount = match(`%[^%a-zA-Z]*[hlLjtz]*n`)

// respells notes what a shell or echo changes in a text that may be written: backslashes, patterns, expansions.
func (r *reader) respells(n string, args []arg, doc *arg) {
	r.Respells = r.Respells || r.declares || doc != nil && (!doc.fixed || doc.escapes) || n == "echo" && slices.ContainsFunc(args, func(a arg) bool {
		return !a.fixed || strings.Contains(a.text, `\`) || strings.HasPrefix(a.text, "-") && a.text != "-n" && strings.Trim(a.text, "-neE") == ""
	})
}

// checkRead reads read, which sets variables.
func checkRead(r *reader, args []arg) bool {
	rest, ok := readOptions.all(args)
	for i := range rest {
		if !rest[i].fixed || !isName(rest[i].text) {
			return false
		}
		r.variable(rest[i].text, nil)
	}
	return ok
}

var readOptions = optionsOf("-r -s -d: -n: -t: -p:")

func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// checkUnset reads unset, which may evaluate an index. Without PATH programs come from the directory.
func checkUnset(r *reader, args []arg) bool {
	for i := range args {
		if !args[i].fixed || !isName(args[i].text) {
			return false
		}
		r.variable(args[i].text, nil)
	}
	return true
}
