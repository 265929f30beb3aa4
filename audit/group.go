package audit

import "cmp"

// AppendAll writes entries in their order with one write, and returns once they
// are in the file or, with SyncEach, on disk. It gives an error for each entry
// that is not part of the record, or nil. An entry that can't be encoded is left
// out alone; otherwise all of them are written, or none. After [ErrSlow] it is not
// known which.
func (l *Log) AppendAll(entries []Entry) []error {
	failed, drafts := make([]error, len(entries)), make([]*draft, 0, len(entries))
	for i := range entries {
		d, err := l.taken(entries[i])
		if err == nil {
			drafts = append(drafts, d)
		}
		failed[i] = err
	}
	var err error
	if len(drafts) > 0 {
		err = l.patiently(drafts)
	}
	if err == nil && len(drafts) == len(entries) {
		return nil
	}
	for i := range failed {
		failed[i] = cmp.Or(failed[i], err)
	}
	return failed
}
