package sqlite

import "github.com/openclaw-verifier/verifier/session"

// The journal is where admissions are written, one line each, as they come: a
// dozen lines share a page, where the row of each request and of each
// conversation has a page to itself, and pages are what a commit costs. It is
// posted to those rows when it is full, and then many of them share their pages
// too.
//
// Who comes between finds what is not posted yet by what the transaction
// remembers: a conversation as it is now, a request by its line. Where nothing is
// remembered, the journal is posted first, and so it is before anything but what
// [admits] runs: nothing else has to know of it.

// journalSize is how many lines it has: enough that many of them go to the same
// page, few enough that the caller who comes when it is full waits some milliseconds.
const journalSize = 1024

// booked names a request in the journal.
type booked struct{ conversation, request string }

// firstTime writes a request into the journal, unless it is remembered already.
// One that is only still there because it was not swept yet does not count.
func (t *tx) firstTime(c *conversation, a *session.Admission, e *entry) (bool, error) {
	name := booked{c.hash, a.RequestID}
	if _, again := t.journal[name]; again || len(t.journal) == journalSize {
		if err := t.post(); err != nil {
			return false, err
		}
	}
	isNew, err := t.book(name, c, a, e)
	if err != nil || isNew {
		return isNew, err
	}
	over, err := t.exec(`DELETE FROM requests WHERE conversation = ? AND request = ? AND until_ms <= ?`, c.hash, a.RequestID, t.ms())
	if err != nil || over == 0 {
		return false, err
	}
	return t.book(name, c, a, e)
}

// book writes a line, unless the request has a row.
func (t *tx) book(name booked, c *conversation, a *session.Admission, e *entry) (bool, error) {
	line := int64(len(t.journal))
	n, err := t.exec(`INSERT OR REPLACE INTO journal
		(conversation, request, body, mark, until_ms, touched_ms, step, source_step, line, unposted)
		SELECT ?1, ?2, ?, ?, ?, ?, ?, ?, ?, 1 WHERE NOT EXISTS (SELECT 1 FROM requests WHERE conversation = ?1 AND request = ?2)`,
		name.conversation, name.request, a.Body[:], e.mark, t.now.Add(a.Keep).UnixMilli(), t.ms(), c.step+1, e.sourceStep, line)
	if err != nil || n == 0 {
		return false, err
	}
	if t.journal == nil {
		t.journal = map[booked]int64{}
	}
	t.journal[name] = line
	t.unposted = true
	return true, nil
}

// moreThanAdmits is said by what is none of these, before it looks at anything.
func (t *tx) moreThanAdmits() error {
	t.admitsOnly = false
	return t.post()
}

// postings bring the tables up to date. A request that has a row was settled in
// the meantime, and a conversation that is at a later step was written since.
// What fails undoes the transaction, so no statement needs to be undone alone.
var postings = [...]string{
	`INSERT OR IGNORE INTO requests (conversation, request, body, mark, until_ms)
		SELECT conversation, request, body, mark, until_ms FROM journal WHERE unposted ORDER BY request, conversation`,
	`UPDATE OR FAIL conversations SET touched_ms = last.touched_ms, step = last.step, source_step = last.source_step
		FROM (SELECT conversation, touched_ms, max(step) AS step, source_step FROM journal WHERE unposted GROUP BY conversation) AS last
		WHERE hash = last.conversation AND conversations.step < last.step`,
	`UPDATE OR FAIL journal SET unposted = 0 WHERE unposted`,
}

// post empties the journal.
func (t *tx) post() error {
	if !t.unposted {
		return nil
	}
	for _, p := range postings {
		if _, err := t.exec(p); err != nil {
			return err
		}
	}
	clear(t.journal)
	t.unposted = false
	return nil
}
