package storetest_test

import (
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/store/storetest"
)

// The model passes the suite that is derived from it.
func TestModel(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Harness { return storetest.ModelHarness(time.UnixMilli(1_700_000_000_000)) })
}

// Two models never differ: the machine itself is sound.
func TestCompareModel(t *testing.T) {
	storetest.Compare(t, func(*testing.T) storetest.Harness { return storetest.ModelHarness(time.UnixMilli(1_700_000_000_000)) })
}
