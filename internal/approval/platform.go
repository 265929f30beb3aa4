package approval

// Platform is where people can be asked, as far as knowing them goes: the desk knows a person by the platform's name,
// a colon and the id that the platform gave that user for ever. What people can choose or change is no id.
type Platform struct {
	Name   string               // in ids and in the config: telegram
	Title  string               // as people know it: Telegram
	IsUser func(id string) bool // whether this can be the id of one of its users
	Looks  string               // what such an id is: a positive number
	Find   string               // how someone finds theirs, and what is no id
	Setup  Setup
}

// Setup is how `verifier setup` connects a platform. Without tokens it can't.
type Setup struct {
	Tokens []Token
	Anyone string // the id of a user who need not exist, for the time before the person is known
	// Pair says what the person has to do so that the line `.pair code` reaches the bot, which the platform calls
	// who.
	Pair func(who, code string) string
}

// Token is a secret that the platform gives for a bot.
type Token struct {
	Key  string // in the platform's section of the config
	Find string // what it is and where to find it, for the person who is asked for it
}
