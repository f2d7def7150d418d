//go:build !linux

package odb_test

import "testing"

// asOrdinaryUser runs prepare and then f: tests do not run as root here.
func asOrdinaryUser(t *testing.T, prepare, f func()) {
	t.Helper()
	prepare()
	f()
}
