package purge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/glob"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/packidx"
)

// packs rewrites each pack that contains objects to remove. It leaves packs with a .keep file, which the user
// protects, and with a .promisor file, whose objects Git expects from a remote (gitrepository-layout(5),
// partial-clone). It returns the paths of those that contain objects to remove.
func (p *purger) packs(ctx context.Context) (left []string, err error) {
	dir := filepath.Join(p.Git.CommonDir, "objects", "pack")
	indexes, err := glob.Below(dir, "pack-*.idx")
	if err != nil {
		return nil, err
	}
	type replacement struct {
		base   string
		others []odb.ID
	}
	var list []replacement
	for _, index := range indexes {
		base := strings.TrimSuffix(index, ".idx")
		others, found, err := p.others(index)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a concurrent git repack removed it
		}
		if err != nil {
			return left, fmt.Errorf("reading %s: %w", index, err)
		}
		switch {
		case !found:
		case exists(base+".keep") || exists(base+".promisor"):
			left = append(left, base+".pack")
		default:
			list = append(list, replacement{base, others})
		}
	}
	// A pack is written before its old form is removed. So on a full disk, those that need the least space come first.
	slices.SortFunc(list, func(a, b replacement) int { return cmp.Compare(len(a.others), len(b.others)) })
	for len(list) > 0 {
		var again []replacement
		var full error
		for _, r := range list {
			err := p.replace(ctx, dir, r.base, r.others)
			if err != nil {
				err = fmt.Errorf("replacing %s: %w", r.base+".pack", err)
			}
			if err != nil && !isFull(err) {
				return left, err
			}
			if err != nil {
				again, full = append(again, r), err
			}
		}
		if len(again) == len(list) {
			return left, full
		}
		list = again // the others have made room
	}
	return left, nil
}

// isFull reports whether an error, perhaps of Git, is that the disk is full.
func isFull(err error) bool {
	return strings.Contains(strings.ToLower(err.Error()), "no space left on device")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// others returns the objects of a pack that are not to be removed. found reports whether the pack also contains
// objects to remove.
func (p *purger) others(index string) (others []odb.ID, found bool, err error) {
	data, err := os.ReadFile(index)
	if err != nil {
		return nil, false, err
	}
	x, err := packidx.Parse(p.Objects.Hash(), data)
	if err != nil {
		return nil, false, err
	}
	for i := range x.Len() {
		if id := x.ID(i); p.remove[id] {
			found = true
		} else {
			others = append(others, id)
		}
	}
	return others, found, nil
}

// replace writes a pack with the objects in others, and then removes the pack base. The objects in others can be
// read at any time.
func (p *purger) replace(ctx context.Context, dir, base string, others []odb.ID) error {
	info, err := os.Stat(base + ".pack")
	if err != nil {
		return err
	}
	var made []string
	if len(others) > 0 {
		var input bytes.Buffer
		for _, id := range others {
			fmt.Fprintln(&input, id)
		}
		before := unfinished(dir)
		out, err := p.Git.Run(ctx, &input, "-c", "core.fsync=pack,pack-metadata", "pack-objects", "--quiet", filepath.Join(dir, "pack"))
		if err != nil {
			for _, path := range unfinished(dir) { // Git leaves it, which would keep the disk full
				if !slices.Contains(before, path) {
					err = errors.Join(err, os.Remove(path))
				}
			}
			return err
		}
		for hash := range strings.FieldsSeq(string(out)) {
			made = append(made, filepath.Join(dir, "pack-"+hash))
		}
		if err := atomicfile.SyncDir(dir); err != nil {
			return err
		}
		if slices.Contains(made, base) {
			return fmt.Errorf("git pack-objects wrote the same pack again")
		}
	}
	for _, pack := range made { // git gc keeps an unreachable object until its pack is old enough
		if err := os.Chtimes(pack+".pack", info.ModTime(), info.ModTime()); err != nil {
			return err
		}
	}
	if err := removeMultiPackIndex(dir); err != nil {
		return err
	}
	for _, extension := range []string{".idx", ".rev", ".bitmap", ".mtimes", ".pack"} { // the index first: Git does not see a pack without one
		if err := os.Remove(base + extension); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return atomicfile.SyncDir(dir)
}

// unfinished returns the files of packs that Git has begun to write.
func unfinished(dir string) []string {
	paths, _ := glob.Below(dir, "tmp_*")
	return paths
}

// removeMultiPackIndex removes Git's index over several packs, which must not name a removed pack. Git's
// maintenance writes it again.
func removeMultiPackIndex(dir string) error {
	paths, err := glob.Below(dir, "multi-pack-index*")
	for _, path := range paths {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}
