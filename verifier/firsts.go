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
	mu   sync.Mutex
	said recent.Map[[16]byte, string]
}

const (
	mostFirsts  = 2000 // conversations
	longestAsks = 100  // characters
)

// named is the conversation as a call names it: a child's is its own.
func named(c *toolcall.Call) session.Conversation {
	return session.Conversation{Client: c.Client, Key: c.Context.SessionKey}
}

// noteFirst keeps a conversation's first request, if this is a call of one that has none yet.
func (v *Verifier) noteFirst(c *toolcall.Call) {
	said := c.OwnerMessages()
	if len(said) == 0 || c.Context.SessionKey == "" {
		return
	}
	id := named(c).ID()
	v.firsts.mu.Lock()
	defer v.firsts.mu.Unlock()
	if _, known := v.firsts.said.Get(id); known {
		return
	}
	text, _ := v.o.Cards().Text(said[0])
	text = strings.Join(strings.Fields(text), " ")
	if strings.HasPrefix(text, "[REDACTED") { // it is not known yet what to hide, or it begins with a secret: it has no title
		text = ""
	}
	if r := []rune(text); len(r) > longestAsks {
		text = strings.TrimSpace(string(r[:longestAsks])) + "…"
	}
	v.firsts.said.Put(id, text, mostFirsts)
}

// FirstRequest is what the owner first asked for in a conversation, shortened and with secrets hidden; empty where this process does not
// know it.
func (v *Verifier) FirstRequest(c session.Conversation) string {
	v.firsts.mu.Lock()
	defer v.firsts.mu.Unlock()
	text, _ := v.firsts.said.Get(c.ID())
	return text
}
