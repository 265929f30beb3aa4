package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/openclaw-verifier/verifier/approval"
)

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

// calledByID is the name of a person who has none.
func calledByID(id string) string { return strings.Replace(id, ":", " ", 1) }
