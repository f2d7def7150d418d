//go:build !windows

package localshell

var systemVariables []string
