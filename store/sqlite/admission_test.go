package sqlite_test

import (
	"strconv"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// admission is an allow by the level alone, in one of many conversations.
func admission(conversation, request int) session.Admission {
	id := "req-" + strconv.Itoa(request)
	return session.Admission{
		Conversation: session.Conversation{Client: "laptop", Key: "agent:main:" + strconv.Itoa(conversation)},
		Session:      "s1", RequestID: id, Initial: taint.Owner, Sender: "owner", Final: true, Source: "read",
		Modes: taint.Every(taint.Allow), Digest: id, Decision: "A|0123456789abcdef0123456789abcdef", Keep: 11 * time.Minute,
	}
}
