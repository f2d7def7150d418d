package importer

import (
	"context"
	"os"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/engine"
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

// sinceStamp returns the session of a transcript whose stamp is that of its last import. It does not read the
// transcript.
func (imp *importer) sinceStamp(ctx context.Context, c *collector, f found) (engine.SaveResult, bool, error) {
	none := engine.SaveResult{}
	if f.path == "-" || len(imp.attach) > 0 || imp.links != nil || imp.homes.IsNew(f.home) {
		return none, false, nil
	}
	in := input{found: f, as: c.as}
	path, stamp := f.path, f.stamp
	if f.row.database != "" {
		path = f.row.database
	} else if info, err := os.Stat(f.path); err == nil {
		stamp = stampOf(info, time.Now())
	}
	key, err := local.CanonicalPath(path)
	if err != nil || stamp == "" {
		return none, false, nil // the import reports the error when it reads the file
	}
	if in.key = key; f.row.database != "" {
		in.key = c.manager.databases.Path(key, f.row.session)
	}
	known := imp.sources.Get(imp.key(in))
	if known.Stamp != stamp || c.format != "" && c.format != known.Format {
		return none, false, nil
	}
	current, isKnown, err := imp.known(ctx, in)
	if err != nil || !isKnown || current.Stamp != stamp {
		return none, false, nil
	}
	saved, err := imp.unchanged(ctx, in, current)
	return saved, true, err
}
