//go:build unix

package postgres

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/glob"
	"github.com/domarkx/domarkx/plugins"
)

const (
	stateName   = "server.json"
	logName     = "server.log" // of the last start
	stateFormat = 1
)

// rootPlaces contains the files of root's servers: they run as another user, who cannot enter
// the directories of root's repositories.
var rootPlaces = "/var/lib/git-domarkx"

// A serverState is the persistent state of a server.
type serverState struct {
	Format   int
	Dir      string // directory of the resource when the server was created
	Place    string // directory of the server's files
	Password string // of the roles; letters and digits
	Socket   string // directory of the socket; "" while the server is not running
}

func (s *server) readState() (serverState, error) {
	path := filepath.Join(s.dir, stateName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s.newState()
	}
	if err != nil {
		return serverState{}, err
	}
	var state serverState
	if err := json.Unmarshal(data, &state); err != nil || state.Place == "" {
		return state, fmt.Errorf("read %q: %w", path, domarkx.ErrCorrupt)
	}
	if state.Format != stateFormat {
		return state, fmt.Errorf("read %q: unknown format %d: %w", path, state.Format, domarkx.ErrUnsupported)
	}
	if state.Dir == s.dir {
		return state, nil
	}
	if _, err := os.Lstat(filepath.Join(state.Dir, stateName)); err == nil && filepath.Dir(state.Place) == rootPlaces {
		return state, fmt.Errorf("the PostgreSQL server in %q belongs to %q, of which this is a copy: %w; remove this workspace and run the command again", state.Place, state.Dir, domarkx.ErrConflict)
	}
	if filepath.Dir(state.Place) != rootPlaces {
		state.Place = filepath.Join(s.dir, "server") // the repository was moved, or copied
	}
	state.Dir = s.dir
	if _, err := os.Lstat(state.Place); err == nil && filepath.Dir(state.Place) == rootPlaces {
		if err := noteOwner(state); err != nil {
			return state, err
		}
	}
	return state, s.writeState(state)
}

func (s *server) newState() (serverState, error) {
	state := serverState{Format: stateFormat, Dir: s.dir, Place: filepath.Join(s.dir, "server"), Password: rand.Text()}
	if s.account != nil {
		state.Place = filepath.Join(rootPlaces, rand.Text())
	}
	return state, s.writeState(state)
}

func (s *server) writeState(state serverState) error {
	data, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(s.dir, stateName), append(data, '\n'))
}

// makePlace creates the directory for the server's files.
func (s *server) makePlace() error {
	if s.account != nil {
		if err := os.MkdirAll(rootPlaces, 0o711); err != nil {
			return err
		}
		if err := noteOwner(s.state); err != nil {
			return err
		}
	}
	err := os.Mkdir(s.state.Place, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.own(s.state.Place)
}

// own makes the account that runs the server the owner of a file.
func (s *server) own(path string) error {
	if s.account == nil {
		return nil
	}
	return os.Lchown(path, int(s.account.Uid), int(s.account.Gid))
}

// longestSocket limits the path of the socket's directory, in bytes (unix(7)).
const longestSocket = 80

// makeSocket creates the directory for the socket, which no other user can enter.
func (s *server) makeSocket() error {
	if err := s.removeSocket(); err != nil {
		return err
	}
	parent := os.TempDir()
	if s.account != nil { // it cannot enter a temporary directory of root
		parent = s.state.Place
	}
	if len(parent) > longestSocket {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "git-domarkx-")
	if err != nil {
		return err
	}
	s.state.Socket = dir
	return errors.Join(s.own(dir), s.writeState(s.state))
}

// removeSocket removes the directory of a socket whose server has ended.
func (s *server) removeSocket() error {
	if s.state.Socket == "" {
		return nil
	}
	for _, name := range []string{".s.PGSQL.5432", ".s.PGSQL.5432.lock", ""} {
		if err := os.Remove(filepath.Join(s.state.Socket, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	s.state.Socket = ""
	return s.writeState(s.state)
}

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
	return atomicfile.Remove(place + ownerSuffix)
}

// Leftovers lists the servers of root whose resource was below a directory and was removed. The
// servers of other users are in the directories of their resources.
func (Plugin) Leftovers(ctx context.Context, root string) ([]plugins.Leftover, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	owners, err := glob.Below(rootPlaces, "*"+ownerSuffix)
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
	// A state is written before its server starts, so every server found is in a state by now. If one cannot be read, its
	// server must not be removed.
	live := map[string]bool{}
	err = plugins.EachState(ctx, root, stateName, func(data []byte) error {
		var s serverState
		err := json.Unmarshal(data, &s)
		live[s.Place] = true
		return err
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(o plugins.Leftover) bool { return live[o.ID] }), nil
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
