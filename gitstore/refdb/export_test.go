package refdb

import (
	"testing"
	"time"
)

// SetPatience makes r wait less for lock files in a short run.
func SetPatience(r *Refs) {
	if testing.Short() {
		r.patience = 600 * time.Millisecond
	}
}

// For the fuzz targets.
var (
	ParseJournal = func(data []byte) (any, bool) { return parseJournal(data) }
	ParseRecord  = parseRecord
	CheckName    = checkName
)
