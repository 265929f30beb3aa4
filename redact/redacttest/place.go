package redacttest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// Placement is a text somewhere in the params of a call.
type Placement struct {
	Name   string
	Params string // JSON
}

// Disguises returns the text and the forms of it in which redact still sees a
// secret.
func Disguises(text string) map[string]string {
	percent := strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	var every strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&every, "%%%02x", text[i])
	}
	b := []byte(text)
	return map[string]string{
		"plain":            text,
		"percent":          percent,
		"percent twice":    url.QueryEscape(percent),
		"percent all":      every.String(),
		"base64":           base64.StdEncoding.EncodeToString(b),
		"base64 unpadded":  base64.RawStdEncoding.EncodeToString(b),
		"base64 url":       base64.URLEncoding.EncodeToString(b),
		"base64 in text":   base64.RawURLEncoding.EncodeToString([]byte("some words\n" + text + "\nand more")),
		"base64 shifted":   base64.RawURLEncoding.EncodeToString([]byte("\n\n" + text)),
		"base64, percent":  url.QueryEscape(base64.StdEncoding.EncodeToString(b)),
		"percent, base64":  base64.StdEncoding.EncodeToString([]byte(percent)),
		"base64 in base64": base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(b))),
	}
}

// Placements puts a text wherever JSON can have one.
func Placements(text string) []Placement {
	q := quote(text)
	return []Placement{
		{"value", `{"command":` + q + `}`},
		{"longer text", `{"command":` + quote("first this\n"+text+"\nthen that") + `}`},
		{"nested", `{"a":[1,{"b":[[` + q + `]]}],"c":null}`},
		{"element", `["x",` + q + `,"y"]`},
		{"alone", q},
		{"name", `{"a":{` + q + `:1}}`},
		{"two names", `{` + q + `:{"x":1},` + quote(text+"\n") + `:2}`},
		{"JSON in JSON", `{"body":` + quote(`{"k":1,`+"\n"+text+"\n}") + `}`},
	}
}

// Fields puts a bare secret where the name of a member, or its neighbour, makes
// it one.
func Fields(secret string) []Placement {
	q := quote(secret)
	var out []Placement
	for name, shape := range map[string]string{
		"field":           `{"password":%s}`,
		"deep field":      `{"a":[{"headers":{"X-Api-Key":%s}}]}`,
		"object":          `{"credentials":{"a":["x",%s]}}`,
		"environment":     `{"env":{"DB_PASS":%s,"PATH":"/bin"}}`,
		"file body":       `{"path":"a","content":%s}`,
		"edits":           `{"edits":[{"oldText":"x","newText":%s}]}`,
		"pair":            `{"headers":[{"name":"Authorization","value":%s}]}`,
		"pair, reversed":  `{"env":[{"value":%s,"x":[1],"key":"GITHUB_TOKEN"}]}`,
		"pair of a list":  `{"headers":[["Cookie",%s]]}`,
		"flat list":       `{"headers":["Host","x","Authorization",%s]}`,
		"arguments":       `{"argv":["tool","--password",%s,"run"]}`,
		"short arguments": `{"argv":["/usr/bin/redis-cli","-a",%s,"PING"]}`,
	} {
		out = append(out, Placement{name, fmt.Sprintf(shape, q)})
	}
	return append(out, Placement{"mysql", `["mysqldump","-p` + q[1:] + `]`}, Placement{"curl", `["curl","-u","bob:` + q[1:] + `]`})
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can't fail
	}
	return string(b)
}
