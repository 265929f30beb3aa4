package main

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// A store that is down at the start must not hide that the record was cut: it is
// compared when the store is back, before the new head covers the old one up.
func TestH50ARecordThatWasCutIsNoticedOnceTheStoreIsBack(t *testing.T) {
	t.Parallel()
	r := newFaultyRig(t, nil)
	for range 5 {
		r.allow(call{tool: "read", params: `{"path":"a"}`, context: ownerIn("m")})
	}
	r.quit()
	lines := bytes.SplitAfter(r.recorded(), []byte("\n"))
	if err := os.WriteFile(recordPath(r.cfg, r.state), bytes.Join(lines[:3], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	r.redis.Signal(syscall.SIGSTOP)
	r.start()
	r.redis.Signal(syscall.SIGCONT)
	redistest.Eventually(t, "the loss is told", func() bool {
		return strings.Contains(r.log.String(), "seen before, are missing from the end of the file")
	})
	r.quit()
	rep, err := audit.VerifyFiles([]string{recordPath(r.cfg, r.state)}, audit.VerifyOptions{})
	if err != nil || len(rep.Losses) != 1 {
		t.Errorf("report %+v, %v", rep, err)
	}
}
