package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// conformanceTools are those of the server that the cases want, and the other requests.
const conformanceTools = "__transient_tool_for_list_changed json_schema_2020_12_tool test_audio_content test_elicitation test_elicitation_sep1034_defaults test_elicitation_sep1330_enums " +
	"test_embedded_resource test_error_handling test_image_content test_input_required_result_capabilities test_input_required_result_elicitation test_input_required_result_list_roots " +
	"test_input_required_result_multi_round test_input_required_result_multiple_inputs test_input_required_result_request_state test_input_required_result_sampling " +
	"test_input_required_result_tampered_state test_logging_tool test_missing_capability test_multiple_content_types test_reconnection test_sampling test_simple_text " +
	"test_streaming_elicitation test_tool_with_logging test_tool_with_progress test_trigger_prompt_change test_trigger_tool_change test_x_mcp_header " +
	"resources/read resources/subscribe resources/unsubscribe prompts/get completion/complete (subscriptions/listen) (unknown/method)"

// check is one of a case.
type check struct{ scenario, name string }

// otherwise are the checks that the gate ends in another way on purpose.
var otherwise = map[check]string{
	{"server-sse-polling", "IncomingSseEvent"}:                                                       "The server closes the stream of a call, without an id by which a client could take it up. The gate says in words that the call may have run.",
	{"input-required-result-missing-input-response", "InputRequiredResultMissingResponseRerequests"}: "The client answers what it was never asked. A server should ask again. The gate refuses it: that text was not judged.",
}

// TestTheProtocolsOwnCases: what passes without the gate passes with it, in each version of the protocol. The cases are those
// of @modelcontextprotocol/conformance. The server that they need is that of the protocol's Go SDK.
func TestTheProtocolsOwnCases(t *testing.T) {
	for version, stateless := range map[string]string{"2025-06-18": "false", "2025-11-25": "false", "2026-07-28": "true"} {
		t.Run(version, func(t *testing.T) {
			s := newScene(t, allowing("conformance", conformanceTools))
			port := s.port()
			plain := "http://127.0.0.1:" + port + "/mcp"
			s.starts("listening at", nil, filepath.Join(s.cache, "conformance-server/everything-server"), "-http", "127.0.0.1:"+port, "-stateless="+stateless)
			before, after := s.conformance(plain, version), s.conformance(s.before("conformance", plain), version)
			passed := 0
			for c, end := range before {
				switch {
				case end == "SUCCESS" && after[c] == end:
					passed++
				case end == "SUCCESS" && otherwise[c] == "":
					t.Errorf("%v: %s without the gate, %q with it", c, end, after[c])
				}
			}
			for c, end := range after {
				if end == "FAILURE" && before[c] != end && otherwise[c] == "" {
					t.Errorf("%v fails with the gate only", c)
				}
			}
			t.Logf("%d checks of %s pass with the gate", passed, version)
			if passed < 50 {
				t.Errorf("only %d checks passed", passed)
			}
		})
	}
}

var scenario = regexp.MustCompile(`^server-(.*)-\d{4}-\d\d-\d\dT[0-9-]+Z$`)

// conformance runs the cases of a version against a server, and says how each check ended.
func (s *scene) conformance(address, version string) map[check]string {
	s.Helper()
	dir := s.TempDir()
	c := exec.CommandContext(s.Context(), filepath.Join(s.cache, "conformance/node_modules/.bin/conformance"), "server", "--url", address, "--spec-version", version, "--suite", "all", "-o", dir)
	c.Env = s.env
	said, err := c.CombinedOutput() // it fails where a case does
	ends, order := map[check]string{}, map[string]int{"INFO": 1, "SUCCESS": 2, "WARNING": 3, "FAILURE": 4}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			s.Fatal(err)
		}
		var checks []struct{ Name, Status string }
		name := scenario.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		if err := json.Unmarshal(text, &checks); err != nil || name == nil {
			s.Fatalf("%s: %v", file, err)
		}
		for _, one := range checks {
			if at := (check{name[1], one.Name}); order[one.Status] > order[ends[at]] {
				ends[at] = one.Status
			}
		}
	}
	if len(ends) == 0 {
		s.Fatalf("no case ran: %v\n%.2000s", err, said)
	}
	return ends
}
