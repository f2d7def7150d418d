package importer

import (
	"os"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
)

// clockTick is the coarsest resolution of the times in file systems.
const clockTick = 2 * time.Second

// stampOf returns the stamp of a document that was opened at a time. As long as the stamp of a document is the same,
// its content is. stampOf returns "" if the document was written so shortly before that another write might not change
// the stamp.
func stampOf(info os.FileInfo, opened time.Time) string {
	if !info.Mode().IsRegular() || opened.Sub(info.ModTime()) < clockTick {
		return ""
	}
	return local.Stamp(info)
}

// isAsRecorded reports whether a document has the stamp of its last import. It need not be read then. format is the name of its
// format that the user gave, or "".
func (f found) isAsRecorded(src sources.Source, format string) bool {
	return f.stamp != "" && f.stamp == src.Stamp && (format == "" || format == src.Format)
}
