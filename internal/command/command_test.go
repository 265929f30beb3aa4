package command

import (
	"os"
	"strings"
	"testing"
)

func TestCorpora(t *testing.T) {
	for _, f := range []string{"harmless", "builds", "inspects", "workspace", "unknown", "fetching", "notbuilds", "notinspects"} {
		b, _ := os.ReadFile("testdata/" + f + ".txt")
		var n, look, local, net int
		var odd []string
		for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
			n++
			c := Read(l)
			switch c.Effect {
			case Look:
				look++
			case Local:
				local++
			}
			if c.Network {
				net++
			}
			if (f == "unknown" || f == "fetching" || strings.HasPrefix(f, "not")) && c.Effect != Anything {
				odd = append(odd, l)
			}
			if f == "fetching" && !c.Network {
				odd = append(odd, "MISSED "+l+"   ("+c.Why+")")
			}
			if f != "unknown" && f != "fetching" && !strings.HasPrefix(f, "not") && c.Effect == Anything {
				odd = append(odd, "asks "+l+"   ("+c.Why+")")
			}
		}
		t.Logf("%-12s %3d lines: look %d, local %d, anything %d (network %d)\n", f, n, look, local, n-look-local, net)
		for _, o := range odd {
			t.Log("     ", o)
		}
	}
}
