package derived

// HoldsTexts reports whether files of the kind may hold texts, names or ids of what a session contains.
func (k Kind) HoldsTexts() bool { return k.texts }

// Left returns the number of bytes that were not read.
func (d *Decoder) Left() int { return len(d.rest) }
