package storetest

import "time"

// ModelHarness opens the suite to the model itself.
func ModelHarness(now time.Time) Harness { return newReference(now).harness() }
