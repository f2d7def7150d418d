package markdown

// Reading is the codec that reads documents of more than so many bytes a message at a time.
var Reading = reading
