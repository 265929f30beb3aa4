package verifier

import (
	"strings"
	"sync"

	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// firsts keeps what the owner first asked for in each conversation, with secrets hidden, so that the page can title it. It is in the
// memory of this process alone: the record keeps no words of people. It is for people and decides nothing.
type firsts struct {
	o    *Options
	mu   sync.Mutex
	said recent.Map[[16]byte, string]
}

const (
	mostFirsts  = 2000 // conversations
	longestAsks = 100  // characters
)

// note keeps a conversation's first request, if this is a call of one that has none yet.
func (f *firsts) note(c *toolcall.Call) {
	said := c.OwnerMessages()
	if len(said) == 0 || c.Context.SessionKey == "" {
		return
	}
	id := conversationOf(c).ID()
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.said.Get(id); known {
		return
	}
	text, _ := f.o.Cards().Text(said[0])
	text = strings.Join(strings.Fields(text), " ")
	if strings.HasPrefix(text, "[REDACTED") { // it is not known yet what to hide, or it begins with a secret: it has no title
		text = ""
	}
	if r := []rune(text); len(r) > longestAsks {
		text = strings.TrimSpace(string(r[:longestAsks])) + "…"
	}
	f.said.Put(id, text, mostFirsts)
}

// FirstRequest is what the owner first asked for in a conversation, shortened and with secrets hidden; empty where this process does not
// know it.
func (v *Verifier) FirstRequest(c session.Conversation) string {
	v.firsts.mu.Lock()
	defer v.firsts.mu.Unlock()
	text, _ := v.firsts.said.Get(c.ID())
	return text
}
