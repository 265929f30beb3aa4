package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// mostReasons is how many reasons a card gives. [Verdict.Why] has the whole path.
const mostReasons = 2

// Reasons say in plain words why a person is asked, the worst first, two at most. The caller passes whom and what the
// user never mentioned, as far as that may be shown: see [Plan.Strangers] and [Plan.Unmentioned].
func (pl *Plan) Reasons(v *Verdict, view *session.View, strangers, hosts []string) (out []string) {
	type reason struct {
		rank int
		text string
	}
	var all []reason
	if len(strangers) > 0 {
		all = append(all, reason{ofStrangers, "You never mentioned " + some(strangers) + "."})
	}
	if len(hosts) > 0 {
		all = append(all, reason{ofStrangers, "Your request doesn't mention " + some(hosts) + "."})
	}
	for i := range v.Why {
		if rank := ranks[v.Why[i].Rule]; rank > 0 {
			all = append(all, reason{rank, pl.reason(v, view, &v.Why[i])})
		}
	}
	slices.SortStableFunc(all, func(a, b reason) int { return a.rank - b.rank })
	for _, r := range all {
		if len(out) < mostReasons && r.text != "" && !slices.Contains(out, r.text) {
			out = append(out, r.text)
		}
	}
	return out
}

// some names the first of a list, and how many there are.
func some(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return list[0] + " and " + strconv.Itoa(len(list)-1) + " more"
}

// ranks order the rules by how much their reason tells a person who decides; that of a cap says what a yes does. A rule
// that is not here tells nothing that another doesn't.
var ranks = map[string]int{
	"run-cap": 1, "iterations": 1, secretsRule: 3, settingsRule: 3, agentRule: 3, inputRule: 3, longRule: 3,
	lethalTrifecta: 4, "policy": 6, "dangerous": 7, rogueAction: 8, "command": 9, "level": 10, blindRule: 10,
	"override": 11, "agent": 11, "taintPolicy": 12, escalation: 12, "closed": 12,
}

// ofStrangers is the rank of what the user never mentioned.
const ofStrangers = 2

// reason is a step in plain words; "" where another says the same.
func (pl *Plan) reason(v *Verdict, view *session.View, s *Step) string {
	tool := pl.rule.called()
	what, clause := pl.came(v.Level, view)
	switch s.Rule {
	case rogueAction:
		switch {
		case what == "" || s.Text == unknownText:
			return s.Text
		case clause:
			return what + ", and the agent now wants to act."
		}
		return what + " and now wants to act."
	case "level":
		switch {
		case view.Lost:
			return "The store has lost what it knew, so nothing here is trusted."
		case v.Level < external || slices.ContainsFunc(v.Why, func(o Step) bool { return o.Rule == rogueAction }):
			return ""
		case what != "":
			return what + "."
		}
		return "The agent has read outside content."
	case "dangerous":
		return tool + " " + pl.rule.reason + ", so you are asked each time."
	case "taintPolicy", escalation, "closed", "override", "agent":
		switch {
		case s.Mode != confirm:
			return ""
		case s.Rule == "override":
			return "Your policy asks before " + tool + "."
		case s.Rule != "agent" && pl.rule.known:
			return "Your policy asks before " + tool + " in " + v.Level.String() + " conversations."
		}
	}
	return s.Text
}

// came says what made the level what it is: "The agent fetched example.com 2 calls ago". It may be a clause about who
// started the run, and is empty where that is not known.
func (pl *Plan) came(level taint.Level, view *session.View) (what string, clause bool) {
	label, ago := "", ""
	switch {
	case view.Worst.Label != "" && view.Worst.Level == level:
		label = view.Worst.Label
		if calls := view.Step - view.Worst.Step; calls == 1 {
			ago = " 1 call ago"
		} else if calls > 1 {
			ago = " " + strconv.FormatInt(calls, 10) + " calls ago"
		}
	case pl.Initiator.Level == level || pl.Birth == level:
		label = pl.Initiator.Why
	}
	tool, place, _ := strings.Cut(label, " ")
	did := past[tool]
	switch {
	case label == "":
		return "", false
	case label == pl.Initiator.Why || slices.Contains([]string{"the", "someone", "this"}, tool): // who started the run
		return strings.ToUpper(label[:1]) + label[1:] + ago, true
	case did == "ran a command" && place != "":
		did += " that read " + place
	case did == "ran a command" && level >= external:
		did += " that read outside content"
	case strings.HasSuffix(did, " ") && place != "":
		did += place
	case did == "" || strings.HasSuffix(did, " "):
		did = "used " + label
	}
	return "The agent " + did + ago, false
}

// past is what the agent did with a tool; a blank at the end asks for a place.
var past = map[string]string{
	"web_search": "searched the web", "x_search": "searched the web", "web_fetch": "fetched ", "browser": "fetched ",
	"exec": "ran a command", "process": "ran a command", "terminal": "ran a command", "code_execution": "ran a command",
	"nodes": "ran a command", "read": "read ", "read_file": "read ", "pdf": "read ", "image": "read ",
	"view_image": "read ", "file_fetch": "read ",
}
