package dockersandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// An Orphan is a container whose resource is gone, or has another one.
type Orphan struct {
	Container string // id
	Workspace string // the names that they had
	Resource  string
	Dir       string // folder that the resource had
}

// Orphans lists the containers on the engine that no resource below a folder has
// any more: those that were made for one below it, and are in no state there. Those
// that other machines or repositories made on the same engine are none. Nothing
// may be working with the resources meanwhile.
func (p *Plugin) Orphans(ctx context.Context, root string) ([]Orphan, error) {
	e, err := connect(ctx, program{})
	if err != nil {
		return nil, err
	}
	defer e.Client.Close()
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	list, err := e.labelled(ctx, labelHost+"="+host)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	live, err := instancesBelow(root)
	if err != nil {
		return nil, err
	}
	var orphans []Orphan
	for _, c := range list {
		dir := c.Labels[labelDir]
		if !within(root, dir) || live[c.Labels[labelInstance]] {
			continue
		}
		orphans = append(orphans, Orphan{Container: c.ID, Workspace: c.Labels[labelWorkspace], Resource: c.Labels[labelResource], Dir: dir})
	}
	return orphans, nil
}

// RemoveOrphan removes a container that [Plugin.Orphans] found.
func (p *Plugin) RemoveOrphan(ctx context.Context, o Orphan) error {
	e, err := connect(ctx, program{})
	if err != nil {
		return err
	}
	defer e.Client.Close()
	return e.remove(ctx, o.Container)
}

// instancesBelow reads the states below a folder; a workspace that is renamed takes
// them along.
func instancesBelow(root string) (map[string]bool, error) {
	live := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.Name() != "state.json" || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var s state
		if json.Unmarshal(data, &s) == nil && s.Instance != "" {
			live[s.Instance] = true
		}
		return nil
	})
	return live, err
}
