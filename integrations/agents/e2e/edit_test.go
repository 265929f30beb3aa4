package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// changed lets the owner change what the agent wants to run: the agent runs the owner's command and not its own, and
// that counts as what was judged.
func (s *scene) changed() {
	edited := filepath.Join(s.work, "edited")
	input := object{"command": "touch " + edited, "description": "x", "workdir": s.work}
	if s.name == "codex" { // which tells its hook the command alone
		delete(input, "description")
	}
	params, err := json.Marshal(input, json.Deterministic(true))
	if err != nil {
		s.Fatal(err)
	}
	answered := make(chan string, 1)
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for range 600 {
			if ref := s.ref(); ref != "" {
				first, _ := s.verifier("approve", ref, "--with", string(params)).CombinedOutput()
				_, digest, _ := strings.Cut(string(first), "--confirm ")
				second, _ := s.verifier("approve", ref, "--with", string(params),
					"--confirm", strings.TrimSpace(digest)).CombinedOutput()
				answered <- string(first) + string(second)
				return
			}
			select {
			case <-tick.C:
			case <-s.Context().Done():
				return
			}
		}
		answered <- "nothing waited"
	}()
	asked := s.play(s.shell("curl -s "+s.url+"/page"), s.touch())
	said := <-answered
	if _, err := os.Stat(edited); err != nil || asked {
		s.Fatalf("the agent's own command ran: %v, the owner's: %v; the owner read %s; the model read %.2000s", asked, err, said, s.model.Heard())
	}
	if record := s.record(); !strings.Contains(record, edited) || strings.Contains(record, "something else than it asked about") {
		s.Errorf("the record does not have what ran, or takes it for another hook's change:\n%s", record)
	}
	s.Logf("the owner read %s", said)
}
