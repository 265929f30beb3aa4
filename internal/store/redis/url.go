package redis

import (
	"cmp"
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
var errURL = errors.New("redis: the store URL can't be read\nhint: redis://host:6379/0, rediss:// for TLS, " +
	"redis://h1:6379,h2:6379 for Cluster, redis+sentinel://h1:26379,h2:26379/master/0 for Sentinel")

// maxReplicas is more than anyone has.
const maxReplicas = 9

// parseURL reads where Redis is:
//
//	redis://[user:password@]host[:6379][/db]                  one node
//	redis://[user:password@]host,host[,…]                     Cluster
//	redis+sentinel://[user:password@]host[:26379],…/master[/db][?sentinel_username=…&sentinel_password=…]
//
// with rediss for TLS. User and password are Redis'; Sentinel's own stand in the query. So does replicas=N, how many
// replicas must have a write before it counts: 1 under Sentinel unless it says otherwise, else none. go-redis' many
// other parameters are left out on purpose: the timeouts are part of what this package promises.
//
//nolint:gocognit // one part of the URL after the other
func parseURL(text string) (o *goredis.UniversalOptions, replicas int, err error) {
	scheme, rest, _ := strings.Cut(text, "://")
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
	query, err := url.ParseQuery(u.RawQuery)
	base, sentinel := strings.CutSuffix(scheme, "+sentinel")
	if err != nil || base != "redis" && base != "rediss" {
		return nil, 0, errURL
	}
	o = &goredis.UniversalOptions{Username: u.User.Username()}
	o.Password, _ = u.User.Password()
	if base == "rediss" {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12} // the server's name is that of each host
	}
	port, parts := "6379", strings.FieldsFunc(u.Path, func(r rune) bool { return r == '/' })
	if sentinel {
		if len(parts) == 0 {
			return nil, 0, fmt.Errorf("%w: the name of Sentinel's master is missing", errURL)
		}
		port, o.MasterName, parts, replicas = "26379", parts[0], parts[1:], 1
		o.SentinelUsername, o.SentinelPassword = query.Get("sentinel_username"), query.Get("sentinel_password")
	}
	for host := range strings.SplitSeq(hosts, ",") {
		h, err := url.Parse("redis://" + host)
		if err != nil || h.Host != host || h.Hostname() == "" ||
			strings.Contains(h.Hostname(), ":") != strings.HasPrefix(host, "[") { // an IPv6 address needs its brackets
			return nil, 0, errURL
		}
		o.Addrs = append(o.Addrs, net.JoinHostPort(h.Hostname(), cmp.Or(h.Port(), port)))
	}
	if len(parts) > 0 {
		o.DB, err = strconv.Atoi(parts[0])
		if err != nil || o.DB < 0 || len(parts) > 1 || o.DB > 0 && len(o.Addrs) > 1 && !sentinel {
			return nil, 0, fmt.Errorf("%w: after the host comes the number of a database; Cluster has none", errURL)
		}
	}
	for name, values := range query {
		switch {
		case name == "replicas" && len(values) == 1:
			if replicas, err = strconv.Atoi(values[0]); err != nil || replicas < 0 || replicas > maxReplicas {
				return nil, 0, fmt.Errorf("%w: replicas is how many must have a write, 0 to %d", errURL, maxReplicas)
			}
		case !sentinel || name != "sentinel_username" && name != "sentinel_password":
			return nil, 0, fmt.Errorf("%w: it takes no parameter of that name, or not twice", errURL)
		}
	}
	return o, replicas, nil
}
