package beneath

// WithoutOpenat2 makes a directory and all below it behave as on a kernel without openat2(2).
func (d *Dir) WithoutOpenat2() { d.shared.oldest.Store(true) }
