package agentchatter

// Reading is the codec with other limits.
var Reading = reading
