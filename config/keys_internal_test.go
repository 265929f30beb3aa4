package config

import (
	"encoding"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openclaw-verifier/verifier/taint"
)

// The table of keys in docs/configuration.md has every key that the decoder takes, and no other; one that only holds
// others needs no line. What [Default] says stands there as the default.
func TestDocsTheTableHasEveryKey(t *testing.T) {
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "<!-- keys -->\n")
	table, _, closed := strings.Cut(rest, "<!-- end of keys -->\n")
	if !closed {
		t.Fatal("docs/configuration.md has lost the lines around its table of keys")
	}
	platform := regexp.MustCompile(`^approvers\[\]\.(telegram|discord|slack)$`) // they are in no type
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*?) \\| ").FindAllStringSubmatch(table, -1) {
		if !platform.MatchString(row[1]) {
			listed = append(listed, row[1])
		}
		if want, ok := defaultAt(row[1]); ok && row[2] != fmt.Sprintf("`%v`", want) {
			t.Errorf("docs/configuration.md: the default of %s is `%v`, not %s", row[1], want, row[2])
		}
	}
	read := slices.DeleteFunc(pathsOf("", reflect.TypeFor[Config]()), func(key string) bool {
		return !slices.Contains(listed, key) && slices.ContainsFunc(listed, func(other string) bool {
			return strings.HasPrefix(other, key+".") || strings.HasPrefix(other, key+"[]")
		})
	})
	slices.Sort(listed)
	slices.Sort(read)
	if diff := cmp.Diff(read, listed); diff != "" {
		t.Errorf("the table of keys in docs/configuration.md differs from what is read (-read +table):\n%s", diff)
	}
}

// defaultAt is what [Default] holds at a path, as one would write it. A zero is
// no default but the absence of one, unless it is a switch that is off.
func defaultAt(path string) (any, bool) {
	v := reflect.ValueOf(Default()).Elem()
	for part := range strings.SplitSeq(path, ".") {
		if v.Kind() != reflect.Struct {
			return nil, false
		}
		at, ok := fieldsOf(v.Type())[part]
		if !ok {
			return nil, false
		}
		v = v.FieldByIndex(at)
	}
	switch d, span := v.Interface().(time.Duration); {
	case v.IsZero() && v.Kind() != reflect.Bool:
		return nil, false
	case span:
		return brief(d), true
	case v.Kind() == reflect.String:
		return v.String(), true
	case v.Kind() == reflect.Bool:
		return v.Bool(), true
	case v.CanInt():
		return v.Int(), true
	}
	return nil, false
}

// pathsOf are the paths of all keys at and below a type, as the decoder reads it.
func pathsOf(path string, t reflect.Type) (out []string) {
	switch {
	case t == secretType, t == rawType, reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return nil
	case t.Kind() == reflect.Pointer:
		return pathsOf(path, t.Elem())
	case t.Kind() == reflect.Map && (t.Key() == reflect.TypeFor[taint.Level]()):
		return nil // said once for all levels
	case t.Kind() == reflect.Map:
		return pathsOf(path+".<id>", t.Elem())
	case t.Kind() == reflect.Slice:
		return pathsOf(path+"[]", t.Elem())
	case t.Kind() != reflect.Struct:
		return nil
	}
	for name, at := range fieldsOf(t) {
		key := strings.TrimPrefix(path+"."+name, ".")
		f := t.FieldByIndex(at)
		if f.Type != reflect.TypeFor[*taint.Mode]() { // the key above says it for every level
			out = append(append(out, key), pathsOf(key, f.Type)...)
		}
	}
	return out
}

// brief writes a duration as people do: 5m and not 5m0s.
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
