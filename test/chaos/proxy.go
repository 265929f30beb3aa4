package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"time"

	"github.com/go-json-experiment/json"
)

// toxiproxy is its server, and what one asks of it.
type toxiproxy struct {
	*process
	url string
}

func openToxiproxy(ctx context.Context, binary, dir string) (*toxiproxy, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	t := &toxiproxy{url: "http://" + local(port)}
	t.process = &process{name: "toxiproxy", log: dir + "/toxiproxy.log", make: func() *exec.Cmd {
		return exec.Command(binary, "-host", "127.0.0.1", "-port", fmt.Sprint(port)) //nolint:noctx // see end
	}}
	if err := t.start(); err != nil {
		return nil, err
	}
	there := func() error { return t.ask(http.MethodGet, "/version", nil) }
	return t, eventually(ctx, 10*time.Second, "toxiproxy answers", there)
}

// ask calls the API.
func (t *toxiproxy) ask(method, path string, in any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	// It waits for what still flows, also to a part that is stopped.
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, t.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("toxiproxy: %s %s: %s: %s", method, path, res.Status, text)
	}
	return err
}

// proxy is one way between two parts.
type proxy struct {
	t    *toxiproxy
	name string
	addr string
}

// between opens a way to upstream.
func (t *toxiproxy) between(name string, listen int, upstream string) (*proxy, error) {
	in := map[string]any{"name": name, "listen": local(listen), "upstream": upstream, "enabled": true}
	return &proxy{t: t, name: name, addr: local(listen)}, t.ask(http.MethodPost, "/proxies", in)
}

// cut refuses connections and breaks those that are there, until undo.
func (p *proxy) cut() (undo func() error, err error) {
	enable := func(on bool) error {
		return p.t.ask(http.MethodPost, "/proxies/"+p.name, map[string]any{"enabled": on})
	}
	return func() error { return enable(true) }, enable(false)
}

// poison adds a toxic in both directions, until undo.
func (p *proxy) poison(kind string, attributes map[string]any) (undo func() error, err error) {
	each := func(do func(way string) error) error { return errors.Join(do("upstream"), do("downstream")) }
	toxics := "/proxies/" + p.name + "/toxics"
	undo = func() error {
		return each(func(way string) error { return p.t.ask(http.MethodDelete, toxics+"/"+kind+"-"+way, nil) })
	}
	return undo, each(func(way string) error {
		in := map[string]any{"name": kind + "-" + way, "type": kind, "stream": way, "attributes": attributes}
		return p.t.ask(http.MethodPost, toxics, in)
	})
}

// mute lets nothing arrive, until undo.
func (p *proxy) mute() (undo func() error, err error) {
	return p.poison("timeout", map[string]any{"timeout": 0})
}

// eventually tries until it works.
func eventually(ctx context.Context, most time.Duration, what string, try func() error) error {
	deadline, tick := time.After(most), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("not within %v: %s: %w", most, what, err)
		case <-tick.C:
		}
	}
}
