package config

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
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

// platform is a chat service as far as the identity of its users goes.
type platform struct {
	name  string
	looks func(id string) bool
	is    string // what an id of it is
	find  string // how to find it
}

// platforms are those on which people can be asked.
var platforms = []platform{
	{"telegram", isTelegram, "a positive number", "it is the number of the account, which Telegram never changes; a name such as @ann can be taken over, and a negative number is a group"},
	{"discord", isDiscord, "a number of up to 20 digits", "switch on Developer Mode in Discord and choose Copy User ID; a name can be taken over"},
	{"slack", isSlack, "a U or a W and capital letters and digits", "choose Copy member ID in the person's Slack profile; a name can be taken over"},
}

// channelNames are the platforms by name.
var channelNames = func() (names []string) {
	for _, p := range platforms {
		names = append(names, p.name)
	}
	return names
}()

func platformNamed(name string) (platform, bool) {
	for _, p := range platforms {
		if p.name == name {
			return p, true
		}
	}
	return platform{}, false
}

var (
	plainNumber = regexp.MustCompile(`^[1-9][0-9]{0,19}$`)
	slackUser   = regexp.MustCompile(`^[UW][A-Z0-9]{2,20}$`)
)

// isTelegram knows that ids of Telegram have at most 52 bits.
func isTelegram(id string) bool {
	n, err := strconv.ParseInt(id, 10, 64)
	return err == nil && n < 1<<52 && plainNumber.MatchString(id)
}

func isDiscord(id string) bool {
	_, err := strconv.ParseUint(id, 10, 64)
	return err == nil && plainNumber.MatchString(id)
}

func isSlack(id string) bool { return slackUser.MatchString(id) }

// on is platform:id, by which the desk knows a person.
func (id UserID) on(platform string) string { return platform + ":" + string(id) }

// platformIDs are an approver's ids on the platforms, and where each stands.
func (a *Approver) platformIDs() []placedID {
	var all []placedID
	for i, id := range a.IDs {
		all = append(all, placedID{index("ids", i), id})
	}
	for _, p := range []struct {
		name string
		id   *UserID
	}{{"telegram", a.Telegram}, {"discord", a.Discord}, {"slack", a.Slack}} {
		if p.id != nil {
			all = append(all, placedID{p.name, p.id.on(p.name)})
		}
	}
	return all
}

// placedID is platform:id and its place in the file.
type placedID struct{ path, id string }

// allowed are the ids that the section of a channel adds to the approvers. A
// channel that is switched off adds none.
func (c *Config) allowed() []placedID {
	var all []placedID
	for _, name := range channelNames {
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

// find is what stands under a key of the section, nil if nothing does.
func (r Raw) find(key string) ast.Node {
	if r.s.node == nil {
		return nil
	}
	for _, e := range entries(r.s.node) {
		if text, ok := keyText(e.Key); ok && text == key {
			return e.Value
		}
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
