package discord

import (
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
)

// hostile are texts that want to be more than text.
var hostile = []string{
	"", "`", "``", "```", "````", "`````", "``````", "```\nfence\n```", "a```b", "a`", "`a", "\n", "\n\n\n", "\na\n", " ", "  a  ", "\\", "a\\", "\\`", "\\```",
	"*bold* _it_ ~~s~~ ||spoiler|| __u__ ***x***", "@everyone @here <@101> <@!101> <@&5> <#600> <:x:1> <a:x:1> <t:1> </cmd:1> <id:customize>",
	"https://evil.example <https://evil.example> [safe](https://evil.example) discord.gg/abc", "# head\n-# small\n> quote\n>>> all\n- list\n1. one", "js\nalert(1)",
	"ansi\n\u001b[31mred", "¯\\_(ツ)_/¯", "</code>", "a\u200bb", "\u202e`", "🔐`🔐", strings.Repeat("`", 100),
}

// FuzzLiteral proves that whatever stands in a card is read as it was written,
// and does nothing else.
func FuzzLiteral(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lines, _ := channels.Safe(s, channels.Form{Lines: true})
		line, _ := channels.Safe(s, channels.Form{})
		doc := &channels.Document{Sign: "🔐", Title: "Title *: 1", Blocks: []channels.Block{
			{Kind: channels.Field, Label: "field", Text: lines}, {Kind: channels.Quote, Label: "quote", Text: lines, Gap: true},
			{Kind: channels.Note, Label: "You asked:", Text: line}, {Kind: channels.Warning, Label: "WARNING"}, {Kind: channels.Note, Text: lines},
		}}
		want := "🔐 Title *: 1\nfield:" + between(lines) + lines + "\n\nquote\n" + lines + "\nYou asked:"
		mono := []string{lines, lines}
		if line != "" {
			want, mono = want+between(line)+line, append(mono, line)
		}
		want += "\n⚠️ WARNING\n" + lines
		if lines != "" {
			mono = append(mono, lines)
		}
		d, _ := draw(doc)
		wantLiteral(t, d.text.String(), want, mono)
		wantLiteral(t, prose(line), line, nil)
		if told := sentence(lines); fits(prose(lines)) && fits(block(lines)) {
			if r := discordtest.Render(told); r.Text != lines || len(r.Active) > 0 {
				t.Errorf("%q reads %q, active %q", told, r.Text, r.Active)
			}
		} else if !fits(told) {
			t.Errorf("an answer of %d characters does not fit", len(told))
		}
	})
}

func wantLiteral(t *testing.T, markup, want string, mono []string) {
	t.Helper()
	r := discordtest.Render(markup)
	if r.Text != want || len(r.Active) > 0 || !slices.Equal(r.Mono, mono) {
		t.Errorf("the markup\n%q\nreads\n%q\nwant\n%q\nactive %q, code %q, want %q", markup, r.Text, want, r.Active, r.Mono, mono)
	}
}

func TestTheRendererFindsWhatIsNotLiteral(t *testing.T) {
	for markup, text := range map[string]string{
		"*b* _i_ ~~s~~ ||x|| __u__": "b i s x u", "# head\n- list": "head\nlist", "`code`": "code", "``a`b``": "a`b", "```js\nx\n```": "x", `\*`: "*",
	} {
		if r := discordtest.Render(markup); r.Text != text {
			t.Errorf("%q reads %q, want %q", markup, r.Text, text)
		}
	}
	for _, markup := range []string{"@everyone", "@here", "<@1>", "<#1>", "https://evil.example", "<https://evil.example>", "[safe](https://evil.example)", "<t:1>", "x discord.gg/abc"} {
		if r := discordtest.Render(markup); len(r.Active) == 0 {
			t.Errorf("%q does nothing", markup)
		}
	}
	for _, markup := range []string{"`@everyone`", "```\nhttps://evil.example\n```", prose("https://evil.example @here <@1>")} {
		if r := discordtest.Render(markup); len(r.Active) > 0 {
			t.Errorf("%q does %q", markup, r.Active)
		}
	}
}

func TestAGatewayWithoutEncryptionIsRefused(t *testing.T) {
	for api, at := range map[string]string{
		"https://discord.com": "ws://127.0.0.1:1/", "http://127.0.0.1:1": "http://127.0.0.1:1/", "https://discord.com ": "", "https://proxy": "wss://",
	} {
		ch := &Channel{config: Config{APIURL: api}, session: session{id: "s", url: at}}
		conn, err := ch.dial(t.Context())
		if err == nil {
			conn.Close()
			t.Errorf("%s: %s is taken", api, at)
		} else if !strings.Contains(err.Error(), "no encrypted one") {
			t.Errorf("%s: %v", at, err)
		}
	}
}
