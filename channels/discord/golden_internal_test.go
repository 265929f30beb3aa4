package discord

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/delivery"
)

// The golden files hold what is sent, markup and all. What of it can be read is
// for [FuzzLiteral] to say.
func TestCardsLookAsTheyDid(t *testing.T) {
	ch := &Channel{Chat: &delivery.Chat{Deps: delivery.Deps{Now: func() time.Time { return channeltest.Now }}}}
	channeltest.Golden(t, func(t *testing.T, f channeltest.Fixture) string {
		if f.Details {
			s := ch.details(f.Card)
			return look(t, s.content(), s.rows)
		}
		d := channels.Show(f.Card, f.Outcome, channeltest.Now, draw)
		return look(t, d.text.String(), d.rows)
	})
}

var colours = map[discordgo.ButtonStyle]string{
	discordgo.SuccessButton: "green", discordgo.DangerButton: "red", discordgo.SecondaryButton: "grey",
}

func look(t *testing.T, content string, rows []discordgo.MessageComponent) string {
	t.Helper()
	if !fits(content) {
		t.Errorf("it does not fit:\n%s", content)
	}
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(content, gap, "{U+200B}") + "\n")
	for _, row := range rows {
		var labels []string
		actions, ok := row.(discordgo.ActionsRow)
		if !ok {
			t.Fatalf("%T is no row", row)
		}
		for _, c := range actions.Components {
			button, ok := c.(discordgo.Button)
			if !ok {
				t.Fatalf("%T is no button", c)
			}
			labels = append(labels, fmt.Sprintf("[%s, %s]", button.Label, colours[button.Style]))
		}
		b.WriteString("\n" + strings.Join(labels, " "))
	}
	return b.String() + "\n"
}
