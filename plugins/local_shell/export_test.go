package localshell

import "github.com/domarkx/domarkx/plugins/process"

// NewLimited returns the plugin with a smaller output limit, in bytes.
func NewLimited(maxOutput int64) Plugin {
	p := New()
	p.maxOutput = maxOutput
	return p
}

// NewWithoutLandlock returns the plugin as it runs on a kernel without Landlock.
func NewWithoutLandlock() Plugin {
	p := New()
	p.canConfine = func() bool { return false }
	return p
}

// NewWithoutNamespaces returns the plugin as it runs for users who may not create namespaces.
func NewWithoutNamespaces() Plugin {
	p := New()
	p.runner = process.NewRunner(false)
	return p
}
