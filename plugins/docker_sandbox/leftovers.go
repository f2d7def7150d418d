package dockersandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// leftoversTimeout limits how long Leftovers waits for an engine.
const leftoversTimeout = 2 * time.Second

// Leftovers lists the containers of resources that were created below root and no longer exist there. It ignores containers
// of other machines and repositories on the same engine, and returns none if no engine answers within leftoversTimeout.
func (p *Plugin) Leftovers(ctx context.Context, root string) ([]plugins.Leftover, error) {
	asked, cancel := context.WithTimeout(ctx, cmp.Or(p.wait, leftoversTimeout))
	defer cancel()
	e, err := connect(asked, program{})
	if err != nil {
		return nil, nil // no engine answers; Open says why
	}
	defer e.Client.Close()
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	list, err := e.labelled(asked, labelHost+"="+host)
	if err != nil && ctx.Err() == nil { // the engine just stopped, or is too slow
		return nil, nil
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	// Open stores the state before it creates the container, so a container listed above is in a state by now, wherever a renamed
	// workspace has moved that. If one cannot be read, its container may be in use.
	live := map[string]bool{}
	err = plugins.EachState(ctx, root, "state.json", func(data []byte) error {
		var s struct{ Instance string }
		var other *json.UnmarshalTypeError // of another type of resource
		if err := json.Unmarshal(data, &s); err != nil && !errors.As(err, &other) {
			return err
		}
		live[s.Instance] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	var leftovers []plugins.Leftover
	for _, c := range list {
		dir := c.Labels[labelDir]
		if !beneath.Within(dir, root) || live[c.Labels[labelInstance]] {
			continue
		}
		leftovers = append(leftovers, plugins.Leftover{What: "container " + short(c.ID), ID: c.ID,
			Workspace: c.Labels[labelWorkspace], Resource: c.Labels[labelResource], Dir: dir})
	}
	return leftovers, nil
}

// RemoveLeftover removes a container that [Plugin.Leftovers] returned.
func (p *Plugin) RemoveLeftover(ctx context.Context, o plugins.Leftover) error {
	e, err := connect(ctx, program{})
	if err != nil {
		return err
	}
	defer e.Client.Close()
	return e.remove(ctx, o.ID)
}
