package command

import (
	"slices"
	"strings"
)

// localCommands are all commands that [PlainLocal] knows, word by word; [localWords] says what the words in capitals are. What is not here is not local. None of them
// shows a whole file, takes the name of a commit, opens an editor, or searches files that are hidden or that the project does not keep.
var localCommands = []string{
	`pwd`,
	`date( -u)?`, `uname( -a)?`, `whoami`, `hostname`, `uptime`, `nproc`, `arch`, `id`, `df -h`, `free -h`,
	`(node|python|python3|ruby|perl|php|gcc|clang|make|docker|pip|pip3) --version`,
	`ls( -(1|a|A|l|la|al|lh|lah|lt))*( PLACE)*`,
	`git status( (--short|-s|--branch|-b|-sb|--porcelain))*`,
	`git log( (--oneline|--stat|--graph|--decorate|-[1-9][0-9]?|-n [1-9][0-9]?))*`,
	`git diff( (--stat|--cached|--staged|--name-only|--name-status))*`,
	`git add( (-A|PLACE))+`,
	`git commit( -q)? -q?m MESSAGE`,
	`rg( OPTION)* PATTERN( PLACE)*`,
	`grep( OPTION)* PATTERN( PATH)+`,
}

// localWords are the words of the table. None of their characters means anything to a shell where it may be: outside of quotes there are only letters, digits, _ . / and -, inside
// of them no other quote of the same kind, no $ ` \ ! % ^ & | < > * [ ] { } ~ = @, and nothing but ASCII.
var localWords = strings.NewReplacer(
	"PLACE", `(\.|`+localPath+`)`,
	"PATH", localPath,
	"OPTION", `-(n|i|w|l|c|ni|in)`,
	"PATTERN", `(?P<pattern>`+localPattern+`|'`+localPattern+`'|"`+localPattern+`")`,
	"MESSAGE", `('[A-Za-z0-9][A-Za-z0-9 .,:;()#?+_/-]*'|"[A-Za-z0-9][A-Za-z0-9 .,:;()#?+_/'-]*")`,
)

const (
	localPart    = `[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_-])?` // of a path: not hidden, no option, and no dot at its end
	localPath    = localPart + `(/` + localPart + `)*`
	localPattern = `[A-Za-z0-9_][A-Za-z0-9_-]{2,}` // it means itself; a shorter one finds most lines of any file

	mostLocalText     = 300 // bytes
	mostLocalCommands = 5
)

var localForms = func() (out []*pattern) {
	for _, form := range localCommands {
		out = append(out, match(`\A`+localWords.Replace(form)+`\z`))
	}
	return out
}()

// PlainLocal reports whether a text consists of commands of the table, exactly as they are there, joined by && and nothing else. It also returns what they search for.
// The table holds for shells that look for a program only in their path; cmd looks in the directory where it runs first.
func PlainLocal(text string) (patterns []string, ok bool) {
	commands := strings.Split(text, " && ")
	if len(text) > mostLocalText || len(commands) > mostLocalCommands {
		return nil, false
	}
	for _, one := range commands {
		at := slices.IndexFunc(localForms, func(form *pattern) bool { return form.MatchString(one) })
		if at < 0 {
			return nil, false
		}
		if i := localForms[at].regexp().SubexpIndex("pattern"); i >= 0 {
			patterns = append(patterns, strings.Trim(localForms[at].regexp().FindStringSubmatch(one)[i], `'"`))
		}
	}
	return patterns, true
}
