package fusefs

// spelled returns a name as the mount knows it: on Linux names are bytes.
func spelled(name string) string { return name }
