package domarkx

import (
	"fmt"
	"time"
)

// An Expiry says when and why the files of a workspace version were removed from the repository.
type Expiry struct {
	On     time.Time // in UTC, in seconds
	Before time.Time // the files of versions from before this time were removed; zero if Newest is the reason
	Newest int       // the files of versions were removed that are not among so many newest ones of a session
}

func (e *Expiry) String() string {
	why := fmt.Sprintf("only the newest %d versions of each session are kept", e.Newest)
	if !e.Before.IsZero() {
		why = "only versions since " + e.Before.UTC().Format("2006-01-02 15:04") + " UTC are kept"
	}
	return "expired on " + e.On.UTC().Format(time.DateOnly) + ", because " + why
}

// An ExpiredError is the error about a workspace version whose files were removed. It says when and why.
type ExpiredError struct {
	Version string // its id
	Date    int64  // when it was made, in Unix seconds
	Expiry  *Expiry
}

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("the files of workspace version %.12s of %s %s; its message, author and call are still here", e.Version, time.Unix(e.Date, 0).UTC().Format(time.DateOnly), e.Expiry)
}

// Files returns an [*ExpiredError] if the files of a version were removed.
func (v *Version) Files() error {
	if v.Expired == nil {
		return nil
	}
	return &ExpiredError{v.ID, v.Date, v.Expired}
}
