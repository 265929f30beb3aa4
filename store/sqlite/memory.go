package sqlite

// memory is what a transaction knows without asking the file.
type memory struct {
	kept    bool                     // by the transaction before
	version int64                    // of the file, as it was read
	seen    map[string]*conversation // by hash
	levels  int                      // in those seen
	pauses  map[string]string        // by scope; nil: nobody has looked
	daybook map[booked]int64         // its lines, all of conversations that were seen
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
// record's head alone ends that each second. Where nothing is remembered, the
// daybook is posted before anyone looks.
func (l *lane) recall(t *tx) error {
	if l.broom == nil {
		return nil // it only reads, and the writer writes all the time
	}
	r, err := l.db.one(`PRAGMA data_version`)
	if err != nil {
		return err
	}
	t.unposted = l.unposted
	version := r.int(0)
	if l.known.kept && l.known.version == version {
		t.memory = l.known
	} else {
		t.version, err = version, t.post()
	}
	l.known = memory{}
	return err
}

// remember keeps for the next transaction what this one has committed.
func (l *lane) remember(t *tx) {
	if l.broom == nil {
		return
	}
	l.unposted = t.unposted
	for _, c := range t.used {
		t.levels += len(c.levels) - c.counted
		c.counted = len(c.levels)
	}
	if t.admitsOnly && len(t.seen) <= maxSeen && t.levels <= maxLevels {
		t.kept = true
		l.known = t.memory
	}
}
