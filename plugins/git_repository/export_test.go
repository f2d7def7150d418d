package gitrepository

// Canonical exports canonical.
var Canonical = canonical
