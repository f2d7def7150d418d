//go:build unix

package postgres

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/domarkx/domarkx/format/domarkx"
)

// DoNotSync makes servers leave it to the kernel when their files reach the disk: no test ends the machine.
func DoNotSync() {
	parameters = append(parameters, "fsync=off", "full_page_writes=off")
}

// PlaceServers makes a directory contain the files of root's servers.
func PlaceServers(dir string) { rootPlaces = dir }

// Plant gives the new resource in dir a copy of the server of the closed resource in from.
func Plant(ctx context.Context, dir, from string) error {
	template := &server{dir: from}
	var err error
	if template.state, err = template.readState(); err != nil {
		return err
	}
	opened, err := openServer(domarkx.Env{Dir: dir})
	if err != nil {
		return err
	}
	s := opened.(*server)
	s.state.Password = template.state.Password
	if err := s.writeState(s.state); err != nil {
		return err
	}
	if err := s.makePlace(); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "cp", "-Rp", template.data(), s.data()).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
