package external

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// Names in the directory of a resource.
const (
	dataName    = "data"    // the plugin's own directory
	stagingName = "staging" // see staging
	logName     = "log"     // standard error of the program's last run
	stateName   = "state.json"
)

// A state is what the host stores about a resource.
type state struct {
	Made    bool   `json:"made"`    // create_resource was answered
	Version string `json:"version"` // the plugin's identifier of the state last committed or loaded; "" for none
}

func (r *resource) in(name string) string { return filepath.Join(r.env.Dir, name) }

func (r *resource) read() error {
	data, err := os.ReadFile(r.in(stateName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r.state)
	}
	if err != nil {
		return fmt.Errorf("reading the state of resource %q: %w", r.env.Resource, err)
	}
	return nil
}

// keep stores the state durably.
func (r *resource) keep(s state) error {
	if s == r.state {
		return nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := atomicfile.Replace(r.in(stateName), data); err != nil {
		return fmt.Errorf("the state of resource %q: %w", r.env.Resource, err)
	}
	r.state = s
	return nil
}
