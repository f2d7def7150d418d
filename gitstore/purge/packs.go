package purge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/packidx"
)

// packs replaces each pack that has objects to remove by one without them, and returns those that must not be replaced:
// the user keeps them, or another repository promises their objects.
func (p *purger) packs(ctx context.Context) (left []string, err error) {
	dir := filepath.Join(p.Git.CommonDir, "objects", "pack")
	indexes, err := filepath.Glob(filepath.Join(dir, "pack-*.idx"))
	if err != nil {
		return nil, err
	}
	for _, index := range indexes {
		base := strings.TrimSuffix(index, ".idx")
		others, found, err := p.others(index)
		if errors.Is(err, fs.ErrNotExist) {
			continue // joined with others meanwhile
		}
		if err != nil {
			return left, fmt.Errorf("reading %s: %w", index, err)
		}
		switch {
		case !found:
		case exists(base+".keep") || exists(base+".promisor"):
			left = append(left, base+".pack")
		default:
			if err := p.replace(ctx, dir, base, others); err != nil {
				return left, fmt.Errorf("replacing %s: %w", base+".pack", err)
			}
		}
	}
	return left, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// others returns the objects of a pack that stay, and whether it has others.
func (p *purger) others(index string) (others []odb.ID, found bool, err error) {
	data, err := os.ReadFile(index)
	if err != nil {
		return nil, false, err
	}
	x, err := packidx.Parse(data)
	if err != nil {
		return nil, false, err
	}
	for i := range x.Len() {
		if id := odb.ID(x.ID(i)); p.remove[id] {
			found = true
		} else {
			others = append(others, id)
		}
	}
	return others, found, nil
}

// replace writes a pack with the objects that stay, and removes the former one. Each object is in a pack at any time.
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
		out, err := p.Git.Run(ctx, &input, "-c", "core.fsync=pack,pack-metadata", "pack-objects", "--quiet", filepath.Join(dir, "pack"))
		if err != nil {
			return err
		}
		for hash := range strings.FieldsSeq(string(out)) {
			made = append(made, filepath.Join(dir, "pack-"+hash))
		}
		if err := atomicfile.SyncDir(dir); err != nil {
			return err
		}
		if slices.Contains(made, base) {
			return fmt.Errorf("git pack-objects made the same pack again")
		}
	}
	for _, pack := range made { // Git collects what nothing leads to by the time of its pack
		if err := os.Chtimes(pack+".pack", info.ModTime(), info.ModTime()); err != nil {
			return err
		}
	}
	if err := removeMultiPackIndex(dir); err != nil {
		return err
	}
	for _, extension := range []string{".idx", ".rev", ".bitmap", ".mtimes", ".pack"} { // without an index, a pack is invisible
		if err := os.Remove(base + extension); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return atomicfile.SyncDir(dir)
}

// removeMultiPackIndex removes Git's index of several packs, which it makes again, as it must not name a removed pack.
func removeMultiPackIndex(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "multi-pack-index*"))
	for _, path := range paths {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}
