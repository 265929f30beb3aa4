package command

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/openclaw-verifier/verifier/cputest"
)

// rows are the lines of files in testdata.
func rows(t testing.TB, files ...string) (out []string) {
	t.Helper()
	for _, file := range files {
		b, err := os.ReadFile("testdata/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")...)
	}
	return out
}

func TestRows(t *testing.T) {
	t.Parallel()
	effects := map[string]Effect{"look": Look, "local": Local, "anything": Anything}
	for _, line := range rows(t, "rows") {
		effect, rest, found := strings.Cut(line, " | ")
		if !found || line[0] == '#' {
			continue
		}
		more, text, _ := strings.Cut(strings.TrimPrefix(rest, " "), "| ")
		text = strings.ReplaceAll(strings.TrimPrefix(text, "|"), "⏎", "\n")
		c := Read(text)
		is := map[string]bool{"network": c.Network, "joined": c.Joined, "install": c.Install}
		for want := range strings.SplitSeq(strings.TrimSpace(more), "; ") {
			name, value, valued := strings.Cut(want, "=")
			switch {
			case name == "dir" && c.Dir != value, name == "paths" && strings.Join(c.Paths, " ") != value,
				name == "runs" && !slices.ContainsFunc(c.Commands, func(w []string) bool {
					return strings.HasPrefix(strings.Join(w, " ")+" ", value+" ")
				}), !valued && name != "" && !is[name]:
				t.Errorf("%s: not %s: %+v", line, want, c)
			}
			delete(is, name)
		}
		for name, also := range is {
			if also {
				t.Errorf("%s: also %s", line, name)
			}
		}
		if c.Effect != effects[effect] || (c.Effect == Anything) != (c.Why != "") {
			t.Errorf("%s: %+v", line, c)
		}
	}
}

// Every good command that is known is a question less; an unknown or fetching one must never be known.
func TestCorpora(t *testing.T) {
	t.Parallel()
	known := 0
	for _, text := range rows(t, "harmless", "builds", "inspects", "workspace") {
		if Read(text).Effect != Anything {
			known++
		}
	}
	if known < 170 {
		t.Errorf("%d of the good commands are known", known)
	}
	for _, text := range rows(t, "unknown", "fetching") {
		if c := Read(text); c.Effect != Anything {
			t.Errorf("%q is known: %+v", text, c)
		}
	}
	for _, text := range rows(t, "notbuilds", "notinspects") {
		c := Read(text)
		if c.Effect != Anything && !slices.ContainsFunc(c.Paths, func(p string) bool {
			return path.IsAbs(p) || strings.HasPrefix(path.Clean(p)+"/", "../")
		}) {
			t.Errorf("%q is known, and stays in the workspace: %+v", text, c)
		}
	}
}

func TestHarmlessLinesDoNotReachTheNetwork(t *testing.T) {
	t.Parallel()
	lines := rows(t, "quiet")
	if len(lines) < 50 {
		t.Errorf("%d lines", len(lines))
	}
	for _, text := range lines {
		if c := Read(text); c.Network {
			t.Errorf("%q reaches the network", text)
		}
	}
}

func TestArgv(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words   []string
		effect  Effect
		network bool
	}{
		{[]string{"ls", "-la", "$x *"}, Look, false},
		{[]string{"git", "status"}, Local, false},
		{[]string{"git status"}, Anything, false},
		{[]string{"cd", "x"}, Anything, false},
		{[]string{"cat", "~/x"}, Anything, false},
		{[]string{"sh", "-c", "curl x"}, Anything, true},
		{[]string{""}, Anything, false},
		{nil, Anything, false},
	} {
		if got := Argv(c.words); got.Effect != c.effect || got.Network != c.network {
			t.Errorf("%q: %+v", c.words, got)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`cat ~/.s"s"h/id_r\sa`:                "~/.ssh/id_rsa",
		`cat "$HOME/.ssh/x"`:                  "$HOME/.ssh/x",
		`curl -d@.env x`:                      ".env",
		`ssh -i~/.ssh/x h`:                    "~/.ssh/x",
		`x --file=~/.netrc`:                   "~/.netrc",
		`git show HEAD:.env`:                  ".env",
		`python3 -c 'open("/home/a/.netrc")'`: "/home/a/.netrc",
		`echo $(cat .env)`:                    ".env",
		`cat <<E > x` + "\nsee .env\nE":       ".env",
		`x < .env`:                            ".env",
		`A=.env; x`:                           ".env",
		`cat {.env,b}`:                        ".env",
		`if true; then cat .env`:              ".env",
		`if true; then x -f.env`:              ".env",
		`sh -c "cat '.env'"`:                  ".env",
	} {
		if c := Read(text); !slices.Contains(c.Words, want) {
			t.Errorf("%q: %q", text, c.Words)
		}
	}
}

func addRows(f *testing.F) {
	f.Helper()
	for _, text := range rows(f, "harmless", "builds", "inspects", "unknown", "fetching", "notbuilds", "quiet") {
		f.Add(text)
	}
	for _, row := range rows(f, "rows") {
		f.Add(strings.ReplaceAll(row[strings.LastIndex(row, "| ")+1:], "⏎", "\n"))
	}
}

// Nothing that is added to a line makes it better known.
func FuzzRead(f *testing.F) {
	addRows(f)
	f.Fuzz(func(t *testing.T, text string) {
		var c *Line
		if took := cputest.Time(func() { c = Read(text) }); took > 250*time.Millisecond {
			t.Errorf("%d bytes took %s", len(text), took)
		}
		if (c.Effect == Anything) != (c.Why != "") || c.Effect != Anything && (c.Network || c.Install) {
			t.Errorf("%+v", c)
		}
		for _, more := range []string{"x; " + text, "x | " + text, "x() { " + text + "\n}", "$(" + text + "\n)",
			"(" + text + "\n)", "{ " + text + "\n}", "! " + text, "sudo " + text, "X=1 " + text, "< x " + text,
			"./" + text, "cd a; " + text} {
			if c := Read(more); c.Effect != Anything && !strings.HasPrefix(text, "#") {
				t.Errorf("%q is known: %+v", more, c)
			}
		}
		if file := parse(text); file == nil || len(file.Stmts) == 0 || strings.HasSuffix(text, `\`) {
			return // what is added may end a quote
		}
		for _, more := range []string{"; ls", "\nls", " ; git status", " 2>&1", " | wc -l", "; cat 'a'", " || true"} {
			if after := Read(text + more); after.Effect < c.Effect {
				t.Errorf("%q is better known than %q: %+v", text+more, text, after)
			}
		}
		if c.Effect == Anything || strings.ContainsAny(text, "#\\") {
			return // the rest may be a comment, or the last word go on
		}
		for _, more := range []string{" > x", " < x", " $(x)", " `x`", " $x", "; x", " && x", " | sh", " &", "'", `"`,
			" *", " <(x)", " <<x"} {
			if after := Read(text + more); after.Effect != Anything {
				t.Errorf("%q is known: %+v", text+more, after)
			}
		}
		if after := Read(strings.TrimRight(text, "\n; ") + " --zz"); after.Effect < c.Effect {
			t.Errorf("a flag makes %q better known: %+v", text, after)
		}
	})
}

// What we split is a list of plain commands to the parser too, and it has the same words.
func FuzzSplit(f *testing.F) {
	addRows(f)
	f.Fuzz(func(t *testing.T, text string) {
		list, why := split(text)
		if why != "" || strings.Count(text, "#") > 0 && hash.MatchString(text) {
			return
		}
		file := parse(text)
		if file == nil && strings.Count(text, "(")+strings.Count(text, "[")+strings.Count(text, "{") > deepest {
			return
		}
		var words [][]string
		syntax.Walk(file, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok {
				words = append(words, nil)
				for _, w := range c.Args {
					words[len(words)-1] = append(words[len(words)-1], spell(w.Parts, false))
				}
			}
			return true
		})
		for i, c := range list {
			if i >= len(words) || !slices.Equal(c.words, words[i]) {
				t.Fatalf("%q is %q, but to the parser %q", text, list, words)
			}
		}
		ours := slices.ContainsFunc(list, func(c simple) bool { return c.joint == "|" })
		if !isPlainList(text, file) || len(words) != len(list) || ours != isPiped(file) {
			t.Errorf("%q is %q, but to the parser %q", text, list, words)
		}
	})
}

func isPiped(file *syntax.File) (is bool) {
	syntax.Walk(file, func(n syntax.Node) bool {
		b, ok := n.(*syntax.BinaryCmd)
		is = is || ok && b.Op == syntax.Pipe
		return true
	})
	return is
}

// spell is a word without its quotes and backslashes.
func spell(parts []syntax.WordPart, quoted bool) (word string) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if quoted {
				word += p.Value
			} else {
				word += strings.NewReplacer("\\\n", "", `\`, "").Replace(p.Value)
			}
		case *syntax.SglQuoted:
			word += p.Value
		case *syntax.DblQuoted:
			word += spell(p.Parts, true)
		}
	}
	return word
}

var exact = regexp.MustCompile(strings.ReplaceAll(`^(PART|:)(PART|[:=])*$`, "PART",
	`(?:[\w./+,@%-]|'[^']*'|"(?:[^"$`+"\\x60"+`\\!]|\\[^\\$`+"\\x60"+`"\n!])*\$?")~*`))

func isPlainList(text string, file *syntax.File) bool {
	is := len(file.Stmts) > 0
	source := func(n syntax.Node) string { return text[n.Pos().Offset():min(n.End().Offset(), uint(len(text)))] }
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.File, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.BinaryCmd:
		case *syntax.Word:
			is = is && exact.MatchString(source(n))
		case *syntax.Redirect:
			is = is && drops.FindString(source(n)) == source(n)
		case *syntax.CallExpr:
			is = is && len(n.Args) > 0
		case *syntax.Stmt:
			is = is && !n.Background && !n.Negated && !n.Coprocess
		default:
			is = false
		}
		return true
	})
	return is
}

// H107: no text exhausts the stack or the clock.
func TestH107LongAndDeepCommandsAreBounded(t *testing.T) {
	for _, piece := range []string{"a$(", "(", "$(", "${", "`", "if ", "while ", "! ", "[[ ( ", "$((", "x | ", "x && ",
		"case x in x) ", "f() ", "\"$(", "sh -c ", "<<a\n", "\\", "# \\\n", "sudo ", "sudo -a ", "sudo 'a b' ",
		"sh -c 'a b' ", "'", "\n", "a b ", "()", "a 2>&1 ", "'a'", "#\n", "a\n", "a;"} {
		size := longest - 1
		if piece == "a$(" || piece == "a b " {
			size = 1 << 20
		}
		text := strings.Repeat(piece, size/len(piece))
		if took := cputest.Time(func() { Read(text) }); took > 250*time.Millisecond {
			t.Errorf("%d bytes of %q took %s", size, piece, took)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, text := range []string{"ls -la", "git status --short && go test ./...",
		"python3 scripts/build.py --out dist && ls",
		"cd /home/ann/site && go test ./... 2>&1 | tail -n 40",
		"cd /home/owner/projects/site && git status --short && git log --oneline -n 20 -- content/ layouts/" +
			" && grep -rn --include='*.md' 'draft: true' content/ | sort | head -n 40" +
			" && make build SITE=staging VERBOSE=1 2>&1 | tail -n 60"} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Read(text)
			}
		})
	}
}
