package command

import (
	"path"
	"slices"
	"strings"
)

// deleters delete files.
var deleters = set("rm rmdir unlink shred srm del erase rd remove-item")

// codeDeletes are words that delete files in a text that we don't read as a command.
var codeDeletes = set("rm rmdir unlink shred shutil.rmtree os.remove os.unlink os.rmdir fs.rm fs.rmsync fs.unlink fs.unlinksync")

// deletes reports whether a program with these arguments deletes files.
func deletes(n string, args []arg) bool {
	switch n {
	case "find", "fd", "fdfind":
		return slices.ContainsFunc(args, func(a arg) bool { return a.text == "-delete" })
	case "git":
		return slices.ContainsFunc(args, func(a arg) bool { return a.text == "clean" || a.text == "rm" })
	case "rsync":
		return slices.ContainsFunc(args, func(a arg) bool { return strings.HasPrefix(a.text, "--delete") })
	default:
		return deleters[n]
	}
}

// alters notes whether a program deletes files, and the directories that it deletes or locks away with all that is in them.
func (f *files) alters(n string, args []arg) {
	var places []arg
	deletes := deletes(n, args)
	f.Deletes = f.Deletes || deletes
	switch {
	case n == "find" && deletes:
		f.Unnamed = true
		places = args
		if end := slices.IndexFunc(args, func(a arg) bool {
			return strings.HasPrefix(a.text, "-") && len(a.text) > 2 || a.text == "(" || a.text == "!"
		}); end >= 0 {
			places = places[:end]
		}
	case deletes, owners[n]: // a directory that can't be entered locks away what is in it
		places = words(args, nil)
	}
	f.touch(places...)
	for _, place := range places {
		f.touchUnnamed(&place)
		for _, v := range place.may() {
			for full := range f.resolved(v) {
				if len(f.Alters) < maxReads {
					f.Alters = once(f.Alters, full)
				}
			}
		}
	}
}

// owners change who may read files.
var owners = set("chmod chown chgrp chattr setfacl chcon")

// packageRunners run a package that they fetch.
var packageRunners = set("npx pnpx bunx uvx pipx nix-shell cpan cpanm")

// installing are subcommands that fetch a package and run code of it: its install script, or the package.
var installing = subcommands(map[string]string{
	"pip":                     "install",
	"uv":                      "install add sync run tool pip",
	"npm pnpm yarn bun":       "install i add ci exec x update upgrade dlx create init",
	"cargo":                   "install",
	"go":                      "install",
	"gem bundle":              "install update",
	"brew":                    "install upgrade",
	"apt apt-get aptitude":    "install upgrade dist-upgrade full-upgrade",
	"apk":                     "add upgrade",
	"dnf yum zypper":          "install update upgrade",
	"pacman":                  "-s -sy -syu",
	"snap flatpak":            "install refresh update",
	"conda mamba micromamba":  "install create update",
	"poetry pdm rye composer": "install add update require",
	"docker podman nerdctl":   "run",
	"deno":                    "run install",
	"opam cabal stack":        "install",
})

// downloads is what a reader remembers to tell whether a command runs what it has fetched.
type downloads struct {
	fetched []string // names under which a fetcher may have stored something
	ran     []string // names of files that were run
	cloned  bool     // a repository was fetched
	runs    bool     // a package was fetched and run
}

// note takes in a program with its arguments.
func (d *downloads) note(n string, k kind, args []arg) {
	switch {
	case k.fetches:
		d.runs = d.runs || k.packages
		for i := range args[1:] {
			_, value, _ := strings.Cut(args[1+i].text, "=")
			d.fetched = append(d.fetched, args[1+i].text, value)
		}
	case k.shell || k.code || n == "source" || n == ".":
		for i := range args[1:] {
			if !args[1+i].option() {
				d.ran = append(d.ran, path.Base(args[1+i].text))
				break
			}
		}
	case strings.Contains(args[0].text, "/"):
		d.ran = append(d.ran, path.Base(args[0].text))
	}
	subs := entry(installing, n)
	if subs == nil && n != "go" && n != "git" {
		return
	}
	for i := range args[1:] {
		text := strings.ToLower(args[1+i].text)
		d.runs = d.runs || subs[text] || n == "go" && strings.Contains(text, "@")
		d.cloned = d.cloned || n == "git" && text == "clone"
	}
}

// runsDownloaded notes whether the command runs what it has fetched: text that goes into a shell, a file that it has stored, a package,
// or what is in a repository that it has cloned.
func (r *reader) runsDownloaded() {
	hidden := r.Opaque != "" && r.Opaque != unparsable && r.Opaque != tooDeep && r.Opaque != odd && r.Opaque != tooLong
	stored := map[string]bool{}
	if len(r.ran) > 0 {
		for _, name := range slices.Concat(r.fetched, r.Writes) {
			stored[path.Base(name)] = true
		}
	}
	ran := slices.ContainsFunc(r.ran, func(name string) bool { return name != "." && name != "/" && stored[name] })
	builds := slices.ContainsFunc(r.Runs, func(what string) bool { return !strings.HasPrefix(what, "git ") })
	r.RunsPage = r.Network() && (hidden || ran)
	r.Fetched = r.RunsPage || r.runs || r.cloned && (builds || len(r.ran) > 0)
}
