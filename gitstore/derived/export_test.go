package derived

// Left returns the number of bytes that were not read.
func (d *Decoder) Left() int { return len(d.rest) }
