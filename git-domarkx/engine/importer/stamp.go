package importer

import (
	"os"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/engine/local"
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

// sinceStamp returns a transcript whose stamp is that of its last import. It need not be opened to recognize its
// format.
func (c *collector) sinceStamp(path string) (found, bool) {
	if c.known == nil || c.as != "" {
		return found{}, false
	}
	key, err := local.CanonicalPath(path)
	if err != nil {
		return found{}, false
	}
	src := c.known.Get(key)
	if src.Stamp == "" || c.format != "" && c.format != src.Format {
		return found{}, false
	}
	info, err := os.Stat(path)
	if err != nil || stampOf(info, time.Now()) != src.Stamp {
		return found{}, false
	}
	return found{path: path, codec: src.Format}, true
}
