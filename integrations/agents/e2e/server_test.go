package e2e_test

import (
	"bufio"
	"fmt"
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The test's own program is the server of tools as well.
func TestMain(m *testing.M) {
	if os.Getenv("BE") == "server" {
		serveTools()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serveTools speaks as much of the Model Context Protocol as the agents need: there is one tool, which makes a file.
func serveTools() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var in struct {
			ID     jsontext.Value `json:"id"`
			Method string         `json:"method"`
			Params struct {
				Version string `json:"protocolVersion"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &in) != nil || in.ID == nil {
			continue
		}
		var result any = object{}
		switch in.Method {
		case "initialize":
			result = object{"protocolVersion": in.Params.Version, "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "files", "version": "1"}}
		case "tools/list":
			result = object{"tools": []any{object{"name": "poke", "description": "Makes a file.", "inputSchema": object{"type": "object", "properties": object{}}}}}
		case "tools/call":
			text := "made"
			if err := os.WriteFile(os.Getenv("RAN"), nil, 0o600); err != nil {
				text = err.Error()
			}
			result = object{"content": []any{object{"type": "text", "text": text}}}
		}
		out, _ := json.Marshal(object{"jsonrpc": "2.0", "id": in.ID, "result": result})
		fmt.Printf("%s\n", out)
	}
}
