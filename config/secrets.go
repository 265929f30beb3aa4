package config

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// SecretTexts are the values of all secrets in the config, those of the chats and
// the store's password included, so that they can be hidden wherever they turn up.
func (c *Config) SecretTexts() []string {
	var out []string
	collectSecrets(reflect.ValueOf(c).Elem(), &out)
	if c.Store.URL.Set() {
		out = append(out, passwordIn(c.Store.URL.Reveal())...)
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// collectSecrets looks at all exported fields, so that no new one is forgotten.
func collectSecrets(v reflect.Value, out *[]string) {
	switch is := v.Interface().(type) {
	case Secret:
		*out = append(*out, is.text)
		return
	case Raw:
		*out = append(*out, is.secrets()...)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				collectSecrets(v.Field(i), out)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			collectSecrets(v.Index(i), out)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			collectSecrets(v.MapIndex(key), out)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			collectSecrets(v.Elem(), out)
		}
	default: // no other kind holds a Secret
	}
}

// secrets are the texts under keys that are named like secrets, at any depth.
func (r Raw) secrets() (out []string) {
	if r.s.node == nil {
		return nil
	}
	for _, e := range entries(r.s.node) {
		key, _ := keyText(e.Key)
		at := Raw{s: spot{key: e.Key.GetToken(), node: e.Value}, d: r.d}
		if _, ok := stringOf(e.Value); !ok {
			out = append(out, at.secrets()...)
			continue
		}
		var text string
		if namesSecret(key) && at.Decode(&text) == nil {
			out = append(out, text)
		}
	}
	return out
}

func namesSecret(key string) bool {
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.HasSuffix(strings.ToLower(key), w) })
}

// passwordIn is the password in an address, as it is written there and as it is.
func passwordIn(address string) []string {
	_, rest, _ := strings.Cut(address, "://")
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return nil
	}
	_, password, found := strings.Cut(rest[:at], ":")
	if !found {
		return nil
	}
	plain, err := url.PathUnescape(password)
	if err != nil {
		plain = password
	}
	return []string{password, plain}
}
