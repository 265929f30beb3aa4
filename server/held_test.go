package server_test

import (
	"fmt"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

// heldCall is a call that can be judged, on the wire, with something behind it.
func heldCall(behind string) string {
	body := fmt.Sprintf(`{"version":1,"timestamp":%q,"requestId":"r-1","tool":{"name":"exec","params":{}},"context":{}}`, time.Now().UTC().Format(time.RFC3339))
	return fmt.Sprintf("POST /verify HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s%s",
		hmac.RequestHeader, hmac.Sign([]byte(secret), []byte(body)), len(body), body, behind)
}
