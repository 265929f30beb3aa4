package channels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
)

// headlineWidth is how many columns of foreign text the first line of a card has: it has to fit a lock screen.
const headlineWidth = 90

// Headline is what a call does, in words and in one line: "Send a message to bob@example.org". It may shorten, so it is never the only
// place where a value appears: the literal call follows it.
type Headline struct {
	Says string // our words
	Of   string // what the call says, through [Safe] and perhaps shortened; may be empty
	Then string // our words again; may be empty
}

// String is the headline as one text.
func (h Headline) String() string {
	return strings.Join(slices.DeleteFunc([]string{h.Says, h.Of, h.Then}, func(s string) bool { return s == "" }), " ")
}

// sentence is how the headline of a tool is made.
type sentence struct {
	says  string   // before what its arguments say
	slots []string // arguments, each by the names that it may have, the first that is there
	alone string   // instead of both, where no argument is there
}

// Names of arguments that many tools share.
const (
	ofPath = "path file_path filePath file"
	ofWhom = "target to recipient recipients targets channel channelId chatId userId user groupId conversationRef sessionKey"
)

// sentences are those of the shipped tools. A test holds them against the policy's table.
var sentences = map[string]sentence{
	"read":        {"Read", []string{ofPath}, "Read a file"},
	"read_file":   {"Read", []string{ofPath}, "Read a file"},
	"write":       {"Write", []string{ofPath}, "Write a file"},
	"edit":        {"Change", []string{ofPath}, "Change a file"},
	"apply_patch": {"Change", []string{ofPath}, "Change files"},
	"ls":          {"List", []string{ofPath}, "List a directory"},

	"exec":           {"Run:", []string{"command cmd script"}, "Run a command"},
	"process":        {"Running command:", []string{"action", "data text"}, "Control a running command"},
	"terminal":       {"Terminal:", []string{"action", "data"}, "Type into a terminal"},
	"code_execution": {"Run code on a service's machine:", []string{"task code"}, "Run code on a service's machine"},
	"nodes":          {"On your device:", []string{"action", "node", "invokeCommand"}, "Do something on your device"},
	"computer":       {"On your desktop:", []string{"action", "app text"}, "Click or type on your desktop"},
	"mobile_ui":      {"On your phone:", []string{"action"}, "Tap or type on your phone"},
	"node_inference": {"Ask a model on your device:", []string{"prompt action"}, "Ask a model on your device"},
	"file_fetch":     {"Read from your device:", []string{ofPath}, "Read a file from your device"},
	"file_write":     {"Write on your device:", []string{ofPath}, "Write a file on your device"},
	"dir_list":       {"List on your device:", []string{ofPath}, "List a directory of your device"},
	"dir_fetch":      {"Read from your device the directory", []string{ofPath}, "Read a directory of your device"},

	"exec_open":      {"Run, and keep it running:", []string{"command cmd"}, "Run a command and keep it running"},
	"open_shell":     {"Open a shell:", []string{"command cmd"}, "Open a shell"},
	"command_output": {"Look at a running command:", []string{"bash_id shell_id id"}, "Look at a running command"},
	"command_stop":   {"Stop a running command:", []string{"shell_id bash_id id"}, "Stop a running command"},
	"glob":           {"Find files:", []string{"pattern", ofPath}, "Find files"},
	"grep":           {"Search files for", []string{"pattern query", ofPath}, "Search files"},
	"notebook_edit":  {"Change the notebook", []string{"notebook_path " + ofPath}, "Change a notebook"},
	"plan_mode":      {alone: "Begin or end planning"},
	"skill":          {"Use the skill", []string{"skill name command"}, "Use a skill"},
	"task":           {"Start another agent:", []string{"description prompt"}, "Start another agent"},
	"todo":           {alone: "Write its list of things to do"},

	"web_fetch":              {"Fetch", []string{"url"}, "Fetch a page"},
	"web_search":             {"Search the web for", []string{"query q"}, "Search the web"},
	"x_search":               {"Search posts for", []string{"query"}, "Search posts"},
	"browser":                {"In the browser:", []string{"action", "targetUrl url"}, "Use the browser"},
	"canvas":                 {"On your screen:", []string{"action", "url target"}, "Show something on your screen"},
	"portal":                 {"A way in from outside:", []string{"action", "port path"}, "Open a way in from outside"},
	"webhook":                {"Call the webhook", []string{"url"}, "Call a webhook"},
	"show_widget":            {"Show on your screen:", []string{"title name"}, "Show a page on your screen"},
	"github_publish":         {"Publish a pull request:", []string{"title"}, "Publish a pull request"},
	"github_identity_status": {alone: "Look up which GitHub account is connected"},

	"message":            {"Send a message to", []string{ofWhom}, "Send a message"},
	"conversations_send": {"Send a message to", []string{ofWhom}, "Send a message"},
	"conversations_turn": {"Send a message and read the answer:", []string{ofWhom}, "Send a message and read the answer"},
	"conversations_list": {alone: "List conversations"},
	"email":              {"Send an email to", []string{ofWhom}, "Read or send email"},
	"send_email":         {"Send an email to", []string{ofWhom}, "Send an email"},
	"slack_post":         {"Post on Slack to", []string{"channel user to"}, "Post on Slack"},
	"contacts_lookup":    {"Look up the contact", []string{"name query"}, "Look up a contact"},
	"calendar_list":      {alone: "Read your calendar"},
	"calendar_create":    {"Add to your calendar:", []string{"title", "attendees attendee participants guests"}, "Add to your calendar"},
	"calendar_delete":    {"Delete from your calendar:", []string{"title id eventId event_id"}, "Delete from your calendar"},
	"transcripts":        {"Meeting transcripts:", []string{"action"}, "Read or record a meeting"},
	"ask_user":           {alone: "Ask you a question"},
	"heartbeat_respond":  {"Report:", []string{"outcome summary"}, "Report how it is going"},
	"suggest_task":       {"Suggest the task", []string{"title"}, "Suggest a task"},
	"dismiss_task":       {"Withdraw the task", []string{"task_id"}, "Withdraw a task"},

	"progress_card": {alone: "Show how far the work is"},
	"dashboard":     {"Dashboard:", []string{"action", "title name"}, "Change the dashboard"},
	"screen":        {"Your windows:", []string{"action"}, "Arrange your windows"},
	"theme":         {"Colours and fonts:", []string{"action"}, "Change colours and fonts"},
	"talk_voice":    {"Voice of the call:", []string{"action", "voice"}, "Change the voice of a call"},

	"sessions_spawn":    {"Start another agent:", []string{"task"}, "Start another agent"},
	"sessions_send":     {"Send to another session:", []string{"sessionKey label agentId"}, "Send to another session"},
	"sessions":          {"Sessions:", []string{"action", "sessionKey name"}, "Manage sessions"},
	"sessions_list":     {alone: "List sessions"},
	"sessions_history":  {"Read the session", []string{"sessionKey sessionId"}, "Read another session"},
	"sessions_search":   {"Search all sessions for", []string{"query"}, "Search all sessions"},
	"sessions_yield":    {alone: "End the turn and wait for other agents"},
	"session_status":    {"Show the status of", []string{"sessionKey"}, "Show the session's status"},
	"subagents":         {"Agents it started:", []string{"action", "taskId"}, "Steer agents it started"},
	"agents_list":       {alone: "List agents"},
	"agents_wait":       {alone: "Wait for other agents"},
	"structured_output": {alone: "Hand its result to the agent that started it"},
	"get_goal":          {alone: "Read the session's goal"},
	"create_goal":       {"Set the session's goal:", []string{"objective"}, "Set the session's goal"},
	"update_goal":       {"Update the session's goal:", []string{"status"}, "Update the session's goal"},
	"intent":            {"Reminder for later:", []string{"action", "description id"}, "Set a reminder for later"},
	"automations":       {"Scheduled job:", []string{"action", "job.name id"}, "Change scheduled jobs"},

	"memory_search":   {"Search its memory for", []string{"query"}, "Search its memory"},
	"memory_get":      {"Read from its memory:", []string{ofPath}, "Read from its memory"},
	"vestige_search":  {"Search shared memory for", []string{"query"}, "Search shared memory"},
	"vestige_promote": {"Rank a shared memory higher:", []string{"id"}, "Rank a shared memory higher"},
	"vestige_demote":  {"Rank a shared memory lower:", []string{"id"}, "Rank a shared memory lower"},

	"image":          {"Look at the image", []string{"image url " + ofPath}, "Look at an image"},
	"view_image":     {"Look at the image", []string{ofPath}, "Look at an image"},
	"pdf":            {"Read the document", []string{"pdf url " + ofPath}, "Read a document"},
	"image_generate": {"Make an image:", []string{"prompt"}, "Make an image"},
	"music_generate": {"Make music:", []string{"prompt"}, "Make music"},
	"video_generate": {"Make a video:", []string{"prompt"}, "Make a video"},
	"tts":            {"Say aloud:", []string{"text"}, "Say something aloud"},

	"gateway":          {"The agent's gateway:", []string{"action", ofPath}, "Change the agent's gateway"},
	"plugins":          {"Plugins of the agent:", []string{"action", "packageName pluginId source"}, "Change the agent's plugins"},
	"openclaw":         {"Administer the agent:", []string{"message"}, "Administer the agent"},
	"secrets":          {"Credentials:", []string{"action", "name kind"}, "Get credentials"},
	"skill_workshop":   {"Skills of the agent:", []string{"action", "skill_name name"}, "Change the agent's skills"},
	"tool_search":      {"Look for a tool:", []string{"query"}, "Look for a tool"},
	"tool_describe":    {"Look up the tool", []string{"id"}, "Look up a tool"},
	"tool_call":        {"Call the tool", []string{"id"}, "Call a tool"},
	"tool_search_code": {alone: "Run a script that only looks for tools"},
}

// sendingActions are the actions of message that send one.
var sendingActions = []string{"", "send", "reply", "broadcast"}

// Head is the headline of a call.
func Head(a *approval.Ask) Headline {
	given, _ := members(a.Shown)
	s, known := sentences[a.Tool]
	switch action := valueOf(given, "action"); {
	case !known:
		return stranger(a)
	case a.Tool == "apply_patch":
		return patchHead(given)
	case a.Tool == "message" && !slices.Contains(sendingActions, action):
		s = sentence{"Messages:", []string{"action", ofWhom}, s.alone}
	}
	h := Headline{Says: s.says}
	var parts []string
	for _, slot := range s.slots {
		for name := range strings.FieldsSeq(slot) {
			if v := valueOf(given, name); v != "" {
				parts = append(parts, v)
				break
			}
		}
	}
	if h.Of = oneLine(strings.Join(parts, " ")); h.Of == "" {
		h.Says = s.alone
	}
	if a.Tool == "edit" || a.Tool == "write" {
		h.Then = changed(given)
	}
	return h
}

// stranger is the headline of a tool that we don't know: its name, and what it says of itself.
func stranger(a *approval.Ask) Headline {
	name, _ := name(a.Tool, headlineWidth)
	h := Headline{Says: "Use tool", Of: name}
	switch a.Effect {
	case approval.OnlyReads:
		h.Then = "(says that it only reads)"
	case approval.Changes:
		h.Then = "(says that it changes something)"
	case approval.Destroys:
		h.Then = "(says that it can delete or overwrite)"
	}
	return h
}

// valueOf is an argument as a headline has it: a list of texts is one text.
func valueOf(given []arg, name string) string {
	name, member, inside := strings.Cut(name, ".")
	for _, m := range given {
		if m.name != name {
			continue
		}
		if inside {
			within, _ := members([]byte(m.text))
			return valueOf(within, member)
		}
		var list []string
		if strings.HasPrefix(m.text, "[") && json.Unmarshal([]byte(m.text), &list) == nil {
			return strings.Join(list, ", ")
		}
		return m.text
	}
	return ""
}

// oneLine makes a text fit the headline: in one line, the middle left out where it is long. A shell's line breaks become spaces: the whole
// text is below.
func oneLine(s string) string {
	if len(s) > 8*headlineWidth { // what is between would be left out anyway
		s = strings.ToValidUTF8(s[:4*headlineWidth], "") + " … " + strings.ToValidUTF8(s[len(s)-4*headlineWidth:], "")
	}
	s, _ = Safe(strings.Join(strings.Fields(s), " "), Form{})
	return shortened(s, headlineWidth)
}

// shortened leaves out the middle of a safe text that is wider than so many columns, and never a part of one of our marks.
func shortened(s string, most int) string {
	if width(s) <= most {
		return s
	}
	tail := most / 3
	head, end, inMark := 0, len(s), false
	for i, r := range s {
		if !inMark && width(s[:i]) <= most-tail-3 {
			head = i
		}
		if !inMark && end == len(s) && width(s[i:]) <= tail {
			end = i
		}
		inMark = string(r) == open || inMark && string(r) != shut
	}
	return s[:head] + " … " + s[end:]
}

// changed says how many lines an edit adds and takes away, or how many a new file has; "" where that can't be seen.
func changed(given []arg) string {
	plus, minus := 0, 0
	for _, m := range joined(given) {
		switch {
		case !m.body || isHidden(m.text):
		case m.name == "content":
			return "(" + approval.Count(strings.Count(strings.TrimSuffix(m.text, "\n"), "\n")+1, "line", "lines") + ")"
		case m.name == "edits" || m.name == changeName:
			plus += strings.Count("\n"+m.text, "\n+ ")
			minus += strings.Count("\n"+m.text, "\n- ")
		}
	}
	return plusMinus(plus, minus)
}

func plusMinus(plus, minus int) string {
	if plus+minus == 0 {
		return ""
	}
	return fmt.Sprintf("(+%d −%d)", plus, minus)
}

// patchHead says which files a patch changes.
func patchHead(given []arg) Headline {
	var files, deeds []string
	plus, minus := 0, 0
	for line := range strings.SplitSeq(valueOf(given, "input"), "\n") {
		deed, file, header := strings.Cut(strings.TrimPrefix(line, "*** "), " File: ")
		switch {
		case header && strings.HasPrefix(line, "*** "):
			files, deeds = append(files, strings.TrimSpace(file)), append(deeds, deed)
		case strings.HasPrefix(line, "+"):
			plus++
		case strings.HasPrefix(line, "-"):
			minus++
		}
	}
	h := Headline{Says: "Change", Of: oneLine(strings.Join(files, ", ")), Then: plusMinus(plus, minus)}
	switch {
	case len(files) == 0:
		return Headline{Says: "Change files"}
	case !slices.ContainsFunc(deeds, func(d string) bool { return d != "Delete" }):
		h.Says = "Delete"
	case !slices.ContainsFunc(deeds, func(d string) bool { return d != "Add" }):
		h.Says = "Write"
	case len(files) > 1:
		h.Says = "Change " + approval.Count(len(files), "file", "files") + ":"
	}
	return h
}
