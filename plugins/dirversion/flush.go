package dirversion

import "sync/atomic"

// A flush makes durable what a commit found changed, before the stat cache records it. So a
// file that is as the cache has it is whole also after a power cut. A few files and folders
// are synced one by one, while they are open; more of them by one sync of the file system.
type flush struct {
	singly atomic.Int64 // how many were synced one by one
	whole  atomic.Bool  // whether the file system is to be synced
}

// one syncs an open file or folder, or leaves it to end.
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

// maxSingly is how many files and folders are synced one by one. Beyond it one sync of the
// file system is faster, though it waits for what other programs wrote, too.
const maxSingly = 16

// end syncs what one left.
func (f *flush) end(top *dir) error {
	if !f.whole.Load() {
		return nil
	}
	return top.sync()
}
