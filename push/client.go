package push

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Limits of a request to a push service.
const (
	sendTimeout = 10 * time.Second
	maxAnswer   = 16 << 10 // bytes that are read of what it answers
)

// What can be wrong with a message, so that a caller knows what to do.
var (
	// ErrGone says that the subscription has ended: the device is to be removed.
	ErrGone = errors.New("push: the subscription has ended")
	// ErrForbidden says that the endpoint is none that we send to.
	ErrForbidden = errors.New("push: messages go only to https, and not to this machine or a private network")
)

// Refused is an answer that is no yes.
type Refused struct {
	Status int
	Later  bool          // the same message may be taken later
	After  time.Duration // not before that; 0: the service does not say
}

func (r *Refused) Error() string { return fmt.Sprintf("push: the service answers %d", r.Status) }

// Message is what is sent to a device.
type Message struct {
	Text   []byte        // at most MaxMessage
	Topic  string        // a message of the same topic takes the place of one that was not delivered yet; at most 32 of base64url
	TTL    time.Duration // how long the service keeps it for a device that is off
	Urgent bool          // wake the device
}

// Client sends messages.
type Client struct {
	identity *Identity
	services []string
	guarded  *http.Client
	own      *http.Client
	now      func() time.Time
}

// NewClient makes one. Services are origins, such as http://127.0.0.1:8080, of push
// services that the owner runs: they may be anywhere.
func NewClient(identity *Identity, services []string, now func() time.Time) *Client {
	return &Client{identity: identity, services: services, guarded: newHTTP(public), own: newHTTP(nil), now: now}
}

// Close lets go of idle connections.
func (c *Client) Close() {
	c.guarded.CloseIdleConnections()
	c.own.CloseIdleConnections()
}

// newHTTP makes a client that follows no redirect and asks no proxy. Control sees each
// address that is dialled, after the name was looked up: what a name says at another
// time does not count.
func newHTTP(control func(network, address string, _ syscall.RawConn) error) *http.Client {
	dialer := &net.Dialer{Timeout: sendTimeout, Control: control}
	return &http.Client{
		Timeout:       sendTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: sendTimeout, IdleConnTimeout: time.Minute,
			MaxIdleConnsPerHost: 2, MaxResponseHeaderBytes: maxAnswer,
		},
	}
}

// private are networks that no push service is in, besides those that netip knows.
var private = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("fec0::/10"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"), // they lead to an IPv4 address
	netip.MustParsePrefix("::/96"),
}

// public refuses to dial what is no address of the public internet.
func public(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return ErrForbidden
	}
	ip := at.Addr().Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || slices.ContainsFunc(private, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return ErrForbidden
	}
	return nil
}

// Permits reports whether messages may go to an endpoint at all, before its name is
// looked up.
func (c *Client) Permits(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && u.Host != "" && (u.Scheme == "https" || c.isOwn(u))
}

func (c *Client) isOwn(u *url.URL) bool { return slices.Contains(c.services, origin(u)) }

// Send encrypts a message and hands it to the device's push service.
func (c *Client) Send(ctx context.Context, to *Subscription, m *Message) error {
	if !c.Permits(to.Endpoint) {
		return ErrForbidden
	}
	body, err := encrypt(to, m.Text)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Endpoint, bytes.NewReader(body))
	if err != nil {
		return ErrSubscription // the error itself would tell the endpoint
	}
	who, err := c.identity.authorization(req.URL, c.now())
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", who)
	req.Header.Set("Content-Encoding", "aes128gcm")
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("TTL", strconv.Itoa(int(m.TTL.Seconds())))
	req.Header.Set("Topic", m.Topic)
	req.Header.Set("Urgency", "normal")
	if m.Urgent {
		req.Header.Set("Urgency", "high")
	}
	client := c.guarded
	if c.isOwn(req.URL) {
		client = c.own
	}
	err = Deliver(client, req, c.now())
	if refused, ok := errors.AsType[*Refused](err); ok && (refused.Status == http.StatusNotFound || refused.Status == http.StatusGone) {
		return ErrGone
	}
	return err
}

// NewHTTP makes a client for addresses that the owner wrote down: they may be anywhere.
func NewHTTP() *http.Client { return newHTTP(nil) }

// Deliver sends a request, and reads only the status of the answer. The error never holds the address, and a [*Refused] says whether
// to try again.
func Deliver(client *http.Client, req *http.Request, now time.Time) error {
	res, err := client.Do(req) //nolint:gosec // the owner wrote the address, or it is checked when it is dialled
	if err != nil {
		return unreached(err)
	}
	defer res.Body.Close()
	io.CopyN(io.Discard, res.Body, maxAnswer) //nolint:errcheck // what it says besides its status counts for nothing
	if status := res.StatusCode; status < 200 || status >= 300 {
		return &Refused{Status: status, Later: status == http.StatusTooManyRequests || status >= 500, After: RetryAfter(res.Header, now)}
	}
	return nil
}

// unreached is an error of the network without the endpoint in it: that is a secret
// of the device.
func unreached(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.Is(err, ErrForbidden) {
		return ErrForbidden
	}
	return fmt.Errorf("push: the service can't be reached: %w", err)
}

// RetryAfter is what a service says about when to come again; 0 where it says nothing.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
