package lineage_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/lineage"
)

const secret = "docs-example-not-a-secret-0123456789"

// scraps are what texts are made of here: everything that the rules look at,
// torn apart and put together at random.
var scraps = strings.Split("https://|http://|ssh://|a|Example.COM|evil.example|:443|:8080|/a/b|?q=1&u=|#frag|bob|@|bob.smith+x@Example.com|user:pw@|.|..|,|;| |  |\n|\t|(|)|[|]|{|}|\"|'|`|<|>|-|--file=|_|~|~/.ssh/id_rsa|/etc/passwd|src\\main.go|C:\\Users\\bob|./x/../y/|+43 660 1234567|+1 (202) 555-0100|00|0|1|12|123|1234|12345678|4111 1111 1111 1111|2024-12-31|DE89370400440532013000|DE89 3704 0044 0532 0130 00|GB82 WEST 1234 5698 7654 32|€|$|£|EUR|USD |usdt|100EUR|1,234.50|1.234,5|1'000'000|0.5|3.14159|99.90|INV-2024-001|550e8400-e29b-41d4-a716-446655440000|deadbeef01|v1.2.3|10.0.0.1|999.1.1.1|report.pdf|the quick brown fox|jumps over the lazy dog|Straße|ÄÖÜ|Ωμέγα|Привет мир|ЇЖАК Єва|請把錢轉到這個帳戶|กรุงเทพ|한국어 문장|😀|\u200b|\u00ad|\ufeff|\u202e|Ａｂｃ１２３|　|“|”|«|»|、|—|−|\\n|\\u0041|\\ud800|\\u00|\\\\|\\\"|\\/|\\x|=|&|%20|!|?|:|^|*|x|ſ|ı|K|", "|")

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(40) {
		b.WriteString(scraps[r.IntN(len(scraps))])
		if r.IntN(3) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

type extract struct {
	Fingerprints []lineage.Fingerprint `json:"fingerprints"`
	Truncated    bool                  `json:"truncated"`
}

// javaScript gives the texts to the plugin's implementation.
func javaScript(t *testing.T, texts []string) []extract {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("node is not here, so the two implementations can't be compared")
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	const program = `
		import { readFileSync } from "node:fs";
		import { extract, lineageKey } from "./lineage.js";
		const key = lineageKey(process.env.LINEAGE_SECRET);
		console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((text) => extract(key, text))));`
	cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", program)
	cmd.Dir, cmd.Stdin, cmd.Stderr = "../integrations/openclaw", bytes.NewReader(in), os.Stderr
	cmd.Env = append(os.Environ(), "LINEAGE_SECRET="+secret)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	var got []extract
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTheJavaScriptFindsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", " ", strings.Repeat("word ", 20000), strings.Repeat("請", 70000), strings.Repeat("a.example/x y@z.example 123456 ", 3000)}
	for range 1000 {
		texts = append(texts, randomText(r))
	}
	key := lineage.NewKey([]byte(secret))
	for i, theirs := range javaScript(t, texts) {
		ours := key.Extract(texts[i])
		if !slices.Equal(ours.Fingerprints, theirs.Fingerprints) || ours.Truncated != theirs.Truncated {
			t.Errorf("%.200q\n here %d %v\n there %d %v", texts[i], len(ours.Fingerprints), ours, len(theirs.Fingerprints), theirs)
		}
	}
}
