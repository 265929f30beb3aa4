package toolcall

// Hints are a tool's annotations by the Model Context Protocol, where the caller
// sends them along. The tool's server wrote them: they can make a call look
// worse, and no better. Nil is not said.
type Hints struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	OpenWorld   *bool `json:"openWorldHint"`
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
