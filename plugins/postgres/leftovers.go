//go:build unix

package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins"
)

// ownerSuffix ends the name of a file, next to a server's directory, that contains the directory of
// the resource. The account that runs the server cannot write it.
const ownerSuffix = ".resource"

// noteOwner records the resource of a server whose files are in rootPlaces.
func noteOwner(s serverState) error {
	return atomicfile.Replace(s.Place+ownerSuffix, []byte(s.Dir+"\n"))
}

// removePlace removes the files of a server that has ended.
func removePlace(place string) error {
	if err := os.RemoveAll(place); err != nil || filepath.Dir(place) != rootPlaces {
		return err
	}
	if err := os.Remove(place + ownerSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Leftovers lists the servers of root whose resource was below a directory and was removed. The
// servers of other users are in the directories of their resources.
func (Plugin) Leftovers(ctx context.Context, root string) ([]plugins.Leftover, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	owners, err := filepath.Glob(filepath.Join(rootPlaces, "*"+ownerSuffix))
	if err != nil || len(owners) == 0 {
		return nil, err
	}
	var found []plugins.Leftover
	for _, path := range owners {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		dir := strings.TrimSuffix(string(data), "\n")
		if inside, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(inside) {
			place := strings.TrimSuffix(path, ownerSuffix)
			found = append(found, plugins.Leftover{What: "the PostgreSQL server in " + place, ID: place, Dir: dir})
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	// A state is written before its server starts, so every server found is in a state by now.
	live, err := placesBelow(ctx, root)
	if err != nil {
		return nil, err
	}
	var leftovers []plugins.Leftover
	for _, o := range found {
		if !live[o.ID] {
			leftovers = append(leftovers, o)
		}
	}
	return leftovers, nil
}

// placesBelow reads where the servers of the resources below a directory are. It fails if it cannot
// read one, since that server must not be removed.
func placesBelow(ctx context.Context, root string) (map[string]bool, error) {
	live := map[string]bool{}
	err := plugins.EachState(ctx, root, stateName, func(data []byte) error {
		var s serverState
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		live[s.Place] = true
		return nil
	})
	return live, err
}

// RemoveLeftover stops a server that [Plugin.Leftovers] found and removes its files.
func (Plugin) RemoveLeftover(_ context.Context, o plugins.Leftover) error {
	if filepath.Dir(o.ID) != rootPlaces {
		return fmt.Errorf("%s: %w: it is not a server of root's", o.What, domarkx.ErrInvalid)
	}
	s := &server{state: serverState{Place: o.ID}}
	if err := s.endOther(); err != nil {
		return err
	}
	return removePlace(o.ID)
}
