package pi

// Keeping is the codec with another limit.
var Keeping = keeping
