package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A lazyFetch fetches objects that a partial clone does not have (see partial-clone in Git's technical documentation). Git
// itself fetches each missing object when it needs it. Since a session has thousands of objects, lazyFetch fetches the missing
// objects of all sessions at once.
type lazyFetch struct {
	ctx context.Context
	git *gitcmd.Git

	mu    sync.Mutex
	tried map[odb.ID]bool // objects that were asked for
}

// fetch fetches an object, together with all missing objects of sessions and workspaces.
func (p *lazyFetch) fetch(id odb.ID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tried[id] {
		return domarkx.ErrNotFound
	}
	missing, err := p.missing()
	if err != nil {
		return err
	}
	var wanted bytes.Buffer
	for _, id := range append(missing, id) {
		if !p.tried[id] {
			p.tried[id] = true
			fmt.Fprintln(&wanted, id)
		}
	}
	remotes, err := p.remotes()
	if err != nil {
		return err
	}
	failed := fmt.Errorf("no remote has promised it: %w", domarkx.ErrNotFound)
	for _, remote := range remotes {
		// These are the options with which Git itself fetches missing objects, except for --no-filter: with it, the remote
		// sends a tree with all objects below it.
		_, failed = p.git.Do(p.ctx, gitcmd.Command{
			Args: []string{
				"-c", "fetch.negotiationAlgorithm=noop", "-c", "fetch.writeCommitGraph=false", "-c", "fetch.fsckObjects=true", "-c", "fetch.unpackLimit=1",
				"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--refmap=",
				"--no-filter", "--stdin", "--", remote,
			},
			Stdin:    bytes.NewReader(wanted.Bytes()),
			Terminal: true,
		})
		if failed == nil {
			break
		}
	}
	return failed
}

// missing returns the missing objects that refs of sessions and workspaces reach, including remote-tracking refs.
func (p *lazyFetch) missing() ([]odb.ID, error) {
	out, err := p.git.Run(p.ctx, nil, "rev-list", "--objects", "--missing=print", "--glob=refs/domarkx/*", "--glob=refs/domarkx-remotes/*")
	if err != nil {
		return nil, err
	}
	var ids []odb.ID
	for line := range strings.Lines(string(out)) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "?")
		if !ok {
			continue
		}
		id, err := odb.ParseID(name)
		if err != nil {
			return nil, fmt.Errorf("reading the output of git rev-list: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// remotes returns the names of the promisor remotes: those that have promised the missing objects.
func (p *lazyFetch) remotes() ([]string, error) {
	config, err := p.git.Config(p.ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range config.Subsections("remote") {
		if yes, err := config.Bool("remote."+name+".promisor", false); err == nil && yes {
			names = append(names, name)
		}
	}
	return names, nil
}
