package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"github.com/openclaw-verifier/verifier/internal/files"
)

const (
	// terminalPlugin is the plugin that asks at opencode's terminal, as its config names it.
	terminalPlugin = "./verifier-tui.js"
	pluginMember   = "\n  \"plugin\": [\"" + terminalPlugin + "\"]"
	onlyOurPlugin  = "{" + pluginMember + "\n}\n"
)

// wireOpencodeTerminal lets opencode's terminal ask, too: a plugin of its own, and an entry in tui.json, all else of which stays as it is. A tui.json that
// is not plain JSON is left alone; the call waits for the phone then.
func wireOpencodeTerminal(a *app, path string, remove bool) error {
	dir := filepath.Dir(filepath.Dir(path))
	plugin, config := filepath.Join(dir, terminalPlugin), filepath.Join(dir, "tui.json")
	old, err := os.ReadFile(config)
	switch {
	case errors.Is(err, fs.ErrNotExist) && remove:
		err = nil
	case errors.Is(err, fs.ErrNotExist):
		err = replaceFile(config, []byte(onlyOurPlugin))
	case err == nil:
		err = changeTerminalConfig(a, config, old, remove)
	}
	if err != nil {
		return err
	}
	return replaceOrRemove(plugin, opencodeTerminal, remove)
}

func changeTerminalConfig(a *app, config string, old []byte, remove bool) error {
	text, ok := withPlugin(old)
	if remove {
		text, ok = withoutPlugin(config, old)
	}
	switch {
	case !ok:
		a.printf("Not changed: %s is not plain JSON, or no object with a list of plugins. Add %q to its \"plugin\" by hand, or take it out. Without it you answer on your phone.\n", config, terminalPlugin)
		return nil
	case bytes.Equal(text, old):
		return nil
	case text == nil:
		return os.Remove(config)
	}
	kept, err := changeFile(config, old, text)
	if err != nil {
		return err
	}
	a.printf("Wrote %s. As it was: %s.\n", config, kept)
	return nil
}

// changeFile replaces a file whole, keeps its mode and its owner, and keeps a copy of it as it was, of the same mode and owner. A link stays one.
func changeFile(path string, old, text []byte) (kept string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", &failure{path + " can't be read: " + err.Error(), "it is as it was"}
	}
	kept, err = keepBeside(path, old, info)
	if err != nil {
		return "", err
	}
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		err = files.Replace(target, text, info.Mode().Perm(), info)
	}
	if err != nil {
		return "", &failure{path + " can't be written: " + err.Error(), "it is as it was, and " + kept + " is a copy of it"}
	}
	return kept, nil
}

// keepBeside keeps a file as it was, where nothing is lost by it. A copy that is the same is enough.
func keepBeside(path string, text []byte, as os.FileInfo) (string, error) {
	var copies []string
	for _, end := range []string{"", "-2", "-3", "-4", "-5"} {
		kept := path + ".before-verifier" + end
		f, err := os.OpenFile(kept, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, os.ErrExist) {
			if isCopy(kept, text) {
				return kept, nil
			}
			copies = append(copies, kept)
			continue
		}
		if err == nil {
			_, err = f.Write(text)
			if err = errors.Join(err, files.Give(f, as), f.Chmod(as.Mode().Perm()), f.Close()); err != nil {
				_ = os.Remove(kept) // half a copy is none
			}
		}
		if err != nil {
			return "", &failure{kept + " can't be written: " + err.Error(), path + " is as it was: it is changed only where a copy can be kept"}
		}
		return kept, nil
	}
	return "", &failure{path + " is as it was: five older copies of it are there, and no other is kept", "delete those that you don't need: " + strings.Join(copies, ", ")}
}

func isCopy(path string, text []byte) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	there, err := os.ReadFile(path)
	return err == nil && bytes.Equal(there, text)
}

// withPlugin is a tui.json with our plugin in it.
func withPlugin(file []byte) (text []byte, ok bool) {
	if len(file) == 0 {
		return []byte(onlyOurPlugin), true
	}
	l, ok := pluginsOf(file)
	switch {
	case !ok:
		return nil, false
	case l.ours() >= 0:
		return file, true
	case !l.found && l.empty:
		return slices.Insert(slices.Clone(file), l.at, []byte(pluginMember)...), true
	case !l.found:
		return slices.Insert(slices.Clone(file), l.at, []byte(pluginMember+",")...), true
	case len(l.items) == 0:
		return slices.Insert(slices.Clone(file), l.at, []byte(`"`+terminalPlugin+`"`)...), true
	}
	return slices.Insert(slices.Clone(file), l.items[len(l.items)-1].end, []byte(`, "`+terminalPlugin+`"`)...), true
}

// withoutPlugin is a tui.json as it was before our plugin came in, or nil where there was none. What has changed since stays.
func withoutPlugin(config string, file []byte) (text []byte, ok bool) {
	if len(file) == 0 {
		return file, true
	}
	for _, end := range []string{"", "-2", "-3", "-4", "-5"} {
		before, err := os.ReadFile(config + ".before-verifier" + end)
		if err != nil {
			continue
		}
		if now, ok := withPlugin(before); ok && bytes.Equal(now, file) && !bytes.Equal(before, file) {
			return before, true
		}
	}
	if string(file) == onlyOurPlugin {
		return nil, true
	}
	for {
		l, ok := pluginsOf(file)
		i := l.ours()
		switch {
		case !ok:
			return nil, false
		case i < 0:
			return file, true
		case i > 0:
			file = slices.Delete(slices.Clone(file), l.items[i-1].end, l.items[i].end)
		case len(l.items) > 1:
			file = slices.Delete(slices.Clone(file), l.items[0].start, l.items[1].start)
		default:
			file = slices.Delete(slices.Clone(file), l.items[0].start, l.items[0].end)
		}
	}
}

// plugins is where a tui.json names its plugins.
type plugins struct {
	at    int  // behind the bracket of the list, or behind that of the object where there is no list
	empty bool // the object has no members
	found bool // there is a list
	items []pluginAt
}

type pluginAt struct {
	start, end int
	ours       bool
}

// ours is the place of our plugin in the list, or -1.
func (p *plugins) ours() int {
	return slices.IndexFunc(p.items, func(i pluginAt) bool { return i.ours })
}

// pluginsOf reports false for a file that is not one JSON object, or whose plugins are no list.
func pluginsOf(file []byte) (p plugins, ok bool) {
	if !jsontext.Value(file).IsValid() { // no comments, and each name once
		return p, false
	}
	all, err := hujson.Parse(file)
	object, ok := all.Value.(*hujson.Object)
	if err != nil || !ok {
		return p, false
	}
	p.at, p.empty = all.StartOffset+1, len(object.Members) == 0
	for _, m := range object.Members {
		if name, ok := m.Name.Value.(hujson.Literal); !ok || name.String() != "plugin" {
			continue
		}
		list, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			return p, false
		}
		p.at, p.found = m.Value.StartOffset+1, true
		for _, e := range list.Elements {
			name, ok := e.Value.(hujson.Literal)
			p.items = append(p.items, pluginAt{e.StartOffset, e.EndOffset, ok && name.String() == terminalPlugin})
		}
	}
	return p, true
}
