package dockersandbox

import (
	"context"
	"encoding/json"
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

// Orphans lists the containers on the engine that no resource of this machine has
// any more: the resource's folder was removed without tearing it down. Those
// that other machines made on the same engine are none.
func (p *Plugin) Orphans(ctx context.Context) ([]Orphan, error) {
	e, err := connect(ctx, "")
	if err != nil {
		return nil, err
	}
	defer e.Client.Close()
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	list, err := e.labelled(ctx, labelHost+"="+host)
	if err != nil {
		return nil, err
	}
	var orphans []Orphan
	for _, c := range list {
		dir := c.Labels[labelDir]
		if dir == "" || instanceIn(dir) == c.Labels[labelInstance] {
			continue
		}
		orphans = append(orphans, Orphan{Container: c.ID, Workspace: c.Labels[labelWorkspace], Resource: c.Labels[labelResource], Dir: dir})
	}
	return orphans, nil
}

// RemoveOrphan removes a container that [Plugin.Orphans] found.
func (p *Plugin) RemoveOrphan(ctx context.Context, o Orphan) error {
	e, err := connect(ctx, "")
	if err != nil {
		return err
	}
	defer e.Client.Close()
	return e.remove(ctx, o.Container)
}

func instanceIn(dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, "state.json"))
	var s state
	if err != nil || json.Unmarshal(data, &s) != nil {
		return ""
	}
	return s.Instance
}
