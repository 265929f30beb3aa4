package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
)

// unvouched is a run that nobody vouches for: every acting call is asked about.
func unvouched(session string) map[string]any {
	return map[string]any{"sessionKey": "agent:main:" + session}
}

func TestH29NoSecretReachesAnyOutput(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a9c51d2e84b60"
	onBoth(t, nil, func(t *testing.T, r *rig) {
		var said strings.Builder
		codes := map[string]bool{}
		for i, params := range []string{
			`{"path":"a.txt","content":"db_password = \"` + canary + `\"\n"}`,
			`{"path":"a.txt","edits":[{"oldText":"API_KEY=` + canary + `","newText":"x"}]}`,
			`{"headers":{"Authorization":"Bearer ` + canary + `"},"db_password":"` + canary + `"}`,
			`{"nested":[{"api_key":"` + canary + `"}],"contentBase64":"` + base64.StdEncoding.EncodeToString([]byte("api_key="+canary)) + `"}`,
		} {
			held := r.hold(call{tool: "write", params: params, context: unvouched(fmt.Sprint("s", i))})
			card := r.waits()
			codes[card.code(t)] = true
			if i%2 == 0 {
				r.approve(card.Ref, 30)
			} else {
				r.reply(".deny " + card.code(t) + " because of " + card.code(t))
			}
			said.WriteString((<-held).raw + "\n")
			if strings.Contains(card.Text, canary) {
				t.Errorf("the card shows a hidden value:\n%s", card.Text)
			}
		}
		key, err := r.state.ServerKey()
		if err != nil {
			t.Fatal(err)
		}
		secrets := []string{canary, r.secret, r.token, hex.EncodeToString(key), string(key), ".approve", ".deny"}
		for c := range codes {
			secrets = append(secrets, c)
		}
		for place, text := range map[string]string{"answers": said.String(), "log": r.log.String(), "record": r.record(), "metrics": r.page("/metrics"), "health": r.page("/readyz")} {
			for _, s := range secrets {
				for form, v := range map[string]string{"plain": s, "base64": base64.StdEncoding.EncodeToString([]byte(s)), "hex": hex.EncodeToString([]byte(s))} {
					if strings.Contains(text, v) {
						t.Errorf("the %s hold %q (%s)", place, s, form)
					}
				}
			}
		}
		if strings.Contains(r.screen.String(), canary) || strings.Contains(r.screen.String(), r.token) || strings.Contains(r.screen.String(), r.secret) {
			t.Error("the terminal shows a secret")
		}
	})
}

// page is what anybody can read.
func (r *rig) page(path string) string {
	r.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	text := string(exchange(r.t, client, req).body)
	if text == "" {
		r.t.Fatalf("%s: nothing", path)
	}
	return text
}

// record is the whole record as it stands on disk.
func (r *rig) record() string {
	r.t.Helper()
	text, err := os.ReadFile(r.state.Record())
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}
