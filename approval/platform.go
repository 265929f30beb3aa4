package approval

// Platform is where people can be asked, as far as knowing them goes: the desk
// knows a person by the platform's name, a colon and the id that the platform
// gave that user for ever. What people can choose or change is no id.
type Platform struct {
	Name   string               // in ids and in the config: telegram
	Title  string               // as people know it: Telegram
	IsUser func(id string) bool // whether this can be the id of one of its users
	Looks  string               // what such an id is: a positive number
	Find   string               // how someone finds theirs, and what is no id
}
