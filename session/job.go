package session

import "strings"

// Jobs is the name under which the scheduled jobs of an agent are kept: what influenced it are the jobs
// that a tainted conversation has scheduled or changed. It is no conversation that
// a call could come from: a session key never begins with its name.
func Jobs(client, agent string) Conversation {
	return Conversation{Client: client, Key: jobsPrefix + agent}
}

const jobsPrefix = "jobs:"

// JobsOf is the agent of a conversation that [Jobs] makes.
func (c Conversation) JobsOf() (agent string, ok bool) { return strings.CutPrefix(c.Key, jobsPrefix) }

// JobsList is the list of notes that says which agents have had tainted jobs: for
// people who look for them.
const JobsList = "00:jobs"

// Pack writes a conversation as an entry of that list.
func (c Conversation) Pack() []byte { return []byte(c.Client + "\n" + c.Key) }

// UnpackJobs reads one.
func UnpackJobs(entry []byte) (Conversation, bool) {
	client, key, ok := strings.Cut(string(entry), "\n")
	c := Conversation{Client: client, Key: key}
	_, isJobs := c.JobsOf()
	return c, ok && isJobs
}

// JobOf is the job that a session key names, agent:<id>:cron:<job>:run:<id>; empty:
// none. A run that an outside webhook started has such a key as well.
func JobOf(key string) string {
	part := strings.Split(key, ":")
	if len(part) < 4 || part[0] != "agent" || part[2] != "cron" || !isName(part[3]) {
		return ""
	}
	return part[3]
}

// Job is a scheduled job as a source of taint.
type Job struct {
	ID   string // empty while nothing has told it
	Call string // where it has no id: the call that asked for it
	Into bool   // it runs in a session of someone else, or may: there its text comes in
	Name string // for people
}

// The words of a label. The id comes before all that others wrote.
const (
	jobWord  = "job "
	newWord  = "new job of call "
	intoWord = ", into a session"
)

// Label is the job's name as a source.
func (j Job) Label() string {
	head := newWord + j.Call
	if j.ID != "" {
		head = jobWord + j.ID
	}
	if j.Into {
		head += intoWord
	}
	return head + ": " + j.Name
}

// ParseJob reads a label. Of anything else it makes a job that is not known, which
// may be any.
func ParseJob(label string) Job {
	head, name, _ := strings.Cut(label, ": ")
	head, into := strings.CutSuffix(head, intoWord)
	if id, ok := strings.CutPrefix(head, jobWord); ok && isName(id) {
		return Job{ID: id, Into: into, Name: name}
	}
	if call, ok := strings.CutPrefix(head, newWord); ok && isName(call) {
		return Job{Call: call, Into: into, Name: name}
	}
	return Job{Call: "unknown", Into: true, Name: label}
}

// JobID is an id in the one spelling in which ids are compared; empty where it is
// none that a session key could hold.
func JobID(id string) string {
	if id = strings.ToLower(strings.TrimSpace(id)); !isName(id) {
		return ""
	}
	return id
}

func isName(id string) bool {
	return id != "" && len(id) <= 128 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
