package remote

// ParsePush is for the fuzz target.
var ParsePush = parsePush
