// Command miniredistest runs miniredis in a process of its own, for
// redistest.StartMini. For each line of its standard input it starts a server
// and prints the server's URL; at the end of the input it exits.
package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

func main() {
	debug.SetGCPercent(1000) // each script call makes a Lua state: the collector was a third of the work
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		url, err := start()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(url)
	}
}

// start starts a server with a password, and with commands for what a test can
// do to a miniredis in its own process. Times are in nanoseconds.
func start() (url string, err error) {
	m, password := miniredis.NewMiniRedis(), rand.Text()
	m.RequireAuth(password)
	if err := m.Start(); err != nil {
		return "", err
	}
	register := func(name string, do func(ns int64)) error {
		return m.Server().Register(name, func(c *server.Peer, _ string, args []string) {
			ns, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				c.WriteError("ERR " + err.Error())
				return
			}
			do(ns)
			c.WriteOK()
		})
	}
	err = errors.Join(
		register("SETTIME", func(ns int64) { m.SetTime(time.Unix(0, ns)) }),
		register("FASTFORWARD", func(ns int64) { m.FastForward(time.Duration(ns)) }),
		m.Server().Register("SHUTDOWN", func(c *server.Peer, _ string, _ []string) {
			c.WriteOK()
			c.Flush()
			go m.Close() // it waits until this command ends
		}),
	)
	return "redis://:" + password + "@" + m.Addr(), err
}
