package gitstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// staleAfter is the age above which temporary files no longer belong to running processes.
const staleAfter = 24 * time.Hour

// GC removes sessions and workspaces from the trash that are older than gc.reflogExpireUnreachable (git-config(1); default 30
// days). It also removes temporary files of killed processes and caches for packs that no longer exist, and the .keep files
// with which killed processes protected packs from git gc. It returns a finding for each entry of the trash and each temporary
// file that it removed.
func (s *Store) GC(ctx context.Context) ([]snapshot.Finding, error) {
	expiry, err := s.git.ExpiryDate(ctx, "gc.reflogExpireUnreachable", "30.days.ago")
	if err != nil {
		return nil, err
	}
	var findings []snapshot.Finding
	err = s.Update(ctx, "gc", func(tx *Tx) error {
		for _, k := range refname.Kinds {
			refs, err := s.refsBelow(k.Trash, k.Replaced)
			if err != nil {
				return err
			}
			for _, ref := range refs {
				name, at, err := k.ParseTrash(ref.Name)
				if err != nil || !at.Before(expiry) {
					continue // too young, or invalid, which Fsck reports
				}
				if err := tx.move(ref.Name, ""); err != nil {
					return err
				}
				findings = append(findings, snapshot.Finding{Severity: "info", What: "removed from the trash: " + k.Noun + " " + name + ", there since " + at.Format(time.RFC3339),
					Where: ref.Name, Fix: "git update-ref " + ref.Name + " " + ref.ID + " brings it back until git gc collects it"})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	before := time.Now().Add(-staleAfter)
	stale, err := s.removeStale(before)
	return append(findings, stale...), errors.Join(err, s.releaseKeeps(ctx), s.db.ReleaseFetched())
}

// removeStale removes the temporary files of caches, packs and package atomicfile that were last modified before a time.
func (s *Store) removeStale(before time.Time) ([]snapshot.Finding, error) {
	var findings []snapshot.Finding
	for _, dir := range []string{s.StateDir(), filepath.Join(s.git.ObjectDir, "pack")} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return findings, err
		}
		for _, entry := range entries {
			isTemp := strings.HasSuffix(entry.Name(), ".tmp") || strings.HasPrefix(entry.Name(), atomicfile.TempPrefix)
			info, err := entry.Info()
			if !isTemp || err != nil || !info.Mode().IsRegular() || info.ModTime().After(before) {
				continue
			}
			name := filepath.Join(dir, entry.Name())
			if err := os.Remove(name); err != nil {
				return findings, err
			}
			findings = append(findings, snapshot.Finding{Severity: "info", What: "removed a temporary file", Where: name})
		}
	}
	return findings, nil
}
