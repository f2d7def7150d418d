package dirversion

import "sync/atomic"

// A flush syncs the files that a commit found new or changed, before the stat cache records
// them, so that a file that matches the cache is complete even after a power cut. It syncs
// a few files and directories one by one while they are open, and the whole file system if
// there are more.
type flush struct {
	singly atomic.Int64 // number of files synced one by one
	whole  atomic.Bool  // whether the file system has to be synced
}

// one syncs an open file or directory, or leaves that to end.
func (f *flush) one(sync func() error) error {
	if f.whole.Load() {
		return nil
	}
	if canSyncAll && f.singly.Add(1) > maxSingly {
		f.whole.Store(true)
		return nil
	}
	return sync()
}

// maxSingly is the number of files and directories that are synced one by one. For more, one
// sync of the file system is faster, although it also waits for writes of other programs.
const maxSingly = 16

// end syncs the file system if one did not sync every file.
func (f *flush) end(top *dir) error {
	if !f.whole.Load() {
		return nil
	}
	return top.sync()
}
