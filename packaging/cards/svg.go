package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"
)

// platform is where cards are shown, and in which colours.
type platform struct {
	name, title         string
	page, bubble, block string
	ink, faint, code    string
	button, onButton    string
	good, bad           string
}

// known are those whose colours we know.
var known = []platform{
	{
		name: "telegram", title: "Telegram", page: "#d5e3ee", bubble: "#ffffff", block: "#eef4fa", ink: "#0f1419", faint: "#5b6a76", code: "#1f4e79",
		button: "#7b98ad", onButton: "#ffffff",
	},
	{
		name: "discord", title: "Discord", page: "#313338", bubble: "#313338", block: "#2b2d31", ink: "#dbdee1", faint: "#949ba4", code: "#dbdee1",
		button: "#4e5058", onButton: "#ffffff", good: "#248046", bad: "#da373c",
	},
	{
		name: "slack", title: "Slack", page: "#ffffff", bubble: "#ffffff", block: "#f6f6f6", ink: "#1d1c1d", faint: "#616061", code: "#c01343",
		button: "#ffffff", onButton: "#1d1c1d", good: "#007a5a", bad: "#e01e5a",
	},
}

// ordinary are the colours of every other platform.
var ordinary = platform{
	page: "#eceff1", bubble: "#ffffff", block: "#f3f5f6", ink: "#1b1f23", faint: "#5c6670", code: "#1b1f23",
	button: "#e3e7ea", onButton: "#1b1f23", good: "#1a7f37", bad: "#cf222e",
}

// platforms are those whose tests keep cards in golden files.
func platforms(root fs.FS) ([]platform, error) {
	files, err := fs.Glob(root, "channels/*/testdata/*.golden")
	if err != nil {
		return nil, err
	}
	out := slices.Clone(known)
	for _, file := range files {
		name := strings.Split(file, "/")[1]
		if slices.ContainsFunc(out, func(p platform) bool { return p.name == name }) {
			continue
		}
		p := ordinary
		p.name, p.title = name, strings.ToUpper(name[:1])+name[1:]
		out = append(out, p)
	}
	return out, nil
}

// Sizes, in pixels: a phone's width.
const (
	width     = 400
	margin    = 14
	textSize  = 14
	lineStep  = 20
	rowStep   = 40
	maxColumn = 46
	maxRow    = 3 // buttons side by side
)

// canvas is a picture in the making.
type canvas struct {
	p    platform
	body bytes.Buffer
	y    int
}

func (p platform) picture(golden string) []byte {
	c := &canvas{p: p, y: 2 * margin}
	for _, l := range parse(golden) {
		if len(l.buttons) > 0 {
			for row := range slices.Chunk(l.buttons, maxRow) {
				c.row(row)
			}
			continue
		}
		for _, part := range wrap(l.spans) {
			c.text(part, l.block)
		}
	}
	height := c.y + margin
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="A card on %s">`+"\n", width, height, width, height, p.title)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="%s"/>`+"\n", width, height, p.page)
	fmt.Fprintf(&out, `<rect x="6" y="6" width="%d" height="%d" rx="10" fill="%s"/>`+"\n", width-12, height-12, p.bubble)
	out.Write(c.body.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func (c *canvas) text(spans []span, block bool) {
	if block {
		fmt.Fprintf(&c.body, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", margin, c.y-lineStep+6, width-2*margin, lineStep, c.p.block)
	}
	fmt.Fprintf(&c.body, `<text x="%d" y="%d" font-size="%d" xml:space="preserve">`, margin+4, c.y, textSize)
	for _, s := range spans {
		look := `font-family="system-ui, sans-serif" fill="` + c.p.ink + `"`
		switch s.style {
		case plain:
		case bold:
			look += ` font-weight="700"`
		case mono:
			look = `font-family="ui-monospace, monospace" font-size="13" fill="` + c.p.code + `"`
		}
		fmt.Fprintf(&c.body, `<tspan %s>%s</tspan>`, look, escaped(s.text))
	}
	c.body.WriteString("</text>\n")
	c.y += lineStep
}

// row draws buttons side by side.
func (c *canvas) row(buttons []button) {
	each := (width - 2*margin - 6*(len(buttons)-1)) / len(buttons)
	for i, b := range buttons {
		x, fill, ink := margin+i*(each+6), c.p.button, c.p.onButton
		switch b.tone {
		case "good":
			fill, ink = c.p.good, "#ffffff"
		case "bad":
			fill, ink = c.p.bad, "#ffffff"
		}
		fmt.Fprintf(&c.body, `<rect x="%d" y="%d" width="%d" height="32" rx="6" fill="%s" stroke="%s" stroke-opacity="0.4"/>`+"\n", x, c.y-lineStep+8, each, fill, c.p.faint)
		fmt.Fprintf(&c.body, `<text x="%d" y="%d" font-size="%d" text-anchor="middle" font-family="system-ui, sans-serif" fill="%s">%s</text>`+"\n",
			x+each/2, c.y+9, textSize-1, ink, escaped(b.label))
	}
	c.y += rowStep
}

func escaped(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}

// wrap cuts a line where the card is full, at a space where there is one.
func wrap(spans []span) [][]span {
	var out [][]span
	var now []span
	left := maxColumn
	for _, s := range spans {
		for utf8.RuneCountInString(s.text) > left {
			head, tail := cut(s.text, left, left == maxColumn)
			if head != "" {
				now = append(now, span{head, s.style})
			}
			out, now, left = append(out, now), nil, maxColumn
			s.text = tail
		}
		now = append(now, s)
		left -= utf8.RuneCountInString(s.text)
	}
	return append(out, now)
}

// cut splits a text that is longer than n characters. Without a space in reach it
// is cut where it is if it has the line for itself, and else put on the next.
func cut(s string, n int, whole bool) (head, tail string) {
	runes := []rune(s)
	for i := n; i > n/2; i-- {
		if runes[i] == ' ' {
			return string(runes[:i]), string(runes[i+1:])
		}
	}
	if !whole {
		return "", s
	}
	return string(runes[:n]), string(runes[n:])
}
