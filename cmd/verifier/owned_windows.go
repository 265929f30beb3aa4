package main

import "os"

// give has nothing to do: files belong to the directory's owner there.
func give(*os.File, os.FileInfo) error { return nil }
