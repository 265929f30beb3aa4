package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The outputs in which something planted may stand.
const (
	ownersScreen = "owner's screen"
	storeFiles   = "store"
)

// outputs are all that a rig has written.
func (r *rig) outputs() map[string]string {
	r.t.Helper()
	return map[string]string{
		"log": r.log.String(), ownersScreen: r.screen.String(), "record": r.record(), storeFiles: r.stored(),
		"metrics": r.page("/metrics"), "health": r.page("/readyz") + r.page("/healthz"),
	}
}

// stored is all that the store keeps.
func (r *rig) stored() string {
	r.t.Helper()
	if r.redis == nil {
		return files(r.t, r.state.DB()+"*")
	}
	var all strings.Builder
	keys, err := r.redis.Admin.Keys(context.Background(), "*").Result()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, key := range keys {
		value, err := r.redis.Admin.Dump(context.Background(), key).Result()
		if err != nil {
			continue // it has expired
		}
		all.WriteString(key + "\n" + value + "\n")
	}
	return all.String()
}

// files are all that match, one after the other.
func files(t testing.TB, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
