package gitcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/derived"
)

// A Version is a version of Git.
type Version struct{ Major, Minor int }

var floor = Version{2, 36}

// String returns the version as Git prints it, without the patch level.
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Less reports whether v is older than w.
func (v Version) Less(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

// RequireVersion returns [domarkx.ErrUnsupported] if git is older than required. The version is
// cached in the state directory, if that exists, until the size or modification time of the
// binary changes.
func (g *Git) RequireVersion(ctx context.Context) error {
	v, err := g.Version(ctx)
	if err != nil {
		return err
	}
	if v.Less(floor) {
		return fmt.Errorf("%q is Git %s: %w; install Git %s or newer", g.binary, v, domarkx.ErrUnsupported, floor)
	}
	return nil
}

// Version returns the version of git.
func (g *Git) Version(ctx context.Context) (Version, error) {
	return g.version.get(func() (Version, error) {
		now, err := stampOf(g.binary)
		if err == nil && g.CommonDir != "" {
			if v, ok := g.remembered(now); ok {
				return v, nil
			}
		}
		out, err := g.Run(ctx, nil, "version")
		if err != nil {
			return Version{}, err
		}
		var v Version
		if _, err := fmt.Sscanf(strings.TrimPrefix(string(out), "git version "), "%d.%d", &v.Major, &v.Minor); err != nil {
			return Version{}, fmt.Errorf("reading the version of git in %q: %w", out, err)
		}
		now.Version = v
		g.remember(now)
		return v, nil
	})
}

// A stamp identifies the binary to which a version belongs.
type stamp struct {
	Binary  string  `json:"binary"`
	Size    int64   `json:"size"`
	Changed int64   `json:"changed"` // nanoseconds since 1970
	Version Version `json:"version"`
}

func stampOf(binary string) (stamp, error) {
	info, err := os.Stat(binary)
	if err != nil {
		return stamp{}, err
	}
	return stamp{Binary: binary, Size: info.Size(), Changed: info.ModTime().UnixNano()}, nil
}

func (g *Git) remembered(now stamp) (Version, bool) {
	data, err := os.ReadFile(g.stampFile())
	if err != nil {
		return Version{}, false
	}
	var was stamp
	if json.Unmarshal(data, &was) != nil {
		return Version{}, false
	}
	now.Version = was.Version
	return was.Version, was == now && was.Version != Version{}
}

// remember caches the version. Errors are ignored, since the cache only saves time; missing
// directories are not created.
func (g *Git) remember(s stamp) {
	if g.CommonDir == "" {
		return
	}
	if data, err := json.Marshal(s); err == nil {
		_ = derived.GitVersion.Replace(g.StateDir(), append(data, '\n'))
	}
}

func (g *Git) stampFile() string { return derived.GitVersion.Path(g.StateDir(), "") }
