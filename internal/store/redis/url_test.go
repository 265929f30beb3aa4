package redis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/store/redis"
)

func TestURL(t *testing.T) {
	for url, want := range map[string]struct {
		addrs, user, password, master, sentinel string
		db                                      int
		tls                                     bool
		replicas                                int
	}{
		"redis://h":                                {addrs: "h:6379"},
		"redis://:p%40ss@h:1/3":                    {addrs: "h:1", password: "p@ss", db: 3},
		"rediss://u:p@h":                           {addrs: "h:6379", user: "u", password: "p", tls: true},
		"redis://u:p@a:1,b,[::1]:3":                {addrs: "a:1 b:6379 [::1]:3", user: "u", password: "p"},
		"redis://[::1]":                            {addrs: "[::1]:6379"},
		"redis+sentinel://a,b:2/main":              {addrs: "a:26379 b:2", master: "main", replicas: 1},
		"rediss+sentinel://u:p@a/main/2":           {addrs: "a:26379", user: "u", password: "p", master: "main", db: 2, tls: true, replicas: 1},
		"redis+sentinel://a/m?sentinel_password=s": {addrs: "a:26379", master: "m", sentinel: "s", replicas: 1},
		"redis+sentinel://a/m?replicas=0":          {addrs: "a:26379", master: "m"},
		"redis+sentinel://a/m?replicas=2":          {addrs: "a:26379", master: "m", replicas: 2},
		"redis://a,b?replicas=1":                   {addrs: "a:6379 b:6379", replicas: 1},
	} {
		o, replicas, err := redis.ParseURL(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if !slices.Equal(o.Addrs, strings.Fields(want.addrs)) || o.Username != want.user || o.Password != want.password ||
			o.MasterName != want.master || o.SentinelPassword != want.sentinel || o.DB != want.db || (o.TLSConfig != nil) != want.tls || replicas != want.replicas {
			t.Errorf("%s: %+v", url, o)
		}
	}
}

func TestURLThatCannotBeReadKeepsItsPassword(t *testing.T) {
	for _, url := range []string{
		"", "secret", "http://u:secret@h", "redis://u:secret@", "redis://u:secret@h/x", "redis://u:secret@a,b/2", "redis://u:secret@h/1/2",
		"redis+sentinel://u:secret@h", "redis://u:secret@h?read_timeout=5s", "redis://u:se%zzcret@h", "redis://u:secret@::1", "redis://u:secret@a,,b",
		"redis://u:secret@h?replicas=x", "redis://u:secret@h?replicas=-1", "redis://u:secret@h?replicas=1&replicas=0", "redis+sentinel://u:secret@h/m?replica=1",
		"redis://u:secret@h?%zz", "redis://u:secret@h?sentinel_password=x",
	} {
		_, err := redis.Open(url, redis.Options{})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
