package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// Result is what may be shown.
type Result struct {
	Params jsontext.Value // the same shape, compact, hidden parts replaced

	hidden, bodies int
	preRedacted    bool
}

// Hidden returns the number of places the reader can't see, those that the client had already redacted included.
func (r Result) Hidden() int { return r.hidden }

// Bodies returns the number of file bodies that are hidden.
func (r Result) Bodies() int { return r.bodies }

// PreRedacted reports whether params arrived with parts already redacted by the client: what will run is then known
// to the client alone.
func (r Result) PreRedacted() bool { return r.preRedacted }

// walk writes params anew, without what is hidden.
type walk struct {
	r      *Redactor
	tool   string
	only   only
	f      finder
	params jsontext.Value
	all    protocol.Values
	masks  map[string]int // those that stand for names
	out    []byte
	result Result
}

// only is all that a walk does, if it does not hide everything.
type only uint8

const (
	everything only = iota
	names           // it writes the names of members and the types of values
	bodies          // it hides file bodies and looks for nothing else
)

// read walks over params that nobody has read yet.
func (w *walk) read(params jsontext.Value) Result {
	var all protocol.Values
	if params.IsValid() {
		all, _ = protocol.Walk(params)
	}
	return w.do(params, all)
}

// do hides all of params that have no values, since they could not be read.
func (w *walk) do(params jsontext.Value, all protocol.Values) Result {
	w.params, w.all, w.out = params, all, make([]byte, 0, min(len(params), 1<<10)+16)
	switch {
	case len(all) > 0:
		w.value(0, nil)
	case w.only == names:
		w.quote("unreadable")
	default:
		w.quote(mask(string(params)))
		w.result.hidden++
	}
	w.result.Params = w.out
	return w.result
}

// value writes a value. Some secrets in it, if it is a string, are known.
func (w *walk) value(i int, known []span) {
	switch v := &w.all[i]; v.Kind {
	case '{':
		w.out = append(w.out, '{')
		for j := i + 1; j < v.Next; j = w.all[j].Next {
			if j > i+1 {
				w.out = append(w.out, ',')
			}
			w.name(j)
			w.member(j)
		}
		w.out = append(w.out, '}')
	case '[':
		w.out = append(w.out, '[')
		w.elements(i)
		w.out = append(w.out, ']')
	default:
		w.scalar(i, known)
	}
}

// scalar writes a value without the secrets in it.
func (w *walk) scalar(i int, known []span) {
	v := &w.all[i]
	switch {
	case w.only == names:
		w.quote(typeNames[v.Kind])
		return
	case w.only == everything && (v.Kind == '"' || v.Kind == '0' && w.r.numbers):
		w.foundMask(HasMask(v.Text))
		if shown, hidden := w.f.text(v.Text, known); hidden > 0 {
			w.quote(shown)
			w.result.hidden += hidden
			return
		}
	}
	w.out = append(w.out, w.params[v.At:v.End]...)
}

var typeNames = map[jsontext.Kind]string{'"': "string", '0': "number", 't': "boolean", 'f': "boolean", 'n': "null"}

// foundMask counts what the client has hidden.
func (w *walk) foundMask(is bool) {
	if is {
		w.result.preRedacted = true
		w.result.hidden++
	}
}

// quote writes a string. Where the text has become no text by what was cut out of it, nothing of it is shown.
func (w *walk) quote(s string) {
	out, err := jsontext.AppendQuote(w.out, s)
	if err != nil {
		out = append(w.out, `"`+mask(s)+`"`...)
	}
	w.out = out
}

// name writes the name of a member, or its replacement. Hidden names get a mask of their own, so a name that looks like
// one gives way.
func (w *walk) name(i int) {
	v := &w.all[i]
	hidden := 0
	switch {
	case w.only == bodies:
	case strings.HasPrefix(v.Name, maskStart):
		hidden = 1
	case len(v.Name) >= 6 || len(w.r.patterns) > 0:
		_, hidden = w.f.text(v.Name, nil)
	}
	if hidden == 0 {
		w.out = append(append(w.out, bytes.TrimRight(w.params[v.NameAt:v.At], ": \t\r\n")...), ':')
		return
	}
	shown := mask(v.Name)
	if w.masks == nil {
		w.masks = map[string]int{}
	}
	if w.masks[shown]++; w.masks[shown] > 1 {
		shown += " (" + strconv.Itoa(w.masks[shown]) + ")"
	}
	w.quote(shown)
	w.out = append(w.out, ':')
	w.result.hidden++
}

// What stands beside a value, in the same object or list, may say what it is: {"name": "Authorization", "value": "…"},
// {"command": "sshpass", "args": ["-p", "…"]}, ["Cookie", "…"], ["--password", "…"].
var (
	ofName    = setOf("name key header Name Key")
	ofValue   = setOf("value Value")
	ofProgram = setOf("command cmd program executable")
	ofArgs    = setOf("args argv arguments")
	headers   = setOf("authorization proxyauthorization cookie setcookie xapikey xauthtoken")
)

// beside returns the text of the first of the members with these names.
func (w *walk) beside(up int, names map[string]bool) string {
	for i := up + 1; i < w.all[up].Next; i = w.all[i].Next {
		if v := &w.all[i]; v.Kind == '"' && names[v.Name] {
			return v.Text
		}
	}
	return ""
}

// member writes the value of a member, or its replacement.
func (w *walk) member(i int) {
	v, squashed := &w.all[i], squash(w.all[i].Name)
	switch {
	case w.only == names:
		w.value(i, nil)
	case w.only == everything && (w.r.isSecret(v.Name, squashed, v.Kind) ||
		ofValue[v.Name] && w.r.names(w.beside(v.Up, ofName))):
		w.hide(i)
	case !w.r.showFileBodies && isFileBody(w.tool, squashed, v.Kind):
		if w.hide(i) {
			w.result.bodies++
		}
	case w.only == everything && v.Kind == '"' && strings.HasSuffix(squashed, "base64"):
		plain, _ := base64.RawStdEncoding.DecodeString(strings.TrimRight(v.Text, "="))
		if len(w.f.find(string(plain))) > 0 {
			w.hide(i)
			return
		}
		fallthrough
	default:
		w.value(i, nil)
	}
}

// elements writes what is in a list. They may be the arguments of a program.
func (w *walk) elements(up int) {
	var a arguments
	if v := &w.all[up]; ofArgs[v.Name] && w.only == everything {
		a = argumentsOf(w.beside(v.Up, ofProgram))
	}
	before := ""
	for i := up + 1; i < w.all[up].Next; i = w.all[i].Next {
		v := &w.all[i]
		if i > up+1 {
			w.out = append(w.out, ',')
		}
		var known []span
		if w.only == everything && v.Kind == '"' {
			if a.flags == nil {
				a = argumentsOf(v.Text)
			} else if at := a.next(v.Text); at >= 0 && at < len(v.Text) {
				known = []span{{at, len(v.Text)}}
			}
		}
		if w.only == everything && w.announces(before) {
			w.hide(i)
		} else {
			w.value(i, known)
		}
		before = v.Text
	}
}

// announces reports whether an element is a flag or a header that a secret follows.
func (w *walk) announces(s string) bool {
	name := strings.TrimLeft(s, "-")
	return len(name) <= maxName && (len(name) < len(s) || headers[squash(name)]) &&
		!strings.ContainsAny(name, " =:/\n") && w.r.names(name)
}

// hide writes a mask for a value, unless it has nothing to hide or is a mask itself. A value that only contains a
// mask is still hidden for its own reason: the agent can write a mask into any text.
func (w *walk) hide(i int) (hidden bool) {
	v := &w.all[i]
	s, raw := v.Text, w.params[v.At:v.End]
	if v.Kind == '{' || v.Kind == '[' {
		raw = slices.Clone(raw)
		_ = raw.Compact() // it was found valid
		s = string(raw)
	}
	empty := s == "" || v.Kind != '"' && (s == "[]" || s == "{}" || v.Text == s && v.Kind != '0')
	if masked := isMask(s); masked || empty {
		w.out = append(w.out, raw...)
		w.foundMask(masked && w.only == everything)
		return false
	}
	w.result.preRedacted = w.result.preRedacted || HasMask(s) || v.Kind != '"' && strings.Contains(s, `"[REDACTED`)
	w.quote(mask(s))
	w.result.hidden++
	return true
}

// fileTools write what they are given into a file. So does a tool whose name has one of writeVerbs and of fileNouns:
// write_file, createFile, mcp__fs__append_to_file, notebookedit.
var (
	fileTools  = setOf("write edit apply_patch file_write multiedit replace str_replace_based_edit_tool")
	writeVerbs = strings.Fields("write edit create save append replace insert update overwrite modify patch")
	fileNouns  = strings.Fields("file notebook")
)

// bodyFields hold file bodies in any tool. fileFields say of a tool that writes files where and how it writes: every
// other text that it is given may be a file's.
var (
	bodyFields = setOf("content contentbase64 edits patch")
	fileFields = setOf(`
		path paths filepath file filename name target targetpath notebookpath dir directory folder cwd workdir
		workspace node nodeid url owner repo branch ref sha message gatewayurl command action operation mode
		editmode type celltype cellid encoding mimetype language description instruction explanation`)
)

// secretNames make a member secret when its name, squashed, ends in one of them, or in its plural, or in one and a
// qualifier: which one of several it is, or that it is the secret itself. They are by their last letter, to ask for
// few.
var (
	secretNames = byLast(`
		password passwd pwd passphrase passcode secret token credential bearer jwt cookie authorization apikey
		accesskey secretkey privatekey signingkey encryptionkey accountkey masterkey deploykey keybase storepass
		keypass requirepass pw psk presharedkey authkey sharedkey passkey secretid secretstring mnemonic seedphrase
		recoveryphrase creds appkey`)
	qualifiers = byLast(`
		value val data text string raw plain plaintext confirmation confirm again repeat old new current prod
		production staging stage dev test live primary secondary main backup default`)
)

func setOf(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}

func byLast(list string) (t [256][]string) {
	for w := range strings.FieldsSeq(list) {
		t[w[len(w)-1]] = append(t[w[len(w)-1]], w)
	}
	return t
}

// squash makes names comparable: db_password, DB-Password and dbPassword are one.
func squash(name string) string {
	for i := range len(name) {
		if c := name[i]; c < 'a' || c > 'z' {
			return strings.ToLower(separators.Replace(name))
		}
	}
	return name
}

var separators = strings.NewReplacer("-", "", "_", "", ".", "", " ", "")

// isFileBody reports whether a member may hold what is written to a file. Numbers and switches of other names never do.
func isFileBody(tool, squashed string, value jsontext.Kind) bool {
	isText := value == '"' || value == '[' || value == '{'
	return bodyFields[squashed] || isText && !fileFields[squashed] && writesFiles(tool)
}

// writesFiles reports whether a tool, by its canonical name, writes what it is given into files.
func writesFiles(tool string) bool {
	said := strings.ReplaceAll(tool, "profile", "")
	has := func(word string) bool { return strings.Contains(said, word) }
	return fileTools[tool] || slices.ContainsFunc(fileNouns, has) && slices.ContainsFunc(writeVerbs, has)
}

// isSecret reports whether a member is secret by its name. A number under a name such as maxTokens says how many.
func (r *Redactor) isSecret(name, squashed string, value jsontext.Kind) bool {
	return r.fields[squashed] || namesSecret(name, squashed) && (value != '0' || !countsTokens(squashed))
}

// names reports whether a name that is a value itself is that of a secret.
func (r *Redactor) names(name string) bool { return name != "" && r.isSecret(name, squash(name), '"') }

func countsTokens(squashed string) bool { return strings.HasSuffix(squashed, "tokens") }

// namesSecret reports whether a name is one that secrets have: GITHUB_TOKEN, dbPassword, api_key.
func namesSecret(name, squashed string) bool {
	bare := unqualified(squashed)
	return endsInSecret(squashed) || len(bare) < len(squashed) && endsInSecret(bare) || endsInPass(name)
}

func endsInSecret(s string) bool {
	hasEnd := func(n string) bool { return strings.HasSuffix(s, n) }
	if s != "" && slices.ContainsFunc(secretNames[s[len(s)-1]], hasEnd) {
		return true
	}
	one, plural := strings.CutSuffix(s, "s")
	return plural && endsInSecret(one)
}

// unqualified leaves out numbers and one qualifier: DB_PASSWORD_PROD_2, tokenValue.
func unqualified(squashed string) string {
	s := strings.TrimRight(squashed, digits)
	if len(s) < len(squashed) {
		s = strings.TrimSuffix(s, "v") // TOKEN_V2
	}
	if s != "" {
		for _, q := range qualifiers[s[len(s)-1]] {
			if rest, ok := strings.CutSuffix(s, q); ok {
				return strings.TrimRight(rest, digits)
			}
		}
	}
	return s
}

// endsInPass is for DB_PASS and dbPass, but not for bypass.
func endsInPass(name string) bool {
	name = strings.TrimRight(name, digits+"_-")
	n := len(name) - len("pass")
	return n >= 0 && strings.EqualFold(name[n:], "pass") &&
		(n == 0 || strings.IndexByte("_-. ", name[n-1]) >= 0 || name[n] == 'P' && 'a' <= name[n-1] && name[n-1] <= 'z')
}

const digits = "0123456789"
