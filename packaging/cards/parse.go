package main

import (
	"regexp"
	"strings"
)

// style is how a piece of text looks.
type style uint8

const (
	plain style = iota
	bold
	mono
)

// span is a piece of one line.
type span struct {
	text  string
	style style
}

// line is one of a card: text, or a row of buttons.
type line struct {
	spans   []span
	block   bool // it is in a block of its own colour
	buttons []button
}

type button struct{ label, tone string }

var (
	buttonRow = regexp.MustCompile(`^(\[[^\[\]]+\] ?)+$`)
	oneButton = regexp.MustCompile(`\[([^\[\]]+)\]`)
)

// tones are words that the golden files put behind a button's label.
var tones = map[string]string{
	", green": "good", " primary": "good", ", red": "bad", " danger": "bad", ", grey": "", ", gray": "", ", blurple": "",
}

// parse reads a golden file: **bold**, `mono`, fenced and barred blocks, rows of
// buttons.
func parse(golden string) []line {
	var out []line
	fenced, inside := false, plain
	for text := range strings.SplitSeq(strings.TrimRight(golden, "\n"), "\n") {
		switch {
		case text == "```":
			fenced = !fenced
		case fenced:
			out = append(out, line{block: true, spans: []span{{text, mono}}})
		case strings.HasPrefix(text, "│"):
			out = append(out, line{block: true, spans: []span{{strings.TrimPrefix(strings.TrimPrefix(text, "│"), " "), mono}}})
		case buttonRow.MatchString(text):
			out = append(out, line{buttons: buttonsOf(text)})
		default:
			var l line
			if title, ok := strings.CutPrefix(text, "# "); ok {
				text = "**" + title + "**"
			}
			l.spans, inside = inline(text, inside)
			out = append(out, l)
		}
	}
	return out
}

func buttonsOf(text string) []button {
	var out []button
	for _, m := range oneButton.FindAllStringSubmatch(text, -1) {
		b := button{label: m[1]}
		for suffix, tone := range tones {
			if label, ok := strings.CutSuffix(b.label, suffix); ok {
				b = button{label, tone}
			}
		}
		out = append(out, b)
	}
	return out
}

// inline cuts a line at its marks. What is open at its end goes on in the next.
func inline(text string, now style) ([]span, style) {
	var out []span
	add := func(s string) {
		if s != "" {
			out = append(out, span{s, now})
		}
	}
	for {
		i := strings.IndexByte(text, '`')
		if now != mono {
			if j := strings.Index(text, "**"); j >= 0 && (i < 0 || j < i) {
				add(text[:j])
				text = text[j+2:]
				now = toggled(now, bold)
				continue
			}
		}
		if i < 0 {
			add(text)
			return out, now
		}
		add(text[:i])
		text = text[i+1:]
		now = toggled(now, mono)
	}
}

func toggled(now, s style) style {
	if now == s {
		return plain
	}
	return s
}
