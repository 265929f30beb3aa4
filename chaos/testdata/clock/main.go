// Clock is a program whose clock the test sets: at every line that it reads it
// says what time it is, and for how many milliseconds it has run.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

func main() {
	began := time.Now()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		now := time.Now()
		fmt.Println(now.Unix(), now.Sub(began).Milliseconds())
	}
}
