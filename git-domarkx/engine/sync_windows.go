package engine

import "os"

// syncFolder does nothing: a renamed file is found again there.
func syncFolder(string) error { return nil }

// isAlive reports whether a process runs, as far as one can tell.
func isAlive(process int) bool {
	p, err := os.FindProcess(process)
	if err == nil {
		p.Release()
	}
	return err == nil
}
