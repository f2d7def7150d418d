package engine

// Own returns the snapshot that holds exactly the saved document; it is not the
// newest when the save was merged.
func (s Saved) Own() string { return s.own }
