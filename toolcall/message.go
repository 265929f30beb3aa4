package toolcall

import "github.com/go-json-experiment/json/jsontext"

// DecodeAbout reads a body of at most so many bytes that is no call: what every
// body has, and one member of another name, which must be there and is given as it
// stands in the body. The call has no tool then.
func DecodeAbout(body []byte, most int, member string) (Call, jsontext.Value, error) {
	if err := checkValid(body, most); err != nil {
		return Call{}, nil, err
	}
	var c Call
	var about jsontext.Value
	cur := newCursor(body)
	err := c.readBody(cur, func(name string) error {
		if name != member {
			return noMember(name)
		}
		about = cur.next()
		return nil
	})
	if err == nil && about == nil {
		err = malformed(member + " is missing.")
	}
	if err != nil {
		return Call{}, nil, err
	}
	err = c.complete(body)
	return c, about, err
}

// DecodeNotice reads a call that may say, beside tool, that it is only a notice
// of a call that nobody will be asked about.
func DecodeNotice(body []byte) (c Call, notice bool, err error) {
	if err := checkValid(body, MaxBody); err != nil {
		return Call{}, false, err
	}
	cur := newCursor(body)
	err = c.read(cur, func(name string) error {
		if name != "notice" {
			return noMember(name)
		}
		return readBool(cur, "notice", &notice)
	})
	if err != nil {
		return Call{}, false, err
	}
	err = c.complete(body)
	return c, notice && err == nil, err
}
