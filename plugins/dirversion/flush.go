package dirversion

import "github.com/domarkx/domarkx/plugins/beneath"

import "sync/atomic"

// A flush syncs the new and changed files of a commit before the stat cache records them, so that
// every file that matches the cache is complete even after a power cut. It syncs up to maxSingly
// files and directories one by one while they are open. If there are more, it syncs the whole file
// system once.
type flush struct {
	singly atomic.Int64 // number of files synced one by one
	whole  atomic.Bool  // whether end must sync the whole file system
}

// one syncs an open file or directory. Beyond maxSingly files, it leaves the work to end.
func (f *flush) one(sync func() error) error {
	if f.whole.Load() {
		return nil
	}
	if beneath.CanSyncAll && f.singly.Add(1) > maxSingly {
		f.whole.Store(true)
		return nil
	}
	return sync()
}

// maxSingly is the number of files and directories that are synced one by one. For more, one
// sync of the file system is faster, although it also waits for writes of other programs.
const maxSingly = 16

// end syncs the whole file system if one() skipped a file.
func (f *flush) end(top *beneath.Dir) error {
	if !f.whole.Load() {
		return nil
	}
	return top.SyncAll()
}
