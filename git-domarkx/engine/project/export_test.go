package project

// Placed reports whether the position of the key or item at a pointer is known.
func (c Config) Placed(pointer string) bool {
	_, ok := c.places[pointer]
	return ok
}
