package session_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/session"
)

func TestAJobIsReadFromItsLabel(t *testing.T) {
	for _, j := range []session.Job{
		{ID: "18a7477a-ac0e", Name: "report"}, {ID: "18a7477a-ac0e", Into: true, Name: "report"}, {Call: "28002315b5736d84", Name: "x"},
		{Call: "unknown", Into: true}, {ID: "a", Name: "job b: c"}, {ID: "a", Name: "y, into a session: z"}, {Call: "c", Name: "job d, into a session: e"},
	} {
		if got := session.ParseJob(j.Label()); got != j {
			t.Errorf("%q is read as %+v", j.Label(), got)
		}
	}
	for _, label := range []string{"", "web_fetch example.com", "job : x", "job A B: x", "new job of call : x", "job a\nb: x"} {
		if got := session.ParseJob(label); got.ID != "" || !got.Into {
			t.Errorf("%q is read as %+v: it may be any job", label, got)
		}
	}
}

func TestTheJobOfASessionKey(t *testing.T) {
	for key, want := range map[string]string{
		"agent:main:cron:18a7477a-ac0e:run:2a7c": "18a7477a-ac0e", "agent:main:cron:j": "j", "agent:main:main": "", "cron:j:run:1": "",
		"agent:main:cron": "", "agent:main:cron:": "", "agent:main:telegram:cron:j": "", "agent:main:cron:a b:run:1": "", "hook:cron:j:run:1": "",
	} {
		if got := session.JobOf(key); got != want {
			t.Errorf("the job of %s is %q, want %q", key, got, want)
		}
	}
	if session.JobID(" 18A7477A ") != "18a7477a" || session.JobID("a:b") != "" || session.JobID(strings.Repeat("a", 200)) != "" {
		t.Error("an id is not what a session key could hold")
	}
}

func FuzzParseJob(f *testing.F) {
	f.Add("job a, into a session: b")
	f.Add("new job of call 1: x")
	f.Fuzz(func(t *testing.T, label string) {
		j := session.ParseJob(label)
		if strings.Contains(j.Name, "\n") {
			return // a store keeps none
		}
		if again := session.ParseJob(j.Label()); (j.ID != "" || j.Call != "unknown") && again != j {
			t.Errorf("%q: %+v, then %+v", label, j, again)
		}
	})
}
