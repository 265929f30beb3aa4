// Package record keeps the record: what was asked, what was decided, by whom
// and why, in a file whose every later change can be noticed.
//
// The record is a file of JSON lines. A line opens with its number and the hash
// of the line before it, and closes with a MAC and the SHA-256 of its own bytes:
//
//	{"seq":7,"prev":"<hash of 6>","kind":"decision",…,"mac":"…","hash":"<hash of 7>"}
//
// so that an edited, removed or moved line breaks the chain at a line that
// [VerifyFiles] can name. Hashes need no key: a program that can write the file could
// compute the whole chain anew, or add a line at its end. Three things stop that:
// the MAC, an HMAC-SHA256 under a key that is derived from the signing key; every
// few hundred lines a checkpoint signed with that ed25519 key; and the [Head],
// signed by the same key, which the caller keeps somewhere else every second. An
// end without a signature whose MACs are right is what a crash leaves, and the
// next start goes on from it. An end whose MACs are not right was written by
// something else: Open refuses it and changes nothing. The head is also the only thing that shows
// a tail that was cut off; give it back in [Options.Seen] when the file is
// opened again, or the next head would cover the cut up.
//
// "Written" means that write(2) returned: the line survives the death of the
// process, not that of the machine. [Options.SyncEach] adds fdatasync, shared
// by the lines that arrive while another sync is running.
//
// A failed write leaves nothing behind. The file is cut back to its last good
// line, the chain does not advance, Append returns the error, and the next
// Append tries again: a full disk needs no restart once there is space.
//
// A record may go on in a new file when the old one is large or old enough
// ([Rotation]). The old one is closed under a name with its number and made
// read-only; the first line of the new one names it and how it ended, signed, and
// the chain runs on, so that [VerifyFiles] names a file that is missing, cut,
// replaced or swapped. A process that dies in between leaves a record that Open
// takes up. Nothing is removed unless the owner says how many files to keep, and
// then the record says so first.
//
// What the package refuses: to open a file that others may read, that another
// process has open, that was begun with another key, or whose last complete
// line is not intact or not the server's; to write a line longer than [VerifyFiles] would read; to
// return success for a line that is not in the file. It does not redact: what
// callers hand over is what is kept, and approval codes and tool output have no
// field here.
//
// A file that is moved away, removed, replaced, cut or written to by something
// else while it is open is noticed before the next line, and then nothing is
// written until it is back, or the record is opened again.
package record
