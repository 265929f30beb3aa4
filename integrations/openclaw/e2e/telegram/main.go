// Telegram is the fake of Telegram's Bot API as a program of its own, for the
// end-to-end test, which is not written in Go. It prints two addresses: where
// the API is, and where the test looks at the chats and taps buttons as a person.
// It listens on loopback alone and keeps nothing.
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
)

type button struct {
	Text string `json:"text"`
	Data string `json:"data"`
}

type message struct {
	Chat    int64    `json:"chat"`
	ID      int64    `json:"id"`
	Text    string   `json:"text"`
	Buttons []button `json:"buttons"`
}

type tap struct {
	From    int64  `json:"from"`
	Chat    int64  `json:"chat"`
	Message int64  `json:"message"`
	Data    string `json:"data"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: telegram BOT-TOKEN")
		os.Exit(2)
	}
	api := telegramtest.Open(os.Args[1])
	defer api.Close()
	test := httptest.NewServer(phone(api))
	defer test.Close()
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	fmt.Printf("api %s\nphone %s\n", api.URL(), test.URL)
	<-end
}

// phone is what people do with the chats.
func phone(api *telegramtest.Server) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /messages", func(w http.ResponseWriter, _ *http.Request) { respond(w, shown(api), nil) })
	mux.HandleFunc("POST /tap", func(w http.ResponseWriter, r *http.Request) {
		var t tap
		if err := json.UnmarshalRead(r.Body, &t, json.RejectUnknownMembers(true)); err != nil {
			respond(w, nil, err)
			return
		}
		told, err := api.Tap(r.Context(), telegramtest.Person{ID: t.From, Name: fmt.Sprint("u", t.From)}, t.Chat, t.Message, t.Data)
		respond(w, told.Text, err)
	})
	return mux
}

func shown(api *telegramtest.Server) []message {
	out := []message{}
	for _, m := range api.Messages() {
		shows := message{Chat: m.Chat, ID: m.ID, Text: m.Text, Buttons: []button{}}
		for _, row := range m.Buttons {
			for _, b := range row {
				shows.Buttons = append(shows.Buttons, button{b.Text, b.Data})
			}
		}
		out = append(out, shows)
	}
	return out
}

func respond(w http.ResponseWriter, result any, err error) {
	if err == nil {
		err = json.MarshalWrite(w, result)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}
