package engine

import "os"

// isAlive reports whether a process seems to be running.
func isAlive(process int) bool {
	p, err := os.FindProcess(process)
	if err == nil {
		p.Release()
	}
	return err == nil
}
