package zeus

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	zeusformat "github.com/domarkx/domarkx/format/zeus"
)

// noWorkspace is Zeus's value for an unknown workspace.
const noWorkspace = "?"

// A swayNode is a node of sway's tree (sway-ipc(7), GET_TREE).
type swayNode struct {
	Type     string     `json:"type"`
	Name     string     `json:"name"`
	PID      int        `json:"pid"`
	Window   int64      `json:"window"` // X11 window id
	Nodes    []swayNode `json:"nodes"`
	Floating []swayNode `json:"floating_nodes"`
}

// A placed is a sway window with its workspace.
type placed struct {
	pid       int
	window    int64
	title     string
	workspace string
}

// swayWindows returns the windows of sway, or an error if sway does not run.
func swayWindows(ctx context.Context) ([]placed, error) {
	out, err := output(ctx, "", "swaymsg", "-t", "get_tree")
	if err != nil {
		return nil, err
	}
	var root swayNode
	if err := json.Unmarshal([]byte(out), &root); err != nil {
		return nil, fmt.Errorf("swaymsg: %w", err)
	}
	var found []placed
	var walk func(n swayNode, workspace string)
	walk = func(n swayNode, workspace string) {
		if n.Type == "workspace" {
			workspace = n.Name
		}
		if n.PID != 0 {
			found = append(found, placed{n.PID, n.Window, n.Name, workspace})
		}
		for _, child := range append(n.Nodes, n.Floating...) {
			walk(child, workspace)
		}
	}
	walk(root, "")
	return found, nil
}

// findWorkspaces sets the sway workspace of each agent with a window. Without sway it
// does nothing.
func (t *Terminals) findWorkspaces(ctx context.Context, agents []Agent) {
	if !slices.ContainsFunc(agents, func(a Agent) bool { return a.Kind == zeusformat.Kitty }) {
		return
	}
	windows, err := swayWindows(ctx)
	if err != nil {
		return
	}
	for i, a := range agents {
		if a.Kind == zeusformat.Kitty {
			agents[i].workspace = workspaceOf(a.window, windows)
		}
	}
}

// workspaceOf returns the workspace of a window, or "" if unknown. The windows of one
// kitty instance can be on different workspaces.
func workspaceOf(w kittyWindow, windows []placed) string {
	var own []placed
	for pid := w.PID; pid > 1 && own == nil; pid, _, _ = processOf(pid) {
		for _, p := range windows {
			if p.pid == pid {
				own = append(own, p)
			}
		}
	}
	for _, is := range []func(placed) bool{
		func(p placed) bool { return w.platform != 0 && p.window == w.platform },
		func(placed) bool {
			return !slices.ContainsFunc(own, func(p placed) bool { return p.workspace != own[0].workspace })
		},
		func(p placed) bool { return p.title == w.Title },
	} {
		if i := slices.IndexFunc(own, is); i >= 0 {
			return own[i].workspace
		}
	}
	return ""
}

// moveTo waits for the window of a process, moves it to a sway workspace and switches to
// that workspace. Without sway it does nothing.
func moveTo(ctx context.Context, pid int, workspace string) error {
	if _, err := swayWindows(ctx); err != nil {
		return nil
	}
	if !isWorkspaceName(workspace) {
		return fmt.Errorf("workspace %q: a name with these characters is not given to sway", workspace)
	}
	where := func() string {
		windows, _ := swayWindows(ctx)
		i := slices.IndexFunc(windows, func(p placed) bool { return p.pid == pid })
		if i < 0 {
			return ""
		}
		return windows[i].workspace
	}
	if !eventually(ctx, maxWait, func() bool { return where() != "" }) {
		return fmt.Errorf("moving its window to workspace %q: sway shows no window", workspace)
	}
	for _, command := range []string{
		fmt.Sprintf(`[pid=%d] move container to workspace "%s"`, pid, workspace),
		fmt.Sprintf(`workspace "%s"`, workspace),
		fmt.Sprintf(`[pid=%d] focus`, pid),
	} {
		if _, err := output(ctx, "", "swaymsg", "--", command); err != nil {
			return fmt.Errorf("moving its window to workspace %q: %w", workspace, err)
		}
	}
	if at := where(); at != workspace {
		return fmt.Errorf("moving its window to workspace %q: it is on %q", workspace, at)
	}
	return nil
}

// isWorkspaceName reports whether a name is safe between quotes in a sway command: it
// contains no characters that sway interprets (sway(5)).
func isWorkspaceName(name string) bool {
	return name != "" && isText(name) && !strings.ContainsAny(name, "\"'\\$;,[]{}")
}

// isText reports whether a string is valid UTF-8 without control characters.
func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}
