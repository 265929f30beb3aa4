// Command catalogue compares the labels that this program ships with the tools that an agent or a well-known MCP server really
// has. The end-to-end runs call it with the catalogue that they got from the real program:
//
//	go run ./packaging/catalogue claude-code offered.json
//	go run ./packaging/catalogue mcp/filesystem list.json
//
// It says which tools the shipped labels don't know, for which tools `verifier label` proposes something else than is recorded in
// tools.txt, and where a shipped label is milder than the proposal without a reason in milder.txt. With -write it records what
// the catalogue has. It keeps names, arguments and proposals, and nothing of what a catalogue says in sentences.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/openclaw-verifier/verifier/label"
)

func main() {
	write := flag.Bool("write", false, "record what the catalogue has")
	without := flag.String("without", "", "leave out tools whose names end so: those of a test's own server")
	dir := flag.String("dir", "packaging/catalogue", "where tools.txt and milder.txt are")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: catalogue [-write] [-without END] NAME FILE")
		os.Exit(2)
	}
	if err := run(os.Stdout, *dir, flag.Arg(0), flag.Arg(1), *without, *write); err != nil {
		fmt.Fprintln(os.Stderr, "catalogue:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, dir, name, file, without string, write bool) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	offered, err := label.Read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	now, err := rowsOf(name, offered, without)
	if err != nil {
		return err
	}
	recorded, err := readRows(filepath.Join(dir, "tools.txt"))
	if err != nil {
		return err
	}
	if write {
		return writeRows(filepath.Join(dir, "tools.txt"), name, now, recorded)
	}
	reasons, err := readReasons(filepath.Join(dir, "milder.txt"))
	if err != nil {
		return err
	}
	problems := compare(name, now, recorded)
	for i := range now {
		problems = append(problems, now[i].problems(reasons)...)
	}
	for _, p := range problems {
		fmt.Fprintln(out, p) //nolint:errcheck // the exit code says it, too
	}
	if len(problems) > 0 {
		return fmt.Errorf("the shipped labels don't fit the tools of %s: change policy/tools.go, policy/servers.go or hook/agents.go, or say in packaging/catalogue/milder.txt why a label may be milder, then record the tools with -write", name)
	}
	fmt.Fprintf(out, "%s: the shipped labels know all %d tools\n", name, len(now)) //nolint:errcheck // see above
	return nil
}
