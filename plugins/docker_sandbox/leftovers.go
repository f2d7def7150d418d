package dockersandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/domarkx/domarkx/plugins"
	"github.com/moby/moby/client"
)

// leftoversTimeout bounds how long an engine may take to say what containers it has.
const leftoversTimeout = 2 * time.Second

// Leftovers lists the containers on the engine that no resource below a directory has
// any more: those that were made for one below it, and are in no state there. Those
// that other machines or repositories made on the same engine are none. Without
// an engine that answers at once there are none.
func (p *Plugin) Leftovers(ctx context.Context, root string) ([]plugins.Leftover, error) {
	asked, cancel := context.WithTimeout(ctx, leftoversTimeout)
	defer cancel()
	e, err := answering(asked)
	if err != nil || e == nil {
		return nil, err
	}
	defer e.Client.Close()
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	list, err := e.labelled(asked, labelHost+"="+host)
	if err != nil && ctx.Err() == nil { // it went down this moment, or is too slow for a look
		return nil, nil
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	// A state is there before its container: what is listed is in a state by now.
	live, err := instancesBelow(ctx, root)
	if err != nil {
		return nil, err
	}
	var leftovers []plugins.Leftover
	for _, c := range list {
		dir := c.Labels[labelDir]
		if !within(root, dir) || live[c.Labels[labelInstance]] {
			continue
		}
		leftovers = append(leftovers, plugins.Leftover{What: "container " + short(c.ID), ID: c.ID,
			Workspace: c.Labels[labelWorkspace], Resource: c.Labels[labelResource], Dir: dir})
	}
	return leftovers, nil
}

// answering connects to the engine if there is one that answers; else nil. A socket
// that is not there is not waited for.
func answering(ctx context.Context) (*engine, error) {
	c, err := client.New(client.FromEnv)
	if err != nil {
		return nil, nil // whoever opens a resource is told
	}
	path, local := strings.CutPrefix(c.DaemonHost(), "unix://")
	if _, err := os.Stat(path); local && err != nil {
		return nil, c.Close()
	}
	if err := c.Close(); err != nil {
		return nil, err
	}
	e, err := connect(ctx, program{})
	if err != nil {
		return nil, nil
	}
	return e, nil
}

// RemoveLeftover removes a container that [Plugin.Leftovers] found.
func (p *Plugin) RemoveLeftover(ctx context.Context, o plugins.Leftover) error {
	e, err := connect(ctx, program{})
	if err != nil {
		return err
	}
	defer e.Client.Close()
	return e.remove(ctx, o.ID)
}

// instancesBelow reads the states of the resources below a directory; a workspace that is
// renamed takes them along. What cannot be read ends it: its container must stay.
func instancesBelow(ctx context.Context, root string) (map[string]bool, error) {
	live := map[string]bool{}
	err := plugins.EachResource(ctx, root, func(dir string) error {
		path := filepath.Join(dir, "state.json")
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		var s struct{ Instance string }
		var other *json.UnmarshalTypeError // of another type of resource
		if err := json.Unmarshal(data, &s); err != nil && !errors.As(err, &other) {
			return fmt.Errorf("read %q: %w", path, err)
		}
		live[s.Instance] = true
		return nil
	})
	return live, err
}
