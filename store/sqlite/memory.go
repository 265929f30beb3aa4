package sqlite

// memory is what a transaction knows without asking the file.
type memory struct {
	version int64                    // of the file, as it was read
	seen    map[string]*conversation // by hash
	pauses  map[string]string        // by scope; nil: nobody has looked
}

// What is remembered from one transaction to the next: so many conversations, and
// so many levels of session ids, of which one conversation may have any number.
const (
	maxSeen   = 256
	maxLevels = 4 * maxSeen
)

// recall gives a transaction what the last one left. The file is all there is:
// it is remembered only as long as nobody but us has written there, and this
// connection nothing but admissions, which write what they change here too. The
// record's head alone ends that each second.
func (l *lane) recall(t *tx) error {
	if l.broom == nil {
		return nil // it only reads, and the writer writes all the time
	}
	r, err := l.db.one(`PRAGMA data_version`)
	if err != nil {
		return err
	}
	t.version = r.int(0)
	if l.known.version == t.version {
		t.memory = l.known
	}
	l.known = memory{}
	return nil
}

// remember keeps for the next transaction what this one has committed.
func (l *lane) remember(t *tx) {
	if l.broom == nil || !t.admitsOnly || len(t.seen) > maxSeen {
		return
	}
	levels := 0
	for _, c := range t.seen {
		c.changed, c.raised = false, nil
		levels += len(c.levels)
	}
	if levels <= maxLevels {
		l.known = t.memory
	}
}
