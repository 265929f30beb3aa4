package config

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// Schema is the JSON schema of the file in a program that has these chats, for
// editors. It follows the same Go
// types as the decoder, so that it knows the same keys, and takes its words
// from the table of [Keys]. An editor that follows it finds wrong keys, types
// and words early; the judge is `verifier check`.
//
// It is draft 7, the newest that YAML editors know well. The error says which
// part of a type it has no words for.
func Schema(chats []approval.Platform) ([]byte, error) {
	s := describer{chats: chats, about: map[string]Key{}, used: map[string]bool{}}
	all := Keys(chats)
	for _, k := range all {
		s.about[k.Path] = k
	}
	root := s.structure("", reflect.TypeFor[Config]())
	for _, k := range all {
		if !s.used[k.Path] {
			s.complain("%s is described in keys.go, but no type has it", k.Path)
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	root.wrapped()
	root.Dialect = "http://json-schema.org/draft-07/schema#"
	root.Title = "Configuration of verifier"
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(root)
	return out.Bytes(), err
}

// schema is the part of a JSON schema that we need.
type schema struct {
	Dialect     string             `json:"$schema,omitempty"`
	Ref         string             `json:"$ref,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        string             `json:"type,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Minimum     *int               `json:"minimum,omitempty"`
	AnyOf       []*schema          `json:"anyOf,omitempty"`
	Default     any                `json:"default,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Names       *schema            `json:"propertyNames,omitempty"`
	Others      any                `json:"additionalProperties,omitempty"` // false, or the schema of every value
	Items       *schema            `json:"items,omitempty"`
}

// describer walks over the types.
type describer struct {
	chats platforms
	about map[string]Key
	used  map[string]bool
	err   error // the first
}

func (s *describer) complain(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("config schema: "+format, args...)
	}
}

// key is the schema of one key: its type, and what there is to say about it.
func (s *describer) key(path string, t reflect.Type) *schema {
	out := s.value(path, t)
	k, ok := s.about[path]
	if !ok {
		if t != reflect.TypeFor[*taint.Mode]() { // the key above says it for every level
			s.complain("say in keys.go what %s is", path)
		}
		return out
	}
	s.used[path] = true
	out.Description = k.sentence()
	out.Default = k.Default
	if k.Words != nil {
		out.Enum = k.Words
	}
	return out
}

// sentence is the text as an editor shows it beside the key.
func (k Key) sentence() string {
	text := strings.ToUpper(k.Text[:1]) + k.Text[1:] + "."
	if k.Unset != "" {
		text += " Without it: " + k.Unset + "."
	}
	return text
}

var textType = reflect.TypeFor[encoding.TextUnmarshaler]()

// value mirrors decoder.value.
func (s *describer) value(path string, t reflect.Type) *schema {
	switch t {
	case secretType:
		return &schema{Type: "string"}
	case durationType:
		none := 0
		return &schema{AnyOf: []*schema{{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}, {Type: "number", Minimum: &none}}}
	case rawType:
		return &schema{Type: "object"}
	case userIDType:
		return &schema{AnyOf: []*schema{{Type: "string"}, {Type: "integer"}}}
	}
	if words, ok := wordsOf[t]; ok {
		return &schema{Type: "string", Enum: words}
	}
	if reflect.PointerTo(t).Implements(textType) {
		return &schema{Type: "string", Enum: s.words(path, t)}
	}
	return s.kind(path, t)
}

// kind mirrors decoder.kind.
func (s *describer) kind(path string, t reflect.Type) *schema {
	switch {
	case t.Kind() == reflect.Pointer:
		return s.value(path, t.Elem())
	case t.Kind() == reflect.Struct:
		return s.structure(path, t)
	case t.Kind() == reflect.Map:
		return s.table(path, t)
	case t.Kind() == reflect.Slice:
		return &schema{Type: "array", Items: s.value(path+"[]", t.Elem())}
	case t.Kind() == reflect.String:
		return &schema{Type: "string"}
	case t.Kind() == reflect.Bool:
		return &schema{Type: "boolean"}
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		return &schema{Type: "integer"}
	}
	s.complain("%s is %s, which has no place in a file", path, t)
	return &schema{}
}

func (s *describer) structure(path string, t reflect.Type) *schema {
	out := &schema{Type: "object", Properties: map[string]*schema{}, Others: false}
	fields := fieldsOf(t)
	for _, name := range sortedKeys(fields) { // in order, so that the first complaint is always the same
		out.Properties[name] = s.key(strings.TrimPrefix(path+"."+name, "."), t.FieldByIndex(fields[name]).Type)
	}
	if usersOf(reflect.Zero(t)).IsValid() {
		for _, name := range s.chats.names() {
			out.Properties[name] = s.key(path+"."+name, userIDType)
		}
	}
	return out
}

func (s *describer) table(path string, t reflect.Type) *schema {
	out := &schema{Type: "object", Others: s.value(path+".<id>", t.Elem())}
	if path == "channels" {
		out.Names = &schema{Enum: s.chats.names()}
	}
	return out
}

// words are the values of a type that reads itself. Each such type must be
// listed: Go can't tell.
func (s *describer) words(path string, t reflect.Type) []string {
	switch t {
	case reflect.TypeFor[taint.Level]():
		all := taint.All()
		return names(all[:])
	case reflect.TypeFor[taint.Mode]():
		return names([]taint.Mode{taint.Allow, taint.Confirm, taint.Restrict})
	case reflect.TypeFor[policy.SecretsGate]():
		return []string{string(policy.SecretsAsk), string(policy.SecretsOff)}
	}
	s.complain("say in schema.go which words %s (%s) can be", path, t)
	return nil
}

func names[T fmt.Stringer](all []T) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = v.String()
	}
	return out
}

// wrapped adds what the loader takes out of an openclaw.json: see unwrap.
func (s *schema) wrapped() {
	own := func(keys ...string) *schema { // of the client's, which are left out with a word
		out := &schema{Type: "object", Properties: map[string]*schema{}, Others: false}
		for _, k := range keys {
			out.Properties[k] = &schema{Description: "Belongs to the client and is left out."}
		}
		return out
	}
	webhook := own(clientsWebhook...)
	webhook.refer("#/properties/webhook", s.Properties["webhook"])
	verifier := own(clientsOwn...)
	verifier.Description = "As in an openclaw.json: read as if it were at the top of this file."
	verifier.refer("#", s)
	verifier.Properties["webhook"] = webhook
	verifier.Properties["telegram"] = &schema{Type: "object", Description: "Read as channels.telegram."}
	tools := s.Properties["tools"]
	tools.Properties = map[string]*schema{"verifier": verifier, "caution": {Ref: "#/properties/caution"}}

	agents := s.Properties["agents"]
	agent, _ := agents.Others.(*schema)
	one := own(clientsOwn...)
	one.refer("#/properties/agents/additionalProperties", agent)
	one.Properties["webhook"] = own(slices.Concat(clientsWebhook, []string{"secret"})...)
	one.Properties["telegram"] = &schema{Type: "object", Description: "Read as the agent's channels and approvers."}
	listed := &schema{Type: "object", Others: false, Properties: map[string]*schema{
		"id":    {Type: "string"},
		"tools": {Type: "object", Others: false, Properties: map[string]*schema{"verifier": one}},
	}}
	agents.Properties = map[string]*schema{"list": {
		Description: "As in an openclaw.json: read as agents.<id>.",
		AnyOf:       []*schema{{Type: "array", Items: listed}, {Ref: "#/properties/agents/additionalProperties"}},
	}}

	for _, name := range []string{"plugins", "hooks"} {
		s.Properties[name] = &schema{Type: "object", Description: "As in an openclaw.json: what is under plugins.entries.<id>.config is read as if it were at the top of this file, and the rest is left out."}
	}
}

// refer gives a schema the keys that another has at a place.
func (s *schema) refer(place string, to *schema) {
	for _, name := range sortedKeys(to.Properties) {
		s.Properties[name] = &schema{Ref: place + "/properties/" + name}
	}
}
