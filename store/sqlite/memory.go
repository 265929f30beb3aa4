package sqlite

// memory is what a transaction knows without asking the file.
type memory struct {
	kept    bool                     // by the transaction before
	version int64                    // of the file, as it was read
	seen    map[string]*conversation // by hash
	levels  int                      // in those seen
	pauses  map[string]string        // by scope; nil: not read yet
	journal map[booked]int64         // its lines, all of conversations that were seen
}

// What is remembered from one transaction to the next: so many conversations, and
// so many levels of session ids, of which one conversation may have any number.
const (
	maxSeen   = 256
	maxLevels = 4 * maxSeen
)

// recall gives a transaction what the last one left. The file is all there is:
// it is remembered only as long as no other process has written there, and this
// connection nothing but what also changes what is remembered, see [admits]. The
// record's head alone ends that each second. Where nothing is remembered, the
// journal is posted before anyone looks.
func (b *batcher) recall(t *tx) error {
	if b.sweeper == nil {
		return nil // it only reads, and the writer writes all the time
	}
	r, err := b.db.one(`PRAGMA data_version`)
	if err != nil {
		return err
	}
	t.unposted = b.unposted
	version := r.int(0)
	if b.known.kept && b.known.version == version {
		t.memory = b.known
	} else {
		t.version, err = version, t.post()
	}
	b.known = memory{}
	return err
}

// remember keeps for the next transaction what this one has committed.
func (b *batcher) remember(t *tx) {
	if b.sweeper == nil {
		return
	}
	b.unposted = t.unposted
	for _, c := range t.used {
		t.levels += len(c.levels) - c.counted
		c.counted = len(c.levels)
	}
	if t.admitsOnly && len(t.seen) <= maxSeen && t.levels <= maxLevels {
		t.kept = true
		b.known = t.memory
	}
}
