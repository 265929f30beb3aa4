package main

import (
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
)

// chatCommands let a script have a Telegram of its own.
var chatCommands = map[string]func(*testscript.TestScript, bool, []string){
	"telegram": startTelegram, "writes": writesToBot, "chat": chatShows, "waits": takeWaiting, "within": within,
}

// withChats adds them.
func withChats(commands map[string]func(*testscript.TestScript, bool, []string)) map[string]func(*testscript.TestScript, bool, []string) {
	maps.Copy(commands, chatCommands)
	return commands
}

// standins are those of all scripts, by the script's directory.
var standins sync.Map

// startTelegram starts a stand-in, puts its address into $TELEGRAM_URL and the bot's token into bot.token.
func startTelegram(ts *testscript.TestScript, _ bool, _ []string) {
	s := telegramtest.Open(botToken)
	ts.Defer(s.Close)
	ts.Setenv("TELEGRAM_URL", s.URL())
	ts.Check(os.WriteFile(ts.MkAbs("bot.token"), []byte(botToken+"\n"), 0o600))
	standins.Store(ts.Getenv("WORK"), s)
}

// telegramOf is the script's.
func telegramOf(ts *testscript.TestScript) *telegramtest.Server {
	s, ok := standins.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("no telegram was started")
	}
	server, _ := s.(*telegramtest.Server)
	return server
}

// writesToBot ID FILE PATTERN writes to the bot what the pattern finds in a file, as soon as it is there.
func writesToBot(ts *testscript.TestScript, _ bool, args []string) {
	id, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	found, text := regexp.MustCompile(args[2]), ""
	eventually(ts, args[1]+" holds "+args[2], func() bool {
		all, err := os.ReadFile(ts.MkAbs(args[1]))
		text = found.FindString(string(all))
		return err == nil && text != ""
	})
	telegramOf(ts).Say(telegramtest.Person{ID: id, Name: "ann"}, id, 0, text, nil)
}

// chatShows ID TEXT waits until a chat shows a text.
func chatShows(ts *testscript.TestScript, _ bool, args []string) {
	eventually(ts, "the chat shows "+args[1], func() bool {
		for _, m := range telegramOf(ts).Messages() {
			if strconv.FormatInt(m.Chat, 10) == args[0] && strings.Contains(m.Text, args[1]) {
				return true
			}
		}
		return false
	})
}

// takeWaiting waits until a call waits, and puts its reference into $REF.
func takeWaiting(ts *testscript.TestScript, _ bool, _ []string) {
	found := regexp.MustCompile(`verifier approve ([A-Z0-9]{4})\b`)
	eventually(ts, "a call waits", func() bool {
		if ts.Exec("verifier", "pending") != nil {
			return false
		}
		m := found.FindStringSubmatch(ts.ReadFile("stdout"))
		if m != nil {
			ts.Setenv("REF", m[1])
		}
		return m != nil
	})
}

// within TIME fails if the script has taken longer until now.
func within(ts *testscript.TestScript, _ bool, args []string) {
	most, err := time.ParseDuration(args[0])
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(".began"))
	ts.Check(err)
	if took := time.Since(info.ModTime()); took > most {
		ts.Fatalf("it took %s, and not %s", took, most)
	}
}

func eventually(ts *testscript.TestScript, what string, is func() bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 1500 {
		if is() {
			return
		}
		<-tick.C
	}
	ts.Fatalf("never: %s", what)
}
