package drafts

// alive is always true: no process here shares its files with a child.
func alive(int) bool { return true }
