package config

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/policy"
)

// listedAgent is an entry of agents.list in an openclaw.json.
type listedAgent struct {
	ID    string `yaml:"id"`
	Tools struct {
		Verifier agentVerifier `yaml:"verifier"`
	} `yaml:"tools"`
}

// agentVerifier is tools.verifier of one agent: what can tighten the policy, and
// what the same group has for all agents.
type agentVerifier struct {
	policy.Agent `yaml:",inline"`

	Enabled  *bool  `yaml:"enabled"`
	FailMode string `yaml:"failMode"`
	Webhook  struct {
		URL     string            `yaml:"url"`
		Timeout time.Duration     `yaml:"timeout"`
		Headers map[string]string `yaml:"headers"`
		Secret  Secret            `yaml:"secret"`
	} `yaml:"webhook"`
	Telegram Raw `yaml:"telegram"`
}

// agentTelegram is tools.verifier.telegram of one agent.
type agentTelegram struct {
	Enabled        bool          `yaml:"enabled"`
	BotToken       string        `yaml:"botToken"`
	ChatID         UserID        `yaml:"chatId"`
	Timeout        time.Duration `yaml:"timeout"`
	AllowedUserIDs []UserID      `yaml:"allowedUserIds"`
}

const telegram = "telegram"

// noTimeout says what to set instead of the timeout of a Telegram section.
const noTimeout = "has no effect: webhook.hold says how long a call waits for a person, approvalTtlSeconds how long the question can be answered"

// listed is the list in a group agents, and what is beside it. It is nil if there
// is none.
func listed(agents ast.Node) (list *ast.SequenceNode, rest []*ast.MappingValueNode) {
	for _, e := range entries(agents) {
		key, _ := keyText(e.Key)
		if found, ok := e.Value.(*ast.SequenceNode); ok && key == "list" && list == nil {
			list = found
			continue
		}
		rest = append(rest, e) // a second list, too: it is refused with the rest
	}
	return list, rest
}

// agentList reads agents.list as agents.<id>, and says what
// of it belongs to the client.
func (d *decoder) agentList(doc *document, c *Config) (left []Finding) {
	if doc.agents == nil {
		return nil
	}
	w := &wrappers{left: &left}
	var settings []*ast.MappingValueNode
	for i, n := range doc.agents.Values {
		at := spot{index("agents.list", i), doc.agents.Start, n}
		var a listedAgent
		before := len(d.errs)
		if d.value(at, reflect.ValueOf(&a).Elem()); len(d.errs) > before {
			continue
		}
		if a.ID == "" {
			d.fail(at.token(), at.path, "has no id", "add id: the agent's, as the runtime names it")
			continue
		}
		if _, twice := c.Agents[a.ID]; twice {
			d.fail(at.token(), at.path, "the agent has settings already", "keep one of the two")
			continue
		}
		if c.Agents == nil {
			c.Agents = map[string]Agent{}
		}
		own := at.down("tools", "verifier")
		settings = append(settings, ast.MappingValue(at.key, ast.String(token.String(a.ID, a.ID, own.token().Position)), own.node))
		w.clients(own)
		d.agentSecret(own.down("webhook", "secret"), a.Tools.Verifier.Webhook.Secret, c)
		c.Agents[a.ID] = Agent{a.Tools.Verifier.Agent, d.agentChat(own.down(telegram), &a, c, w)}
	}
	doc.settle(settings)
	return left
}

// down is the place of a key below, or the nearest that the file has.
func (s spot) down(keys ...string) spot {
	for _, key := range keys {
		s.path += "." + key
		if e := member(s.node, key); e != nil {
			s.key, s.node = e.Key.GetToken(), e.Value
		}
	}
	return s
}

// settle puts the agents' settings where errors about agents.<id> look for them.
func (d *document) settle(settings []*ast.MappingValueNode) {
	if agents := member(d.root, "agents"); agents != nil {
		settings = append(settings, entries(agents.Value)...)
	}
	at := d.agents.Start
	key := ast.String(token.String("agents", "agents", at.Position))
	agents := ast.MappingValue(at, key, ast.Mapping(at, true, settings...))
	d.root = ast.Mapping(d.root.GetToken(), true, append(without(d.root, "agents"), agents)...)
}

// clients says which of an agent's settings are the plugin's.
func (w *wrappers) clients(own spot) {
	for _, e := range entries(own.node) {
		switch key, _ := keyText(e.Key); key {
		case "enabled":
			w.leave(e, own.path+".enabled", strangers[key].text+", and is left out")
		case "failMode":
			w.leave(e, own.path+".failMode", "belongs to the client and is left out: set agents.<id>.failMode in the plugin's config")
		case "webhook":
			w.clientsAddress(own.path+".webhook.", entries(e.Value))
		}
	}
}

func (w *wrappers) clientsAddress(path string, webhook []*ast.MappingValueNode) {
	for _, e := range webhook {
		switch key, _ := keyText(e.Key); key {
		case "url":
			w.leave(e, path+key, "belongs to the client and is left out: the plugin has one url for all agents")
		case "timeout", "headers":
			w.leave(e, path+key, strangers["webhook."+key].text+", and is left out")
		}
	}
}

// agentSecret refuses a secret of one agent's: with it you could sign calls of every
// agent.
func (d *decoder) agentSecret(at spot, s Secret, c *Config) {
	if s.Set() && subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(c.Webhook.Secret.Reveal())) == 0 {
		d.fail(at.key, at.path, "is another secret than webhook.secret: a secret belongs to a client, not to an agent", "add it under webhook.clients if this agent has a runtime of its own, and remove it here")
	}
}

// agentChat makes channels and approvers of an agent's Telegram. There is one bot; another chat of
// it goes into channels.telegram.chats.
func (d *decoder) agentChat(at spot, a *listedAgent, c *Config, w *wrappers) (asks approval.Agent) {
	if e := member(at.node, "timeout"); e != nil {
		w.leave(e, at.path+".timeout", noTimeout)
	}
	own, all := a.Tools.Verifier.Telegram, c.Channels[telegram]
	used := all.s.node != nil && !all.Off()
	switch {
	case own.s.node == nil || own.Off() && !used:
		return asks
	case own.Off():
		asks.Channels = []string{approval.Terminal}
		for _, name := range sortedKeys(c.Channels) {
			if section := c.Channels[name]; name != telegram && !section.Off() {
				asks.Channels = append(asks.Channels, name)
			}
		}
	case !used:
		d.fail(at.key, at.path, "there is no channels.telegram that is on: an agent's chat is another chat of that bot", "set channels.telegram")
		return asks
	default:
		asks.Channels = []string{telegram}
		if !d.sameBot(at, a.ID, own, all, c, &asks) {
			return asks
		}
	}
	text := fmt.Sprintf("is read as agents.%s: channels: [%s]", visible(a.ID), strings.Join(asks.Channels, ", "))
	if chat, _ := idText(Raw{s: spot{node: c.Channels[telegram].find("chats")}}.find(a.ID)); chat != "" && !own.Off() {
		text += ", in the chat " + visible(chat)
	}
	if asks.Approvers != nil {
		text += ", approvers: [" + visible(strings.Join(asks.Approvers, ", ")) + "]"
	}
	*w.left = append(*w.left, Finding{Severity: Note, Line: at.key.Position.Line, Col: at.key.Position.Column, Path: at.path, Text: text})
	return asks
}

// sameBot refuses another bot than channels.telegram has, keeps the agent's chat, and
// names those who may answer.
func (d *decoder) sameBot(at spot, agent string, own, all Raw, c *Config, asks *approval.Agent) bool {
	var t agentTelegram
	if err := own.Decode(&t); err != nil {
		wrong, _ := errors.AsType[Errors](err)
		d.errs = append(d.errs, wrong...)
		return false
	}
	before := len(d.errs)
	if bot := all.text("botToken"); t.BotToken != "" && subtle.ConstantTimeCompare([]byte(t.BotToken), []byte(bot)) == 0 {
		in := at.down("botToken")
		d.fail(in.key, in.path, "is another bot than channels.telegram has: there is one for all agents", "remove it here")
	}
	chat := all.text("chatId")
	if people := c.allowedOn(telegram); chat == "" && len(people) == 1 {
		chat = people[0]
	}
	if t.ChatID != "" && string(t.ChatID) != chat {
		in := at.down("chatId")
		c.Channels[telegram] = all.put("chats", agent, in.node)
	}
	in := at.down(allowedKey)
	for _, id := range t.AllowedUserIDs {
		name := c.nameOf(id.on(telegram))
		if name == "" {
			d.fail(in.key, in.path, "names somebody who is no approver: who answers for one agent must be one", "add the id to approvers")
			continue
		}
		if !slices.Contains(asks.Approvers, name) {
			asks.Approvers = append(asks.Approvers, name)
		}
	}
	if t.AllowedUserIDs != nil && len(t.AllowedUserIDs) == 0 {
		d.fail(in.key, in.path, "is empty, so that no answer about this agent would count", "name who may, or remove the key to mean every approver")
	}
	return len(d.errs) == before
}

// text is the text under a key, references resolved.
func (r Raw) text(key string) string {
	text, _ := idText(r.find(key))
	if resolved, _, err := r.d.resolve(text); err == nil { // the channel tells what is wrong with it
		text = resolved
	}
	return text
}

// allowedOn are the user ids that a channel's section allows.
func (c *Config) allowedOn(platform string) (ids []string) {
	for _, p := range c.allowed() {
		if id, ok := strings.CutPrefix(p.id, platform+":"); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// nameOf is the approver who has an id, "" if none has.
func (c *Config) nameOf(id string) string {
	for _, p := range c.People() {
		if slices.Contains(p.IDs, id) {
			return p.Name
		}
	}
	return ""
}

// openClawWorkspace is the agents' workspace where OpenClaw's config names no other.
const openClawWorkspace = "~/.openclaw/workspace"

// OpenClawWorkspaces are the workspaces of OpenClaw's agents, by its own config. A config that can't be read, or
// that is not there, names the usual one.
func OpenClawWorkspaces(text []byte) []string {
	type agent struct {
		Workspace string `yaml:"workspace"`
	}
	var file struct {
		Agents struct {
			Defaults agent   `yaml:"defaults"`
			List     []agent `yaml:"list"`
		} `yaml:"agents"`
	}
	if err := yaml.Unmarshal(uncommented(text), &file); err != nil {
		return []string{openClawWorkspace}
	}
	out := []string{cmp.Or(file.Agents.Defaults.Workspace, openClawWorkspace)}
	for _, a := range file.Agents.List {
		if a.Workspace != "" && !slices.Contains(out, a.Workspace) {
			out = append(out, a.Workspace)
		}
	}
	return out
}
