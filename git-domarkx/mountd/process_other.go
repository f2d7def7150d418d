//go:build !linux

package mountd

// stopped always returns false: only Linux has /proc/PID/stat.
func stopped(int) bool { return false }
