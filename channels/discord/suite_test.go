package discord_test

import (
	"testing"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, func(t *testing.T) channeltest.Platform { return newPlatform(t) })
}
