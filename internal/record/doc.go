// Package record keeps the record: what was asked, what was decided, by whom and why, in files whose every later
// change can be noticed.
//
// The record is JSON lines. A line opens with its number and closes with a MAC under a key that is derived from the
// server's; it covers the line and the MAC of the line before:
//
//	{"seq":7,"kind":"decision",…,"mac":"…"}
//
// so [VerifyFiles] names the first line that was edited, removed, moved or added by anything without the key. A tail
// that was cut off shows only against a [Head], the number and the MAC of the last line: it is put beside the record
// each second, and given to the caller, who keeps it somewhere else. Whoever has the key can forge all of it.
//
// The files are record-000001.jsonl and so on; the highest is written, and only that one. When it is large enough
// ([Rotation]) the next begins, whose first line holds the MAC of the last line before it. Nothing is renamed, and
// nothing removed unless the owner says how many files to keep, and then the record says so first.
//
// All lines that wait are given to the system in one write by one goroutine. "Written" means that write(2) returned:
// the line survives the death of the process, not that of the machine; [Options.SyncEach] adds a sync of the file. A
// failed write leaves nothing behind: the file is cut back to its last good line, Append returns the error, and the
// next Append tries again, so that a full disk needs no restart once there is space.
//
// What the package refuses: to open a file that others may read, that another process has open, that was begun with
// another key, or whose last complete line isn't the server's; to write a line longer than it would read; to return
// success for a line that is not in the file. A file that is moved away, removed, replaced, cut or written to by
// something else is noticed before the next line. It does not redact params: what callers hand over is what is kept,
// and approval codes and tool output have no field here.
package record
