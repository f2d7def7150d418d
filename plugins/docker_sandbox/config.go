package dockersandbox

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/beneath"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/engineapi"
)

// A config is a resource's config after validation against the user's permissions.
type config struct {
	settings
	written string // the image as the document spells it, with ${NAME}
	command []string
	env     []string // NAME=VALUE
}

// settings are the settings of a new container.
type settings struct {
	Image     string            `json:"image,omitempty"`
	Network   string            `json:"network,omitempty"`
	Memory    int64             `json:"memory,omitempty"`    // bytes, 0 for no limit
	CPUs      int64             `json:"cpus,omitempty"`      // billionths of a processor, 0 for no limit
	Processes int64             `json:"processes,omitempty"` // 0 for no limit
	Mounts    []engineapi.Mount `json:"mounts,omitempty"`
}

// parseConfig parses a config that matches the schema.
func parseConfig(env domarkx.Env) (config, error) {
	c := config{settings: settings{Network: "none", Memory: env.Limits.Memory, Processes: env.Limits.Processes}}
	if err := env.Literal("command"); err != nil {
		return config{}, err
	}
	for _, m := range env.Config.Members() {
		var err error
		switch v := m.Value; m.Name {
		case "image":
			c.Image, c.written = v.Text(), v.Text()
			if written, ok := env.Written.Get("image"); ok && domarkx.Expanded(written, v) {
				c.written = written.Text()
			}
		case "command":
			c.command = []string{"sh", "-c", v.Text()}
			if v.Kind() == jsonvalue.Array {
				c.command = nil
				for _, item := range v.Items() {
					c.command = append(c.command, item.Text())
				}
			}
		case "env":
			for _, e := range v.Members() {
				if strings.ContainsRune(e.Name+e.Value.Text(), 0) {
					return config{}, fmt.Errorf("config /env/%q: a NUL byte: %w", e.Name, domarkx.ErrInvalid)
				}
				c.env = append(c.env, e.Name+"="+e.Value.Text())
			}
		case "mounts":
			written, _ := env.Written.Get("mounts")
			for i, item := range v.Items() {
				mount, err := parseMount(env, item)
				if err == nil && len(written.Items()) > i {
					err = literalTarget(written.Items()[i], item)
				}
				if err != nil {
					return config{}, fmt.Errorf("config /mounts/%d: %w", i, err)
				}
				c.Mounts = append(c.Mounts, mount)
			}
		case "network":
			c.Network, err = v.Text(), checkNetwork(v.Text(), env.Allow)
		case "memory":
			var memory int64
			if memory, err = parseBytes(v.Text()); env.Limits.Memory == 0 || memory < env.Limits.Memory {
				c.Memory = memory
			}
		case "cpus":
			var cpus float64
			if cpus, err = strconv.ParseFloat(v.Text(), 64); err == nil && cpus <= 1<<20 {
				c.CPUs = max(1, int64(cpus*1e9))
			}
		}
		if err != nil {
			return config{}, fmt.Errorf("config /%s: %w", m.Name, err)
		}
	}
	return c, nil
}

func checkNetwork(name string, allow domarkx.Allow) error {
	switch {
	case name == "none":
		return nil
	case name == "host" || strings.HasPrefix(name, "container:"):
		return fmt.Errorf("network %q would undo the sandbox: %w; use none, bridge or a network of your own", name, domarkx.ErrInvalid)
	case !allow.Network:
		return fmt.Errorf("network %q is not allowed: %w; to let containers reach the network, git config domarkx.allowNetwork true",
			name, domarkx.ErrInvalid)
	}
	return nil
}

var units = map[byte]int64{'b': 1, 'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30}

func parseBytes(s string) (int64, error) {
	unit := int64(1)
	number := strings.ToLower(s)
	if n := len(number); n > 0 && units[number[n-1]] != 0 {
		unit, number = units[number[n-1]], number[:n-1]
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n > 1<<62/unit {
		return 0, fmt.Errorf("%q is not a valid size: %w; write it like 512m", s, domarkx.ErrInvalid)
	}
	if n*unit < 6<<20 {
		return 0, fmt.Errorf("%q is too little: %w; Docker engines require at least 6m", s, domarkx.ErrInvalid)
	}
	return n * unit, nil
}

// literalTarget refuses a ${NAME} in the target of a mount: its value would be the name of a directory in versions.
func literalTarget(written, item jsonvalue.Value) error {
	before, _ := written.Get("target")
	after, _ := item.Get("target")
	if domarkx.Expanded(before, after) {
		return fmt.Errorf("target: ${NAME} cannot be used here, because versions would show its value: %w; write the value itself", domarkx.ErrInvalid)
	}
	return nil
}

// parseMount checks whether the directory of the host is allowed, after resolving symbolic links.
func parseMount(env domarkx.Env, v jsonvalue.Value) (engineapi.Mount, error) {
	text := func(name string) string { member, _ := v.Get(name); return member.Text() }
	writable, _ := v.Get("writable")
	m := engineapi.Mount{Type: "bind", Target: path.Clean(text("target")), ReadOnly: !writable.IsTrue()}
	source := text("source")
	if !filepath.IsAbs(source) {
		if env.WorkTree == "" {
			return m, fmt.Errorf("source %q is relative, and the repository has no work tree: %w", source, domarkx.ErrInvalid)
		}
		source = filepath.Join(env.WorkTree, source)
	}
	resolved, err := filepath.EvalSymlinks(source)
	if err != nil {
		return m, fmt.Errorf("source: %w", err)
	}
	m.Source = resolved
	if !slices.ContainsFunc(env.Allow.Mounts, func(allowed string) bool {
		allowed, err := filepath.EvalSymlinks(allowed)
		return err == nil && beneath.Within(resolved, allowed)
	}) {
		return m, fmt.Errorf("source %q is not allowed: %w; to let containers see it, git config --add domarkx.allowMount %q",
			source, domarkx.ErrInvalid, resolved)
	}
	for _, forbidden := range append(slices.Clone(env.Forbidden), env.Dir) {
		forbidden = beneath.Resolve(forbidden)
		if beneath.Within(resolved, forbidden) || beneath.Within(forbidden, resolved) {
			return m, fmt.Errorf("source %q overlaps %q, which containers may not access: %w", source, forbidden, domarkx.ErrInvalid)
		}
	}
	for _, own := range []string{"/", agentDir, "/proc", "/sys", "/dev"} {
		if m.Target == own || own != "/" && beneath.Within(m.Target, own) {
			return m, fmt.Errorf("target %q is reserved in the container: %w", m.Target, domarkx.ErrInvalid)
		}
	}
	if !m.ReadOnly && env.Private {
		m.ReadOnly = true
		env.Warn(fmt.Sprintf("resource %q: %q is read-only here, since this copy of the workspace is private", env.Resource, m.Target))
	}
	return m, nil
}
