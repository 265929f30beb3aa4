package delivery

// ID is a platform's id of a chat or a person. A file may write it as text or as
// a number.
type ID string

// UnmarshalText takes it as it is written.
func (id *ID) UnmarshalText(text []byte) error {
	*id = ID(text)
	return nil
}

// MayBeNumber tells the reader of the file that digits need no quotes.
func (*ID) MayBeNumber() {}
