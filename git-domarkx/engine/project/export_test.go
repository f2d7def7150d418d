package project

// Placed reports whether it is known where the key or item of a pointer stands.
func (c Config) Placed(pointer string) bool {
	_, ok := c.places[pointer]
	return ok
}
