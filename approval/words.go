package approval

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/session"
)

// word is what an approver said about a person, an agent or a conversation until a time: that the person is away, or that the others are
// muted. The later word about the same counts. None lets a call pass: if the store loses one, people are asked.
type word struct {
	about string    // see aboutPerson and the others
	until time.Time // the zero time ends what was said before
	other string    // who decides while a person is away; may be empty
	by    string
	at    time.Time // to the millisecond
}

func aboutPerson(name string) string { return "person " + name }
func aboutAgent(agent string) string { return aboutAgents + session.AgentScope(agent) }
func aboutTalk(hash string) string   { return aboutTalks + hash }

const (
	aboutAgents = "agent "
	aboutTalks  = "conversation "
)

// Where the words are kept, and for how long.
const (
	wordList    = "00:absences"
	mostWords   = 500
	maxAwayDays = 60
	keepWords   = 2 * maxAwayDays * 24 * time.Hour
)

var errWord = errors.New("approval: a stored word about an absence does not carry this server's seal")

// value writes the word for the store, under the server's seal.
func (w *word) value(key hmac.Key) []byte {
	parts := w.parts()
	text := make([]string, len(parts))
	for i, p := range parts {
		text[i] = hex.EncodeToString([]byte(p))
	}
	return []byte(strings.Join(append(text, key.Seal("absence", parts...)), "|"))
}

func (w *word) parts() []string {
	until := ""
	if !w.until.IsZero() {
		until = strconv.FormatInt(w.until.Unix(), 10)
	}
	return []string{w.about, until, w.other, w.by, strconv.FormatInt(w.at.UnixMilli(), 10)}
}

// readWord reads a stored word. What anyone else wrote into the store is none.
func readWord(key hmac.Key, value []byte) (word, error) {
	f := strings.Split(string(value), "|")
	if len(f) != 6 {
		return word{}, errWord
	}
	parts := make([]string, 5)
	for i := range parts {
		text, err := hex.DecodeString(f[i])
		if err != nil || f[i] != hex.EncodeToString(text) {
			return word{}, errWord
		}
		parts[i] = string(text)
	}
	at, err := strconv.ParseInt(parts[4], 10, 64)
	if err != nil || !key.Check(f[5], "absence", parts...) {
		return word{}, errWord
	}
	w := word{about: parts[0], other: parts[2], by: parts[3], at: time.UnixMilli(at)}
	if parts[1] != "" {
		until, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil {
			return word{}, errWord
		}
		w.until = time.Unix(until, 0)
	}
	return w, nil
}

// words are the last ones, by what they are about.
type words map[string]word

// words reads what people said. What someone said who may no longer approve holds no more.
func (av *Availability) words(ctx context.Context) (words, error) {
	entries, err := av.o.Store.Notes(ctx, wordList)
	if err != nil {
		return nil, err
	}
	last := make(words)
	for _, e := range entries {
		w, err := readWord(av.o.Key, e)
		if before, said := last[w.about]; err == nil && (!said || w.at.After(before.at)) {
			last[w.about] = w
		}
	}
	t := av.terms()
	maps.DeleteFunc(last, func(_ string, w word) bool { return !w.until.IsZero() && !t.lists(w.by) })
	return last, nil
}

// holds is what is in force about something.
func (w words) holds(about string, now time.Time) (word, bool) {
	last := w[about]
	return last, now.Before(last.until)
}

// tellWords keeps what a person said, records it and tells everyone. A word is later than those before it, also where the clock was set back.
func (av *Availability) tellWords(ctx context.Context, before words, via, text string, said ...word) (Outcome, error) {
	entries := make([][]byte, len(said))
	for i := range said {
		w := &said[i]
		w.at = av.o.Now().Truncate(time.Millisecond)
		if last := before[w.about].at; !w.at.After(last) {
			w.at = last.Add(time.Millisecond)
		}
		entries[i] = w.value(av.o.Key)
	}
	if err := av.o.Store.Note(ctx, session.Note{List: wordList, Most: mostWords, Keep: keepWords, Entries: entries}); err != nil {
		return Outcome{Text: storeGone}, err
	}
	av.note(ctx, audit.Entry{Kind: audit.KindNote, Note: text, People: []audit.Person{{Name: said[0].by, Via: via, At: time.Now().UTC()}}})
	av.Tell(ctx, text)
	return Outcome{Kind: Replied, Text: text}, nil
}
