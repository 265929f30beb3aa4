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

var (
	// fileWriters write the files which they name, and nothing else.
	fileWriters = setOfWords("write edit apply_patch notebook_edit")
	// fileReaders show what is in files.
	fileReaders = setOfWords("read read_file grep pdf view_image image file_fetch dir_fetch memory_get")
	// unseenWriters may write into the workspace what no card shows as it will be.
	unseenWriters = setOfWords("file_write computer dir_fetch plugins openclaw skill_workshop")
	// savers do where they are given a name for it.
	savers = setOfWords("browser canvas nodes transcripts image_generate video_generate music_generate tts " +
		"mcp__playwright__browser_snapshot mcp__playwright__browser_take_screenshot " +
		"mcp__playwright__browser_console_messages mcp__playwright__browser_network_requests")
	savingParams = setOfWords("path outpath outputpath savepath saveto downloadpath downloaddir filepath filename " +
		"file out output outfile destination dest")
	runsLater   = setOf("runs later")
	othersWrote = patternsOf("others wrote")
)

// writing says what a call may write. A tool that acts and is not in our table may write anything.
func (pl *Plan) writing(s *said) Writing {
	r, line := pl.rule, pl.Line
	switch {
	case fileWriters[r.name]:
		return WritesShown
	case line == nil && (r.sink && !IsShipped(r.name) || unseenWriters[r.name] || pl.saves(s)):
		return WritesUnseen
	case line == nil, line.Effect != command.Anything && r.startsHere():
		return WritesNothing
	case line.Install:
		return WritesInstall
	case pl.Raise <= taint.Local && !line.Network && r.startsHere() && s.outside(line) == "" && s.holds("."):
		return WritesShown
	}
	return WritesUnseen
}

// saves reports whether a call names a file in which its tool puts what it gets: browser download path=Makefile.
func (pl *Plan) saves(s *said) bool {
	return savers[pl.rule.name] &&
		slices.ContainsFunc(s.args, func(a argument) bool { return savingParams[a.name] && a.value != "" })
}

// writesForLater reports whether a call writes a file that runs later, or that agents obey later. A lasting yes to
// writing is none for these.
func (pl *Plan) writesForLater(s *said) bool {
	return fileWriters[pl.rule.name] && (len(s.files) == 0 || slices.ContainsFunc(s.files, func(name string) bool {
		parts := strings.Split(strings.ToLower(strings.ReplaceAll(name, `\`, "/")), "/")
		return slices.ContainsFunc(parts, func(part string) bool { return runsLater[part] })
	}))
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
