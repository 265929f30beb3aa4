package config

import (
	"maps"
	"strconv"

	"github.com/openclaw-verifier/verifier/approval"
)

// DefaultClient is the client whose secrets are in webhook.secret and
// webhook.secrets.
const DefaultClient = "default"

// Owner is the name of the person who holds the owner token, where the list of
// approvers gives no other.
const Owner = "owner"

// TokenID is the approver id of a person who answers with a token.
func TokenID(name string) string { return "token:" + name }

// Clients are the secrets by client, the newest first. It is empty when the
// file has none; the state directory's secret then belongs to [DefaultClient].
func (c *Config) Clients() map[string][]Secret {
	clients := make(map[string][]Secret, len(c.Webhook.Clients)+1)
	maps.Copy(clients, c.Webhook.Clients)
	var own []Secret
	if c.Webhook.Secret.Set() {
		own = append(own, c.Webhook.Secret)
	}
	if own = append(own, c.Webhook.Secrets...); len(own) > 0 {
		clients[DefaultClient] = own
	}
	return clients
}

// People are those who may answer, as the desk knows them. Without a list that
// is the owner token's holder; an empty list is no person at all. Those whom a
// channel's allowedUserIds names come in addition.
func (c *Config) People() []approval.Person {
	var people []approval.Person
	if c.Approvers == nil {
		people = append(people, approval.Person{Name: Owner, IDs: []string{TokenID(Owner)}})
	}
	for i := range c.Approvers {
		people = append(people, c.Approvers[i].person())
	}
	for _, p := range c.unnamed() {
		people = append(people, approval.Person{Name: calledByID(p.id), Bare: true, IDs: []string{p.id}})
	}
	return people
}

func (a *Approver) person() approval.Person {
	p := approval.Person{Name: a.Name, Quiet: a.Quiet}
	for _, id := range a.platformIDs() {
		p.IDs = append(p.IDs, id.id)
	}
	if a.Token.Set() || a.Passkeys {
		p.IDs = append(p.IDs, TokenID(a.Name))
	}
	return p
}

// Tokens are the tokens by name, the owner's included. Knowing a token is
// knowing who answers; whether that person may is for the desk to say, by
// [TokenID] of the name.
func (c *Config) Tokens(owner Secret) map[string]Secret {
	tokens := map[string]Secret{Owner: owner}
	for _, a := range c.Approvers {
		if a.Token.Set() {
			tokens[a.Name] = a.Token
		}
	}
	return tokens
}

// WithPasskeys are the names of those who may have no token and log in with a
// passkey.
func (c *Config) WithPasskeys() (names []string) {
	for _, a := range c.Approvers {
		if a.Passkeys {
			names = append(names, a.Name)
		}
	}
	return names
}

// placed is a secret and its place in the file.
type placed struct {
	path   string
	secret Secret
	least  int // characters
}

// The fewest characters of secrets: 16 of hex are 64 bits, and what a person
// makes up is worth less than it is long.
const (
	leastSecret = 16
	leastToken  = 20
	leastKey    = 32
)

// secrets lists what the file sets, in a fixed order.
func (c *Config) secrets() []placed {
	all := []placed{
		{"ownerToken", c.OwnerToken, leastToken},
		{"webhook.secret", c.Webhook.Secret, leastSecret},
		{"webhook.bearer", c.Webhook.Bearer, leastSecret},
		{"store.key", c.Store.Key, leastKey},
	}
	for i, s := range c.Webhook.Secrets {
		all = append(all, placed{index("webhook.secrets", i), s, leastSecret})
	}
	for _, name := range sortedKeys(c.Webhook.Clients) {
		for i, s := range c.Webhook.Clients[name] {
			all = append(all, placed{index("webhook.clients."+name, i), s, leastSecret})
		}
	}
	for i, a := range c.Approvers {
		all = append(all, placed{index("approvers", i) + ".token", a.Token, leastToken})
	}
	return all
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
