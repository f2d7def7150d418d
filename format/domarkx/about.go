package domarkx

// An About is what lists say of a session beside its [Info].
type About struct {
	Title  string // see format.Title; "" if nothing gives it one
	Agent  string // the program that it was imported from; "" if it is not known
	Branch string // the last Git branch on which its agent worked; "" if it recorded none
	Tags   []string
	// Started and Active are the times of the first and the last message, in Unix seconds: as the agent recorded them, else of
	// the snapshots that brought the messages.
	Started, Active int64
	// What its header says of the session in the program that it was imported from, spelled as there; "" if nothing. A session
	// that was changed here was updated when its snapshot was made.
	SourceID, SourceCreated, SourceUpdated string
}

// Described returns the session's description. For one that was not read, only the date of its snapshot is known.
func (i Info) Described() About {
	if i.About == nil {
		return About{Started: i.Date, Active: i.Date}
	}
	return *i.About
}
