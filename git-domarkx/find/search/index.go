package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/derived"
)

// lockName is the name of the index's lock in the store's state directory.
const lockName = "search.lock"

// Options describe what the index contains and how it is updated.
type Options struct {
	History  bool        // index also the texts that were replaced in sessions
	Warn     func(error) // is called with an error for each session that cannot be read; may be nil
	Progress func(n int) // is called with the number of messages that were indexed so far; may be nil
	Batch    int         // bytes of text that one transaction adds; 0 stands for a default
}

// An Index is an open index. Only one goroutine at a time may use it.
type Index struct {
	store   *gitstore.Store
	db      *database
	options Options
	path    string
	reading bool // whether the transaction in which the index was opened has not ended
	temp    bool // whether the index is a temporary file, because the repository is not writable
}

// Open opens the index of a store and updates it. If the state directory cannot be written, it makes an index in a
// temporary file. The caller closes the index.
func Open(ctx context.Context, store *gitstore.Store, o Options) (*Index, error) {
	x := &Index{store: store, options: o}
	x.placeIn(store.StateDir())
	current, list, err := x.openCurrent(ctx)
	if current || err != nil {
		return x, err
	}
	err = x.update(ctx, false)
	if err != nil && ctx.Err() == nil && !x.temp {
		return x, x.openTemporary(ctx, list, err)
	}
	return x, err
}

// placeIn sets the path of the index to that in a directory, without links.
func (x *Index) placeIn(dir string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	x.path = derived.Search.Path(dir, "")
}

// openCurrent opens the index if it is up to date, to read it. Otherwise it returns the sessions that can be read.
func (x *Index) openCurrent(ctx context.Context) (current bool, list []domarkx.Info, err error) {
	var known map[string]indexed
	if x.db, err = openToRead(x.path); err == nil {
		if known = x.db.sessions(); x.db.failed() != nil {
			known = nil
		} else if refs, err := x.store.Refs(); err == nil && isCurrent(known, refs, x.options.History) {
			return true, nil, x.readFirst()
		}
	}
	if list, err = x.list(ctx, x.options.Warn); err != nil {
		return false, nil, errors.Join(err, x.Close())
	}
	tips := make(map[string]string, len(list))
	for _, info := range list {
		tips[info.Name] = info.ID
	}
	if known != nil && isCurrent(known, tips, x.options.History) {
		return true, nil, x.readFirst()
	}
	return false, list, x.Close()
}

// readFirst prepares to read the index in the transaction in which it was opened.
func (x *Index) readFirst() error {
	x.reading = true
	// A query reads most pages once, so that a larger cache would not save reads; a small one stays in the processor's
	// cache.
	x.db.exec("PRAGMA cache_size=-1024")
	return x.db.failed()
}

// list returns the newest snapshots of the sessions that can be read. It calls warn, if that is not nil, with the error
// for the others.
func (x *Index) list(ctx context.Context, warn func(error)) ([]domarkx.Info, error) {
	list, err := x.store.List(ctx)
	if err != nil && (list == nil || ctx.Err() != nil) {
		return nil, err
	}
	if err != nil && warn != nil {
		warn(err)
	}
	return list, nil
}

// openTemporary makes an index in a temporary file, and removes the file while it is open, so that the texts do not
// remain if a closed pipe or a signal ends the program. It is called if the index in the repository cannot be written,
// with that error.
func (x *Index) openTemporary(ctx context.Context, list []domarkx.Info, cause error) error {
	dir, err := os.MkdirTemp("", "domarkx-search-")
	if err != nil {
		return errors.Join(cause, err)
	}
	x.temp = true
	x.placeIn(dir)
	if x.db, err = createIndex(x.path); err == nil {
		err = x.db.update(ctx, x.store, list, x.options, false)
	}
	if err != nil {
		return errors.Join(cause, err, x.Close())
	}
	_ = os.RemoveAll(dir) // where an open file cannot be removed, Close removes it
	return nil
}

// update opens the index and updates it. It makes the index again if the file is missing, damaged or of another
// version. Only one process at a time updates the index. Each lists the sessions after it has got the lock, so that
// none sets the index back to an earlier state.
func (x *Index) update(ctx context.Context, purge bool) (err error) {
	if err := atomicfile.MkdirAll(x.store.StateDir(), 0o700); err != nil {
		return err
	}
	x.placeIn(x.store.StateDir())
	lock, err := os.OpenFile(filepath.Join(filepath.Dir(x.path), lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := atomicfile.Lock(ctx, lock); err != nil {
		return err
	}
	list, err := x.list(ctx, nil)
	if err != nil {
		return err
	}
	if x.db, err = openIndex(x.path); err == nil {
		err = x.db.update(ctx, x.store, list, x.options, purge)
	}
	if err == nil {
		return nil
	}
	if err := x.Close(); err != nil && !isDamaged(err) {
		return err
	}
	if !isDamaged(err) {
		return fmt.Errorf("update the search index %q: %w", x.path, err)
	}
	if x.db, err = createIndex(x.path); err == nil {
		err = x.db.update(ctx, x.store, list, x.options, false)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("make the search index %q: %w", x.path, err), x.Close())
	}
	return nil
}

// Close closes the index, and removes a temporary one.
func (x *Index) Close() error {
	var err error
	x.reading = false
	if x.db != nil {
		err = x.db.close()
		x.db = nil
	}
	if x.temp {
		err = errors.Join(err, os.RemoveAll(filepath.Dir(x.path)))
	}
	return err
}

// Forget removes messages from the index that no session of the store contains any more, so that nothing of them
// remains in the file. It is called after sessions were removed or rewritten. Without an index it does nothing.
func Forget(ctx context.Context, store *gitstore.Store) error {
	x := &Index{store: store}
	if _, err := os.Lstat(derived.Search.Path(store.StateDir(), "")); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := x.update(ctx, true); err != nil {
		return err
	}
	return x.Close()
}

// Find opens the index of a store, and returns the messages that match a query. It is for few hits, because it returns
// them all at once.
func Find(ctx context.Context, store *gitstore.Store, q Query, o Options) (all []Hit, err error) {
	o.History = q.History
	x, err := Open(ctx, store, o)
	if err != nil {
		return nil, err
	}
	all, _, err = x.Best(ctx, q, 0)
	return all, errors.Join(err, x.Close())
}

// Check returns an error, which is [domarkx.ErrInvalid], if a query is not valid.
func Check(q Query) error {
	_, err := newMatching(q)
	for _, pattern := range []string{q.Model, q.Tool, q.Path} {
		if err == nil {
			_, err = matcher(pattern, false)
		}
	}
	return err
}
