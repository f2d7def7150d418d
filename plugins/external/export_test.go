package external

// Parse parses a line of a plugin and returns only the error.
func Parse(line []byte) error {
	_, err := parse(line)
	return err
}

// StaysInside exports staysInside.
var StaysInside = staysInside
