package chat

// PlainName returns the name of a picture file that a provider named.
func PlainName(file string) string { return plainName(file) }
