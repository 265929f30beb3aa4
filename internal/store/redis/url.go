package redis

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// errURL never repeats the URL: it may hold a password.
var errURL = errors.New("redis: the store URL can't be read\nhint: redis://host:6379/0, rediss:// for TLS, redis://h1:6379,h2:6379 for Cluster, redis+sentinel://h1:26379,h2:26379/master/0 for Sentinel")

// parseURL reads where Redis is:
//
//	redis://[user:password@]host[:6379][/db]                  one node
//	redis://[user:password@]host,host[,…]                     Cluster
//	redis+sentinel://[user:password@]host[:26379],…/master[/db][?sentinel_username=…&sentinel_password=…]
//
// with rediss for TLS. User and password are Redis'; Sentinel's own stand in the
// query. So does replicas=N, how many replicas must have a write before it
// counts: 1 under Sentinel unless it says otherwise, else none. go-redis' many
// other parameters are left out on purpose: the timeouts are part of what this
// package promises.
func parseURL(text string) (*goredis.UniversalOptions, int, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return nil, 0, errURL
	}
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	hosts := authority[strings.LastIndex(authority, "@")+1:]
	// net/url knows one host only: it reads the rest of the URL around a stand-in.
	u, err := url.Parse("redis://" + strings.TrimSuffix(authority, hosts) + "hosts" + tail)
	if err != nil {
		return nil, 0, errURL
	}
	o := &goredis.UniversalOptions{Username: u.User.Username()}
	o.Password, _ = u.User.Password()
	err = errors.Join(readScheme(o, scheme, hosts), readPath(o, u))
	replicas, errCount := readReplicas(o, u)
	return o, replicas, errors.Join(err, errCount)
}

// maxReplicas is more than anyone has.
const maxReplicas = 9

func readReplicas(o *goredis.UniversalOptions, u *url.URL) (int, error) {
	given := u.Query()["replicas"]
	switch {
	case len(given) == 0 && o.MasterName != "":
		return 1, nil
	case len(given) == 0:
		return 0, nil
	}
	n, err := strconv.Atoi(given[0])
	if err != nil || n < 0 || n > maxReplicas || len(given) > 1 {
		return 0, fmt.Errorf("%w: replicas is how many must have a write, 0 to %d", errURL, maxReplicas)
	}
	return n, nil
}

func readScheme(o *goredis.UniversalOptions, scheme, hosts string) error {
	port := "6379"
	switch scheme {
	case "rediss", "rediss+sentinel":
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12} // the server's name is that of each host
	case "redis", "redis+sentinel":
	default:
		return errURL
	}
	if strings.HasSuffix(scheme, "+sentinel") {
		port, o.MasterName = "26379", "?" // its name comes with the path
	}
	for host := range strings.SplitSeq(hosts, ",") {
		addr, err := withPort(host, port)
		if err != nil {
			return err
		}
		o.Addrs = append(o.Addrs, addr)
	}
	return nil
}

func withPort(host, port string) (string, error) {
	if host == "" {
		return "", errURL
	}
	if h, p, err := net.SplitHostPort(host); err == nil && h != "" && p != "" {
		return host, nil
	}
	if strings.Contains(strings.Trim(host, "[]"), ":") && !strings.HasPrefix(host, "[") {
		return "", errURL // an IPv6 address needs its brackets, and a port its number
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port), nil
}

func readPath(o *goredis.UniversalOptions, u *url.URL) error {
	parts := strings.FieldsFunc(u.Path, func(r rune) bool { return r == '/' })
	if o.MasterName != "" {
		if len(parts) == 0 {
			return fmt.Errorf("%w: the name of Sentinel's master is missing", errURL)
		}
		o.MasterName, parts = parts[0], parts[1:]
		o.SentinelUsername, o.SentinelPassword = u.Query().Get("sentinel_username"), u.Query().Get("sentinel_password")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return errURL
	}
	for name := range query {
		if name != "replicas" && (o.MasterName == "" || name != "sentinel_username" && name != "sentinel_password") {
			return fmt.Errorf("%w: it takes no parameter of that name", errURL)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	db, err := strconv.Atoi(parts[0])
	if err != nil || db < 0 || len(parts) > 1 {
		return fmt.Errorf("%w: after the host comes the number of a database", errURL)
	}
	if db > 0 && len(o.Addrs) > 1 && o.MasterName == "" {
		return fmt.Errorf("%w: Cluster has no databases", errURL)
	}
	o.DB = db
	return nil
}
