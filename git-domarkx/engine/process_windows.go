package engine

import "os"

// isAlive reports whether a process runs, as far as one can tell.
func isAlive(process int) bool {
	p, err := os.FindProcess(process)
	if err == nil {
		p.Release()
	}
	return err == nil
}
