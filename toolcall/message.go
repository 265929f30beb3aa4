package toolcall

import "github.com/go-json-experiment/json/jsontext"

// rest is what a body has beside what every body has.
type rest struct {
	tool   bool           // a tool
	notice *bool          // whether it is only a notice; nil: not a member
	name   string         // a member of another name; "": none
	about  jsontext.Value // as it stands in the body
}

func (r *rest) reset() {
	r.about = nil
	if r.notice != nil {
		*r.notice = false
	}
}

// read meets a member.
func (r *rest) read(c *Call, cur *cursor, name []byte) error {
	switch {
	case r.tool && string(name) == "tool":
		return c.readTool(cur)
	case r.notice != nil && string(name) == "notice":
		return readBool(cur, "notice", r.notice)
	case r.name != "" && string(name) == r.name:
		r.about = cur.next()
		return nil
	}
	return malformed("The body has a member that is not part of the protocol.")
}

// missing says what had to be there and was not.
func (r *rest) missing(c *Call) error {
	switch {
	case r.tool && c.Tool == "":
		return malformed("tool is missing.")
	case r.name != "" && r.about == nil:
		return malformed(r.name + " is missing.")
	}
	return nil
}

// DecodeAbout reads a body of at most so many bytes that is no call: what every
// body has, and one member of another name, which must be there and is given as it
// stands in the body. The call has no tool then.
func DecodeAbout(body []byte, most int, member string) (Call, jsontext.Value, error) {
	var c Call
	r := rest{name: member}
	err := c.decode(body, most, &r)
	return c, r.about, err
}

// DecodeNotice reads a call that may say, beside tool, that it is only a notice
// of a call that nobody will be asked about.
func DecodeNotice(body []byte) (c Call, notice bool, err error) {
	err = c.decode(body, MaxBody, &rest{tool: true, notice: &notice})
	return c, notice && err == nil, err
}
