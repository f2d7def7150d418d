//go:build !linux

package shorttest

const shared = ""

func hasMemory(string) bool { return false }
