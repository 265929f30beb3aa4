//go:build linux

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
)

// From nothing to the first approved call in three commands and 20 seconds, and to the first card on Telegram in one more. The
// newcomer knows the first command. The others they copy from what they read.
func TestANewcomerNeedsThreeCommandsAndOneMoreForTelegram(t *testing.T) {
	n := newNewcomer(t)
	began := time.Now()
	banner := n.types("verifier serve").sees(`(?s)Try it from a second terminal.*verifier watch\n`)
	printed := regexp.MustCompile(`(?m)^  (verifier .*)$`).FindAllStringSubmatch(banner, -1)
	if len(printed) != 2 {
		t.Fatalf("the gateway does not print two commands:\n%s", banner)
	}
	call := n.types(printed[0][1])
	n.types(printed[1][1]).allows()
	call.sees(`(?m)^allow$`)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("from nothing to the first approved call in %s, 20 s wanted", took)
	}
	call.ends()
	if len(n.screens) != 3 {
		t.Errorf("%d commands", len(n.screens))
	}

	setup := n.types("verifier setup telegram")
	n.pairs(setup)
	setup.ends()
	n.chatShows("Test: cards from verifier arrive here.")
	if len(n.screens) != 4 {
		t.Errorf("%d commands", len(n.screens))
	}
}

// ann is who pairs.
var ann = telegramtest.Person{ID: 4711, Name: "ann"}

// pairs gives the token and writes the code to the bot.
func (n *newcomer) pairs(setup *screen) {
	n.t.Helper()
	setup.sees(`Token \(it does not show\): `)
	setup.presses(botToken + "\n")
	n.chat.Say(ann, ann.ID, 0, setup.sees(`(\.pair [0-9a-f]{8})`), nil)
}

// chatShows waits for a message in ann's chat.
func (n *newcomer) chatShows(text string) telegramtest.Message {
	n.t.Helper()
	var found telegramtest.Message
	patiently(n.t, func() bool {
		all := n.chat.Messages()
		at := slices.IndexFunc(all, func(m telegramtest.Message) bool { return m.Chat == ann.ID && strings.Contains(m.Text, text) })
		if at >= 0 {
			found = all[at]
		}
		return at >= 0
	}, func() string { return "the chat does not show " + text })
	return found
}

// make run says that it compiles, prints commands that work where it was typed, and ends with Ctrl-C without an error.
func TestMakeRunSaysThatItCompilesAndEndsQuietly(t *testing.T) {
	n := newNewcomer(t)
	n.write("Makefile", n.read("../../Makefile"))
	n.program("go", "#!/bin/sh\n[ \"$*\" = 'build -o bin/ ./cmd/verifier' ] && mkdir bin && exec cp \"$(command -v verifier)\" bin/\n") // it is compiled already
	run := n.types("make run ARGS='--listen 127.0.0.1:0'")
	run.sees(`(?s)^Compiling: about a minute the first time.*verifier listens on`)
	call := n.types(run.sees(`(?m)^  (bin/verifier send [^\r\n]*)\r?\n`))
	n.types(run.sees(`(?m)^  (bin/verifier watch[^\r\n]*)\r?\n`)).allows()
	call.ends()
	run.presses("\x03")
	run.closes()
	if said := run.String(); strings.Contains(said, "***") || strings.Contains(strings.ToLower(said), "error") {
		t.Errorf("after Ctrl-C:\n%s", said)
	}
}
