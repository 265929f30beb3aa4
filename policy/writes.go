package policy

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/taint"
)

// Writing is what a call may write into files, as far as a person has seen that.
type Writing uint8

// What a call may write.
const (
	WritesNothing Writing = iota
	// what the call says, or makes of what is here: seen by the person who allows it and reads all of it
	WritesShown
	WritesInstall // packages: seen in a clean conversation, or by the person who allows it
	WritesUnseen  // what it brings in, or we can't tell
)

// fileWriters are the tools that write the files which they name, and nothing else. fileReaders show what is in files.
// unseenWriters may write into the workspace what no card shows as it will be; savers do where they are given a name.
var (
	fileWriters   = map[string]bool{"write": true, "edit": true, "apply_patch": true, "notebook_edit": true}
	fileReaders   = setOfWords("read read_file grep pdf view_image image file_fetch dir_fetch memory_get")
	unseenWriters = setOfWords("file_write computer dir_fetch plugins openclaw skill_workshop")
	savers        = setOfWords("browser canvas nodes transcripts image_generate video_generate music_generate tts " +
		"mcp__playwright__browser_snapshot mcp__playwright__browser_take_screenshot " +
		"mcp__playwright__browser_console_messages mcp__playwright__browser_network_requests")
	savingParams = setOfWords(
		"path outpath outputpath savepath saveto downloadpath downloaddir filepath filename file out output outfile " +
			"destination dest",
	)
)

// writing says what a call may write. A tool that acts and is not in our table may write anything.
func (pl *Plan) writing(s *said, g ground) Writing {
	r := pl.rule
	switch {
	case fileWriters[r.name]:
		return WritesShown
	case pl.Line != nil && (pl.Line.Effect != command.Anything && r.startsHere()):
		return WritesNothing
	case pl.Line != nil && pl.Line.Install:
		return WritesInstall
	case pl.Line != nil:
		at := g.of(pl.Line)
		if pl.Raise <= taint.Local && !pl.Line.Network && r.startsHere() && at.outside(pl.Line) == "" && at.holds(".") {
			return WritesShown
		}
		return WritesUnseen
	case r.sink && !IsShipped(r.name), unseenWriters[r.name], pl.saves(s):
		return WritesUnseen
	}
	return WritesNothing
}

// saves reports whether a call names a file in which its tool puts what it gets: browser download path=Makefile.
func (pl *Plan) saves(s *said) bool {
	return savers[pl.rule.name] &&
		slices.ContainsFunc(s.args, func(a argument) bool { return savingParams[a.name] && a.value != "" })
}

var (
	runsLater   = setOf("runs later")
	othersWrote = patternsOf("others wrote")
)

// writesForLater reports whether a call writes a file that runs later, or that agents obey later. A lasting yes to
// writing is none for these.
func (pl *Plan) writesForLater(s *said) bool {
	if !fileWriters[pl.rule.name] {
		return false
	}
	files := s.files(pl.rule.name)
	return len(files) == 0 || slices.ContainsFunc(files, func(name string) bool {
		return slices.ContainsFunc(
			strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return c == '/' || c == '\\' }),
			func(part string) bool { return runsLater[part] },
		)
	})
}

// fromOthers reports whether others wrote a file, by where it is. A workspace may be among downloads.
func (g *ground) fromOthers(name string) bool {
	clean := g.resolve(name)
	lower := strings.ToLower(clean)
	if at := strings.LastIndexByte(lower, '.'); at > 0 && othersWrote.match(lower[at-1:]) {
		return true
	}
	if within(clean, g.inside) && !relative(clean) {
		return false
	}
	rest, ok := inHome(lower)
	if !ok {
		return below(lower, "/var/mail") || below(lower, "/var/spool/mail")
	}
	for place := range othersWrote.names {
		if below(rest, place) {
			return true
		}
	}
	return false
}
