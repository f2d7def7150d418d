package localshell

// NewLimited returns the plugin with less output, in bytes.
func NewLimited(maxOutput int64) Plugin {
	p := New()
	p.maxOutput = maxOutput
	return p
}

// NewWithoutLandlock returns the plugin as it is on a kernel that has no Landlock.
func NewWithoutLandlock() Plugin {
	p := New()
	p.canConfine = func() bool { return false }
	return p
}

// NewWithoutNamespaces returns the plugin as it is where namespaces are not to be had.
func NewWithoutNamespaces() Plugin {
	p := New()
	p.tried.noNamespace.Store(true)
	return p
}
