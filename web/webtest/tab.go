package webtest

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Look is what a tab is like.
type Look struct {
	Width, Height int
	Dark          bool
	Scale         float64 // pixels of a picture for each of the page; 0 means 1
}

// The looks that matter most.
var (
	Phone = Look{Width: 360, Height: 740, Scale: 2}
	Desk  = Look{Width: 1280, Height: 860}
)

// Tab is a page in the browser.
type Tab struct {
	b       *Browser
	session string
	person  string
	worker  chan string // the page's service worker, see [Tab.Push]

	mu       sync.Mutex
	requests []string
	troubles []string
}

// Person is a browser context: its tabs share cookies with each other and with
// no other. They end with the connection.
func (b *Browser) Person() string {
	b.t.Helper()
	var out struct {
		BrowserContextID string `json:"browserContextId"`
	}
	b.call("", "Target.createBrowserContext", map[string]any{"disposeOnDetach": true}, &out)
	return out.BrowserContextID
}

// Open opens a tab of a person.
func (b *Browser) Open(person string, l Look) *Tab {
	b.t.Helper()
	var target struct {
		TargetID string `json:"targetId"`
	}
	b.call("", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": person}, &target)
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	t := &Tab{b: b, session: attached.SessionID, person: person, worker: make(chan string, 1)}
	b.mu.Lock()
	b.tabs[t.session] = t
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		t.call(domain+".enable", nil, nil)
	}
	t.Resize(l)
	return t
}

// Resize makes the tab look otherwise.
func (t *Tab) Resize(l Look) {
	t.b.t.Helper()
	t.call("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": l.Width, "height": l.Height, "deviceScaleFactor": max(l.Scale, 1), "mobile": l.Width < 600,
	}, nil)
	scheme := "light"
	if l.Dark {
		scheme = "dark"
	}
	t.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"},
	}}, nil)
}

func (t *Tab) call(method string, params, into any) {
	t.b.t.Helper()
	t.b.call(t.session, method, params, into)
}

// heard notes what a tab asks the network for and what it complains about.
func (t *Tab) heard(m message) {
	t.registered(m)
	var p struct {
		Request struct {
			URL string `json:"url"`
		} `json:"request"`
		Entry struct {
			Level, Text string
		} `json:"entry"`
		Exception struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch m.Method {
	case "Network.requestWillBeSent":
		t.requests = append(t.requests, p.Request.URL)
	case "Log.entryAdded":
		if p.Entry.Level == "error" {
			t.troubles = append(t.troubles, p.Entry.Text)
		}
	case "Runtime.exceptionThrown":
		t.troubles = append(t.troubles, p.Exception.Text)
	}
}

// Foreign are the addresses it has asked that do not begin like this.
func (t *Tab) Foreign(origin string) (out []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, u := range t.requests {
		if !strings.HasPrefix(u, origin+"/") && u != "about:blank" {
			out = append(out, u)
		}
	}
	return out
}

// Troubles are what the browser has complained about: errors in scripts, what
// the content policy has stopped, answers that are errors.
func (t *Tab) Troubles() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.troubles...)
}

// Go opens an address and waits until it is there.
func (t *Tab) Go(url string) {
	t.b.t.Helper()
	t.call("Page.navigate", map[string]any{"url": url}, nil)
	t.Wait("the page is loaded", `location.href !== "about:blank" && document.readyState === "complete"`)
}

// Eval evaluates an expression in the page, and what it promises.
func (t *Tab) Eval(expression string, into any) {
	t.b.t.Helper()
	if fault := t.eval(expression, into); fault != "" {
		t.b.t.Fatalf("%s: %s", expression, fault)
	}
}

func (t *Tab) eval(expression string, into any) (fault string) {
	var out struct {
		Result struct {
			Value jsontext.Value `json:"value"`
		} `json:"result"`
		ExceptionDetails *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	params := map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}
	if fault := t.b.try(t.session, "Runtime.evaluate", params, &out); fault != "" {
		return fault
	}
	if e := out.ExceptionDetails; e != nil {
		return e.Text + " " + e.Exception.Description
	}
	if into == nil {
		return ""
	}
	if err := json.Unmarshal(out.Result.Value, into); err != nil {
		return err.Error()
	}
	return ""
}

// Wait waits until an expression is true. The page may be replaced meanwhile.
func (t *Tab) Wait(what, expression string) {
	t.b.t.Helper()
	until := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var yes bool
		fault := t.eval("!!("+expression+")", &yes)
		if yes && fault == "" {
			return
		}
		if time.Now().After(until) {
			var text string
			t.eval("document.body.innerText", &text)
			t.b.t.Fatalf("not within %s: %s %s\nThe page shows:\n%s", patience, what, fault, text)
		}
		<-tick.C
	}
}

// Text waits until the page shows a text.
func (t *Tab) Text(text string) {
	t.b.t.Helper()
	t.Wait(fmt.Sprintf("it shows %q", text), fmt.Sprintf("document.body.innerText.includes(%s)", quote(text)))
}

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // it is a string
	}
	return string(text)
}

// Click clicks with the mouse in the middle of an element, once that is there to
// be clicked: whatever lies over it gets the click.
func (t *Tab) Click(selector string) {
	t.b.t.Helper()
	find := "document.querySelector(" + quote(selector) + ")"
	t.Wait(selector+" can be clicked", find+" && !"+find+".closest('[inert]') && !"+find+".disabled")
	var at struct{ X, Y float64 }
	t.Eval("(() => { const e = "+find+"; e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2} })()", &at)
	for _, what := range []string{"mousePressed", "mouseReleased"} {
		t.call("Input.dispatchMouseEvent", map[string]any{"type": what, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// Type puts the focus on an element and types.
func (t *Tab) Type(selector, text string) {
	t.b.t.Helper()
	t.Click(selector)
	t.call("Input.insertText", map[string]any{"text": text}, nil)
}

// Insert types where the focus is.
func (t *Tab) Insert(text string) {
	t.b.t.Helper()
	t.call("Input.insertText", map[string]any{"text": text}, nil)
}

// Timezone puts the tab into another time zone.
func (t *Tab) Timezone(name string) {
	t.b.t.Helper()
	t.call("Emulation.setTimezoneOverride", map[string]any{"timezoneId": name}, nil)
}

// Press presses a key, such as Tab, Enter or a letter.
func (t *Tab) Press(key string) {
	t.b.t.Helper()
	code := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27}[key]
	down := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code}
	switch {
	case key == "Enter":
		down["text"] = "\r"
	case len(key) == 1:
		down["text"] = key
	}
	t.call("Input.dispatchKeyEvent", down, nil)
	t.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code}, nil)
}

// Shot takes a picture; whole takes all of the page and not only what fits.
func (t *Tab) Shot(path string, whole bool) {
	t.b.t.Helper()
	var out struct {
		Data string `json:"data"`
	}
	t.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": whole}, &out)
	raw, err := base64.StdEncoding.DecodeString(out.Data)
	if err == nil {
		err = os.WriteFile(path, raw, 0o644) //nolint:gosec // a picture for the docs
	}
	if err != nil {
		t.b.t.Fatal(err)
	}
}
