package channeltest

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// looksSpecs say that what is read is what runs.
func looksSpecs() []spec {
	return []spec{
		{"H37 formatting, links and mentions are literal text", func(b *bench) {
			r := newRig(b, b.platform, nil)
			r.ask(r.desk, call{tool: "message", params: formatting, edit: func(a *approval.Ask) {
				a.Agent, a.Started, a.Said = "<b>@main</b>", "*@here*", []string{"[x](https://evil.example) @everyone"}
				a.Why = []string{"Web content was read (web_fetch https://evil.example/@channel)."}
				a.Reasons = []string{"You never mentioned <@U333> https://evil.example/@channel."}
			}})
			m := r.card(0)
			var params map[string]string
			if err := json.Unmarshal([]byte(formatting), &params); err != nil {
				b.Fatal(err)
			}
			for _, want := range append(strings.Split(params["message"], "\n"), params["to"], "`*_~|<>@#[]()", "[x](https://evil.example) @everyone", "You never mentioned <@U333> https://evil.example/@channel.", "Send a message to @everyone") {
				if !strings.Contains(m.Text, want) {
					b.Errorf("not literally there: %q in\n%s", want, m.Text)
				}
			}
			r.tap(r.who.Alice, m, "More…")
			d := r.details(m)
			for _, want := range []string{"<b>@main</b>", "*@here*", "web_fetch https://evil.example/@channel"} {
				if !strings.Contains(everything(d), want) {
					b.Errorf("not literally there: %q in\n%s", want, everything(d))
				}
			}
			if len(m.Active) > 0 || len(d.Active) > 0 {
				b.Errorf("links, mentions or previews: %q %q", m.Active, d.Active)
			}
			if !slices.ContainsFunc(m.Mono, func(s string) bool { return strings.Contains(s, "```") }) {
				b.Errorf("the message is not monospace: %q", m.Mono)
			}
			r.tap(r.who.Alice, m, "Allow once")
			if settled := r.turns(m, "Approved"); len(settled.Active) > 0 {
				b.Errorf("links, mentions or previews on the outcome: %q", settled.Active)
			}
		}},
		{"H37 a reason with formatting is literal text", func(b *bench) {
			r := newRig(b, b.platform, nil)
			r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			const reason = "<b>no</b> *no* `x` @everyone <@U333> https://evil.example"
			r.p.Say(b, r.who.Alice, Place{Direct: true}, ".deny "+r.codeOf(m)+" "+reason)
			if settled := r.turns(m, "Denied", reason); len(settled.Active) > 0 {
				b.Errorf("links, mentions or previews: %q", settled.Active)
			}
		}},
		{"H38 what can't be seen is shown by its number, and takes no single tap", func(b *bench) {
			r := newRig(b, b.platform, nil)
			r.ask(r.desk, call{tool: "exec", params: command("ls\u202e fr- mr\u202c\u200b \x1b[31m")})
			m := r.card(0)
			for _, want := range []string{"⟨U+202E⟩", "⟨U+200B⟩", "⟨U+001B⟩", "NOT FULLY VISIBLE"} {
				if !strings.Contains(m.Text, want) {
					b.Errorf("no %q in\n%s", want, m.Text)
				}
			}
			noOneTap(r, m)
		}},
		{"H39 a long command shows head, tail and length, and the whole beside it", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, call{tool: "exec", params: command("echo " + strings.Repeat("harmless ", 11_000) + "; rm -rf ~")})
			m := r.card(0)
			for _, want := range []string{"echo harmless", "; rm -rf ~", "characters not shown", "NOT FULLY VISIBLE"} {
				if !strings.Contains(m.Text, want) {
					b.Errorf("no %q in\n%s", want, m.Text)
				}
			}
			noOneTap(r, m)
			r.until("the whole is attached", func() bool {
				for _, x := range r.p.Messages() {
					for _, f := range x.Files {
						if strings.Count(f.Text, "harmless") >= 11_000 && strings.Contains(f.Text, "rm -rf ~") {
							return true
						}
					}
				}
				return false
			})
			r.tap(r.who.Alice, m, "More…")
			d := r.details(m)
			if !strings.Contains(everything(d), "rm -rf ~") || strings.Count(everything(d), "harmless") < 11_000 {
				b.Error("the details are not whole")
			}
			r.tap(r.who.Alice, d, "Allow once")
			if got := r.get(v); !got.Yes {
				b.Errorf("got %+v", got)
			}
			r.turns(m, "Approved")
		}},
		{"H39 padding hides nothing", func(b *bench) {
			r := newRig(b, b.platform, nil)
			for i, pad := range []string{strings.Repeat(" ", 5000), strings.Repeat("\n", 5000)} {
				r.ask(r.desk, call{tool: "exec", params: command("ls" + pad + "; rm -rf ~")})
				m := r.card(i)
				if !strings.Contains(m.Text, "; rm -rf ~") || !strings.Contains(m.Text, "⟨5000 ") {
					b.Errorf("the card:\n%s", m.Text)
				}
				noOneTap(r, m)
			}
		}},
		{"H41 a redacted call is marked and gets no lasting yes", func(b *bench) {
			r := newRig(b, b.platform, nil)
			v := r.ask(r.desk, call{tool: "write", params: `{"path":"/etc/motd","content":"[REDACTED: 1830 chars]"}`, edit: func(a *approval.Ask) {
				a.Hidden = 1
				a.Lasting, _ = channels.FullyVisible(a)
			}})
			m := r.card(0)
			if !strings.Contains(m.Text, "1 value is hidden") || !strings.Contains(m.Text, "[REDACTED: 1830 chars]") {
				b.Errorf("the card:\n%s", m.Text)
			}
			noOneTap(r, m)
			r.answered(r.p.Say(b, r.who.Alice, Place{Direct: true}, ".approve write "+r.codeOf(m)+" 30"))
			if got := r.get(v); !got.Yes || got.Scope.Lasting() {
				b.Errorf("got %+v", got)
			}
		}},
	}
}

// noOneTap looks that nothing on a card allows.
func noOneTap(r *rig, m Message) {
	r.Helper()
	for _, b := range m.Buttons {
		if strings.HasPrefix(b.Label, "Allow") {
			r.Errorf("there is a button %q", b.Label)
		}
	}
	if len(m.Buttons) == 0 {
		r.Error("there is no button at all")
	}
}
