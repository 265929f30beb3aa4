package command

import (
	"path"
	"slices"
	"strings"
)

// check reports whether a program with these arguments stays on the machine and runs nothing that we don't
// know. It notes the files that the program writes.
type check func(*reader, []arg) bool

// given allows some options and any operands.
func given(list string) check {
	o := optionsOf(list)
	return func(_ *reader, args []arg) bool { _, ok := o.all(args); return ok }
}

// checkTree allows what tree can list by. In one word of its options, letters may follow one that takes a value, and their values are the next words: tree -Lo 2 x writes x.
func checkTree(_ *reader, args []arg) bool {
	_, ok := treeOptions.all(args)
	return ok && !slices.ContainsFunc(args, func(a arg) bool { return behindValue.MatchString(a.text) })
}

var (
	treeOptions = optionsOf("-a -d -L: -I: -P: -f -i -s -h -D -p -u -g --dirsfirst --noreport -C -n --prune --gitignore")
	behindValue = match(`^-[A-Za-z]*([IP].|L[0-9]*[^0-9])`)
)

// only allows some options, and no more operands than most.
func only(most int, list string) check {
	o := optionsOf(list)
	return func(_ *reader, args []arg) bool {
		rest, ok := o.all(args)
		return ok && len(rest) <= most && !splits(rest)
	}
}

// splits reports whether one of the words may become several.
func splits(args []arg) bool { return slices.ContainsFunc(args, func(a arg) bool { return a.bare }) }

// writesAll is for programs that write their operands, or copy what they read there.
func writesAll(list string) check {
	o := optionsOf(list)
	return func(r *reader, args []arg) bool {
		rest, ok := o.all(args)
		for i := range rest {
			r.write(rest[i])
		}
		return ok
	}
}

// writesRest is for programs that write all operands but the first, which is a mode.
func writesRest(list string) check {
	o := optionsOf(list)
	return func(r *reader, args []arg) bool {
		rest, ok := o.all(args)
		for i := range rest {
			if i > 0 || rest[i].bare {
				r.write(rest[i])
			}
		}
		return ok
	}
}

// runsWorkspace is for programs that execute what is in the workspace.
func runsWorkspace(n, list string) check {
	o := optionsOf(list)
	return func(r *reader, args []arg) bool {
		_, ok := o.all(args)
		if ok {
			r.workspace(n)
		}
		return ok
	}
}

// write notes a file that is written.
func (w *changes) write(to arg) {
	switch to.text {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return
	}
	if !to.fixed || w.at != "" {
		w.touch(to)
	}
	if !to.fixed {
		w.touchUnnamed(&to)
		first(&w.Outside, "a file whose name is only known when it runs")
		return
	}
	w.Writes = once(w.Writes, to.text)
	switch clean := path.Clean(to.text); {
	case strings.HasPrefix(clean, "/tmp/") && !hidden(clean):
	case strings.HasPrefix(clean, "/"), strings.HasPrefix(clean, "~"), clean == "..", strings.HasPrefix(clean, "../"), w.moved:
		first(&w.Outside, "a file that may be outside the workspace")
	case hidden(clean):
		first(&w.Outside, "a hidden file")
	}
}

// hidden reports whether a path has a component that begins with a dot: hooks, settings and start-up files do.
func hidden(clean string) bool {
	return slices.ContainsFunc(strings.Split(clean, "/"), func(part string) bool { return strings.HasPrefix(part, ".") && part != "." })
}

// checkCd notes that what follows runs elsewhere.
func checkCd(r *reader, args []arg) bool {
	r.moved = true
	r.cds++
	r.goTo(args)
	return len(args) <= 1
}

// checkFind reads find: its -exec runs a command, and some of its actions write.
func checkFind(r *reader, args []arg) bool {
	known := !slices.ContainsFunc(args, func(a arg) bool { return a.bare || strings.HasPrefix(a.text, "\x00") }) // it may become -exec, or the end of one
	for i := 0; i < len(args); i++ {
		a := &args[i]
		switch {
		case strings.HasPrefix(a.text, "-f") && strings.Contains(a.text, "print"), a.text == "-fls":
			known = false
			continue
		case a.text == "-delete":
			r.write(arg{})
			continue
		case !strings.HasPrefix(a.text, "-exec") && !strings.HasPrefix(a.text, "-ok"):
			continue
		}
		end := execEnd(args[i+1:])
		if end < 0 {
			return false
		}
		run := args[i+1 : i+1+end]
		known = known && strings.HasPrefix(a.text, "-exec") && !slices.ContainsFunc(run, func(a arg) bool { return !a.fixed })
		r.moved = r.moved || a.text != "-exec"
		names, _ := found(args)
		r.run(filled(run, names), nil)
		i += end + 1
	}
	return known
}

// execEnd is where the command of -exec ends: at a semicolon, or at a plus behind {}. It is -1 without one.
func execEnd(args []arg) int {
	for i := range args {
		if args[i].text == ";" || args[i].text == "+" && i > 0 && args[i-1].text == "{}" {
			return i
		}
	}
	return -1
}

// filled is a command in which {} is one of these names of files.
func filled(args []arg, names []string) []arg {
	out := slices.Clone(args)
	for i := range out {
		if strings.Contains(out[i].text, "{}") {
			values := make([]string, len(names))
			for j, name := range names {
				values[j] = strings.ReplaceAll(out[i].text, "{}", name)
			}
			out[i] = arg{text: strings.ReplaceAll(out[i].text, "{}", "\x00"), bare: out[i].bare, values: values}
		}
	}
	return out
}

// checkFd reads fd, which runs a command behind -x. A semicolon would end it, and fd knows more than {}.
func checkFd(r *reader, args []arg) bool {
	at := slices.IndexFunc(args, func(a arg) bool { return fdExecs[a.text] })
	if at >= 0 {
		run := args[at+1:]
		known := !slices.ContainsFunc(run, func(a arg) bool {
			return !a.fixed || a.text == ";" || fdExecs[a.text] || a.text != "{}" && strings.Contains(a.text, "{")
		})
		names := []string{unknown}
		if t, ok := fdNames.take(args[:at]); ok {
			names = bounded(listedByFd(&t))
		}
		r.run(append(filled(run, names), arg{text: "\x00", values: names}), nil)
		if !known {
			return false
		}
		args = args[:at]
	}
	_, ok := fdOptions.all(args)
	return ok
}

var fdExecs = set("-x -X --exec --exec-batch")

var fdOptions = optionsOf("-e: --extension: -t: --type: -H --hidden -I --no-ignore -d: --max-depth: -E: --exclude: -i -s -g -a -l -0 -1 -L -p")

// checkXargs reads xargs: a command, and arguments that we don't know. They replace {}, and nothing else.
func checkXargs(r *reader, args []arg) bool {
	rest, ok := xargsOptions.leading(args)
	if !ok {
		r.path(unknown, false) // it may name a file of names
		return false
	}
	for i := range len(args) - len(rest) {
		opt := args[i].text
		if strings.Contains(opt, "I") && opt != "-I{}" && (opt != "-I" || i+1 >= len(args) || args[i+1].text != "{}") {
			return false
		}
	}
	if len(rest) > 0 {
		names := r.fedNames()
		if n := name(rest[0].text); slices.Contains(names, unknown) && !plain[n] && checks[n] == nil {
			first(&r.Sends, "xargs "+shown(n)) // what comes in may be push
		}
		r.run(append(filled(rest, names), arg{text: "\x00", bare: true, values: names}), nil)
	}
	return true
}

var xargsOptions = optionsOf("-0 --null -r --no-run-if-empty -n: --max-args: -P: --max-procs: -I: -L: -d: --delimiter: -t --verbose -x -s:")

// checkSed reads sed: some of its commands run programs or write files.
func checkSed(r *reader, args []arg) bool {
	scripts, files, inPlace, ok := sedParts(args)
	if !ok {
		return false
	}
	if len(scripts) == 0 && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	for i := range files {
		if inPlace {
			r.write(files[i])
		}
	}
	return len(scripts) > 0 && !slices.ContainsFunc(scripts, func(a arg) bool { return !a.fixed || !sedScript(a.text) })
}

// sedParts sorts the arguments of sed. It reports false for an option that is not in the table.
func sedParts(args []arg) (scripts, files []arg, inPlace, ok bool) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case sedScripts[a.text] && i+1 < len(args):
			i++
			scripts = append(scripts, args[i])
		case a.text == "-i" || a.text == "--in-place":
			inPlace = true
		case sedFlags[a.text]:
		case a.option():
			return nil, nil, false, false
		default:
			files = append(files, a)
		}
	}
	return scripts, files, inPlace, true
}

var (
	sedScripts = set("-e -ne --expression")
	sedFlags   = set("-n -E -r -s -u -z -nE -nr -En -rn --quiet --silent --regexp-extended")
)

var (
	sedAddress = `(?:(?:\d+|\$|/[^/\\]*/)(?:,(?:\+?\d+|\$|/[^/\\]*/))?!?)?`
	sedPlain   = match(`^\s*` + sedAddress + `\s*[pdqD=GHhgxnN]\s*$`)
	sedReplace = match(`^\s*` + sedAddress + `\s*s(?:/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/|\|(?:[^|\\\n]|\\.)*\|(?:[^|\\\n]|\\.)*\||#(?:[^#\\\n]|\\.)*#(?:[^#\\\n]|\\.)*#|,(?:[^,\\\n]|\\.)*,(?:[^,\\\n]|\\.)*,|@(?:[^@\\\n]|\\.)*@(?:[^@\\\n]|\\.)*@)[gpiI0-9]*\s*$`)
)

// plainClass are classes of characters that every sed ends at the same place, and escapes. In a class, / and ; end nothing for most seds: s/[/a/;s/b/]/;s/e#/x/ is one command,
// which runs the line.
var plainClass = match(`\\.|\[\^?(?:[^/|#,@;\\\[\]^\n]|\[:[a-z]+:\])+\]`)

// In a script that is one command with slashes, a class may hold all that would end other commands.
var (
	slashClass = match(`\\.|\[\^?(?:[^/\\\[\]^\n]|\[:[a-z]+:\])+\]`)
	sedSlashes = match(`^\s*` + sedAddress + `\s*(?:s/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/[gpiI0-9]*|[pdqD=GHhgxnN])\s*$`)
)

// sedScript reports whether a script only prints, deletes and replaces. A semicolon ends a command only where
// all parts are such commands.
func sedScript(s string) bool {
	class := plainClass
	if sedSlashes.MatchString(s) {
		class = slashClass
	}
	if strings.Contains(s, "[") && strings.Contains(class.regexp().ReplaceAllString(s, ""), "[") {
		return false
	}
	if sedPlain.MatchString(s) || sedReplace.MatchString(s) {
		return true
	}
	parts := strings.FieldsFunc(s, func(c rune) bool { return c == ';' || c == '\n' })
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return !sedPlain.MatchString(p) && !sedReplace.MatchString(p) })
}

// checkAwk reads awk: its programs can run others, write files and connect.
func checkAwk(_ *reader, args []arg) bool {
	rest, ok := awkOptions.leading(args)
	if !ok || len(rest) == 0 || !rest[0].fixed {
		return false
	}
	for _, a := range args { // -f in disguise
		if a.option() && !strings.HasPrefix(a.text, "-F") && !strings.HasPrefix(a.text, "-v") && a.text != "--" {
			return false
		}
	}
	program := strings.ReplaceAll(rest[0].text, "||", "")
	if strings.ContainsAny(program, "|@") || strings.Contains(program, "\\\n") || strings.Contains(program, "system") || strings.Contains(program, "getline") || strings.Contains(program, "inet") {
		return false
	}
	return !strings.Contains(strings.ReplaceAll(program, ">=", ""), ">") || !strings.Contains(program, "print")
}

var awkOptions = optionsOf("-F: -v:")

// checkTar allows to list and to create. What an archive writes is not in the command.
func checkTar(r *reader, args []arg) bool {
	if len(args) == 0 || !args[0].fixed {
		return false
	}
	letters := strings.TrimPrefix(args[0].text, "-")
	if strings.Trim(letters, "ctvzjJf") != "" || !strings.ContainsAny(letters, "ct") {
		return false
	}
	rest, ok := tarOptions.all(args[1:])
	if !ok || !strings.Contains(letters, "f") || len(rest) == 0 || strings.Contains(rest[0].text, ":") || !rest[0].fixed {
		return false
	}
	if strings.Contains(letters, "c") {
		r.write(rest[0])
	}
	return true
}

var tarOptions = optionsOf("-C: --exclude: -v -z -j -J")

// checkDecoder notes a program that turns data into text.
func checkDecoder(n, list string) check {
	o := optionsOf(list)
	return func(r *reader, args []arg) bool {
		if slices.ContainsFunc(args, func(a arg) bool { return strings.HasPrefix(a.text, "-") && strings.ContainsAny(a.text, "dDr") }) {
			first(&r.decodes, n)
		}
		rest, ok := o.all(args)
		return ok && len(rest) <= 1
	}
}

// checkMake allows the usual targets, without variables.
func checkMake(r *reader, args []arg) bool {
	rest, ok := makeOptions.all(args)
	if at := slices.IndexFunc(args, func(a arg) bool { return a.text == "-j" }); at >= 0 && at+1 < len(args) && !isNumber(args[at+1].text) {
		return false // -j needs no value: that is a target
	}
	if !ok || slices.ContainsFunc(rest, func(a arg) bool { return !a.fixed || !usualTargets[a.text] }) {
		return false
	}
	r.workspace("make")
	return true
}

var makeOptions = optionsOf("-j: -k -s -B -i -w --silent --no-print-directory --keep-going -#")

// checkDate reads date, which can also set the clock.
func checkDate(_ *reader, args []arg) bool {
	rest, ok := dateOptions.all(args)
	return ok && !slices.ContainsFunc(rest, func(a arg) bool { return !strings.HasPrefix(a.text, "+") })
}

var dateOptions = optionsOf("-u -R -I -d: -r: --utc --iso-8601 --rfc-3339 --date: -j")

// checkUnzip allows to list.
func checkUnzip(_ *reader, args []arg) bool {
	rest, ok := optionsOf("-l -v -Z").all(args)
	return ok && len(rest) < len(args)
}

// checkGoimports reads goimports, which asks the go command about the workspace.
func checkGoimports(r *reader, args []arg) bool {
	r.workspace("goimports")
	return checkGofmt(r, args)
}

// checkGofmt reads gofmt, which writes with -w.
func checkGofmt(r *reader, args []arg) bool {
	rest, ok := gofmtOptions.all(args)
	if slices.ContainsFunc(args, func(a arg) bool { return strings.Contains(a.text, "w") && strings.HasPrefix(a.text, "-") }) {
		for i := range rest {
			r.write(rest[i])
		}
	}
	return ok
}

var gofmtOptions = optionsOf("-l -d -s -w -e -local:")
