//go:build !unix

package config

import "io/fs"

// Without Unix permissions the directory's access list is the owner's to set.
func othersMay(fs.FileInfo) bool { return false }

func othersMayWrite(fs.FileInfo) bool { return false }

func isRoots(fs.FileInfo) bool { return false }

func isOurs(fs.FileInfo) bool { return true }
