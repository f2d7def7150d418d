package fusefs

// spelled returns the name itself: on Linux names are bytes.
func spelled(name string) string { return name }
