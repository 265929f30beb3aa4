package wholefile

import "os"

// Give has nothing to do: files belong to the directory's owner there.
func Give(*os.File, os.FileInfo) error { return nil }
