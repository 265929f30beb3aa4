package provenance

import "time"

// Config is what the owner says of turns.
type Config struct {
	// Keep is how long a turn can be looked at. Default 168h.
	Keep time.Duration `yaml:"keep"`
	// Footer is whether a response is followed by what it was informed by, where
	// the runtime asks before it sends one. Default true.
	Footer bool `yaml:"footer"`
	// Persist puts the graph of each turn that is over into the record.
	Persist bool `yaml:"persist"`
}

// DefaultKeep is how long a turn can be looked at unless the owner says.
const DefaultKeep = 7 * 24 * time.Hour
