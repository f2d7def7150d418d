package scan

// What the tests of the package see of it.
var (
	PlaceIn   = placeIn
	MessageOf = messageOf
)
