package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/text"
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
		people = append(people, approval.Person{Name: strings.Replace(p.id, ":", " ", 1), Bare: true, IDs: []string{p.id}})
	}
	return people
}

func (a *Approver) person() approval.Person {
	p := approval.Person{Name: a.Name}
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

func (k *checker) checkApprovers() {
	names, ids := map[string]string{}, map[string]string{}
	for i := range k.Approvers {
		a, at := &k.Approvers[i], index("approvers", i)
		k.checkName(at, a, names)
		own := a.platformIDs()
		if len(own) == 0 && !a.Token.Set() && !a.Passkeys {
			k.fail(at, "has neither ids nor a token, so that nothing shows that it is them", "add "+k.chats.list()+" with this person's user id there, a token, or passkeys: true")
		}
		for _, p := range own {
			k.checkID(at+"."+p.path, p.id)
			if other, taken := ids[p.id]; taken {
				k.fail(at+"."+p.path, "also belongs to "+visible(other), "one id is one person: keep it at one of the two")
			}
			ids[p.id] = a.Name
		}
	}
	for _, p := range k.allowed() {
		k.checkID(p.path, p.id)
	}
	if k.Approval.Approvals > 1 {
		for _, p := range k.unnamed() {
			k.fail(p.path, "names no person, and it matters who is who: someone with two ids could count twice", "put the id into the entry of its person under approvers, as "+strings.Replace(p.id, ":", ": ", 1))
		}
	}
}

func (k *checker) checkName(at string, a *Approver, names map[string]string) {
	folded := strings.ToLower(a.Name)
	switch other, taken := names[folded]; {
	case a.Name == "":
		k.fail(at, "has no name", "add name: cards and the record show it")
	case !plainName(a.Name):
		k.fail(at+".name", "is no name for cards and the record", "use up to 64 letters, digits, spaces, dots and hyphens")
	case taken:
		k.fail(at+".name", "is also the name of "+other, "give each approver a name of their own, or put all ids of one person into one entry")
	case folded == Owner && a.Token.Set():
		k.fail(at+".token", "would be a second token of the owner", "set ownerToken instead, and ids: [\"token:owner\"] here")
	case folded == Owner && a.Passkeys:
		k.fail(at+".passkeys", "is not needed: the owner token's holder may have passkeys anyway", "write ids: [\"token:owner\"] instead")
	}
	names[folded] = at
}

// checkID refuses names: people who can rename themselves could take them.
func (k *checker) checkID(at, id string) {
	name, user, _ := strings.Cut(id, ":")
	if name == "token" {
		if user != Owner {
			k.fail(at, "is no id that can be given", "write token:owner for the owner token, or give this approver a token")
		}
		return
	}
	p, ok := k.chats.named(name)
	switch {
	case !ok:
		near, _ := text.Nearest(name, k.chats.names())
		k.fail(at, "does not begin with a platform", fmt.Sprintf("write it as %s:<id>; platforms are %s", near, strings.Join(k.chats.names(), ", ")))
	case !p.IsUser(user):
		k.fail(at, "is not a "+p.Name+" user id, which is "+p.Looks, p.Find)
	}
}

// UserID is how a platform names one of its users for ever. It may be written
// as a number or as text.
type UserID string

var userIDType = reflect.TypeFor[UserID]()

// userID reads the digits as they stand: what YAML makes of them could be
// another number.
func (d *decoder) userID(s spot, v reflect.Value) {
	text, ok := idText(s.node)
	if !ok {
		d.wrong(s, "a user id: a number or text")
		return
	}
	v.SetString(text)
}

func idText(n ast.Node) (string, bool) {
	if i, ok := n.(*ast.IntegerNode); ok {
		return i.GetToken().Value, true
	}
	return stringOf(n)
}

// platforms are those on which people can be asked: the caller of this package
// knows which chats the program has.
type platforms []approval.Platform

func (all platforms) names() []string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	return names
}

func (all platforms) named(name string) (approval.Platform, bool) {
	i := slices.IndexFunc(all, func(p approval.Platform) bool { return p.Name == name })
	if i < 0 {
		return approval.Platform{}, false
	}
	return all[i], true
}

// list names them for a sentence: telegram, discord or slack.
func (all platforms) list() string {
	names := all.names()
	if n := len(names); n > 1 {
		names = append(names[:n-2], names[n-2]+" or "+names[n-1])
	}
	return strings.Join(names, ", ")
}

// on is platform:id, by which the desk knows a person.
func (id UserID) on(platform string) string { return platform + ":" + string(id) }

// platformIDs are an approver's ids on the platforms, and the place of each in the file.
func (a *Approver) platformIDs() []placedID {
	var all []placedID
	for i, id := range a.IDs {
		all = append(all, placedID{index("ids", i), id})
	}
	for _, name := range sortedKeys(a.Users) {
		all = append(all, placedID{name, a.Users[name].on(name)})
	}
	return all
}

// placedID is platform:id and its place in the file.
type placedID struct{ path, id string }

// allowed are the ids that the section of a channel adds to the approvers. A
// channel that is switched off adds none.
func (c *Config) allowed() []placedID {
	var all []placedID
	for _, name := range sortedKeys(c.Channels) {
		section := c.Channels[name]
		if section.Off() {
			continue
		}
		list, ok := section.find(allowedKey).(*ast.SequenceNode)
		if !ok {
			continue
		}
		for i, n := range list.Values {
			id, _ := idText(n)
			if resolved, _, err := section.d.resolve(id); err == nil { // the channel tells what is wrong with it
				id = resolved
			}
			all = append(all, placedID{index("channels."+name+"."+allowedKey, i), UserID(id).on(name)})
		}
	}
	return all
}

const allowedKey = "allowedUserIds"

// find is the value of a key of the section, nil if there is none.
func (r Raw) find(key string) ast.Node {
	if e := member(r.s.node, key); e != nil {
		return e.Value
	}
	return nil
}

// unnamed are the allowed ids that no approver has: people of whom nothing is
// known but that id.
func (c *Config) unnamed() []placedID {
	named := map[string]bool{}
	for i := range c.Approvers {
		for _, p := range c.Approvers[i].platformIDs() {
			named[p.id] = true
		}
	}
	var all []placedID
	for _, p := range c.allowed() {
		if !named[p.id] {
			named[p.id] = true
			all = append(all, p)
		}
	}
	return all
}
