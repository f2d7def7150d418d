package fusefs

import "github.com/domarkx/domarkx/fusefs/cover"

// mountedAt returns no mount: files cannot be covered here.
func mountedAt(string) (cover.Mount, bool) { return cover.Mount{}, false }

// uncover has nothing to do.
func uncover(string) error { return nil }

// Unpacked has nothing to find.
func Unpacked(string) bool { return false }
