package toolcall

// Hints are a tool's annotations by the Model Context Protocol, where the caller
// sends them along. Whoever serves the tool wrote them: they can make a call look
// worse, and no better. Nil is not said.
type Hints struct {
	ReadOnly    *bool
	Destructive *bool
	OpenWorld   *bool
}

func (h *Hints) read(cur *cursor) error {
	if cur.peek() == 'n' {
		cur.next()
		return nil
	}
	return readObject(cur, "tool.annotations", func(name []byte) error {
		switch string(name) {
		case "readOnlyHint":
			return readHint(cur, "tool.annotations.readOnlyHint", &h.ReadOnly)
		case "destructiveHint":
			return readHint(cur, "tool.annotations.destructiveHint", &h.Destructive)
		case "openWorldHint":
			return readHint(cur, "tool.annotations.openWorldHint", &h.OpenWorld)
		}
		cur.next() // a title, or what a newer protocol adds
		return nil
	})
}

func readHint(cur *cursor, what string, to **bool) error {
	if cur.peek() == 'n' {
		cur.next()
		return nil
	}
	var said bool
	if err := readBool(cur, what, &said); err != nil {
		return err
	}
	*to = &said
	return nil
}

// Acts reports whether the tool's own definition says that it changes something or
// reaches outside.
func (h *Hints) Acts() bool {
	return is(h.ReadOnly, false) || is(h.Destructive, true) || is(h.OpenWorld, true)
}

// Destroys reports whether it says that what it does can't be undone.
func (h *Hints) Destroys() bool { return is(h.Destructive, true) }

// Outside reports whether it says that it deals with the world outside.
func (h *Hints) Outside() bool { return is(h.OpenWorld, true) }

func is(said *bool, what bool) bool { return said != nil && *said == what }
