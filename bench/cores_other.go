//go:build !linux

package main

// cores can't be set apart here: servers, client and Redis share all of them.
type cores struct{ apart bool }

func splitCores(bool) cores { return cores{} }

func (*cores) rest() error { return nil }

func (*cores) onServers(start func() error) error { return start() }
