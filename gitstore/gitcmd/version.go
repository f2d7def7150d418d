package gitcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
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

// RequireVersion returns [domarkx.ErrUnsupported] if git is older than required. It asks git only if its answers to [Discover] do not
// show that it is not.
func (g *Git) RequireVersion(ctx context.Context) error {
	if g.recent {
		return nil
	}
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
	return g.known.version.get(func() (Version, error) {
		out, err := g.Run(ctx, nil, "version")
		if err != nil {
			return Version{}, err
		}
		var v Version
		if _, err := fmt.Sscanf(strings.TrimPrefix(string(out), "git version "), "%d.%d", &v.Major, &v.Minor); err != nil {
			return Version{}, fmt.Errorf("reading the version of git in %q: %w", out, err)
		}
		return v, nil
	})
}
