package gitrepository

// Canonical is canonical.
var Canonical = canonical
