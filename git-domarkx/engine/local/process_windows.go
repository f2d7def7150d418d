package local

import "os"

// IsAlive reports whether a process seems to be running.
func IsAlive(process int) bool {
	p, err := os.FindProcess(process)
	if err == nil {
		p.Release()
	}
	return err == nil
}
