package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

const (
	shared   = "refs/domarkx/"
	tracking = "refs/domarkx-remotes/"
	incoming = "refs/domarkx-incoming/"
)

// A Remote is another repository.
type Remote struct {
	Name string // as the user names it: a configured remote, a URL or a path

	address   string // argument for git: a configured name, a URL or a path
	directory string // component of the names of its tracking and incoming references
}

// Find returns the remote that name means: a remote in Git's configuration, a URL, or an existing path, in this order. A
// relative path begins at g.Dir(). For "" Find returns the remote that the variable domarkx.remote in Git's
// configuration names, else the only configured remote, else origin. It returns
// [domarkx.ErrNotFound] if there is no such remote, and [domarkx.ErrInvalid] for a name that begins with "-" or contains
// NUL or LF. It does not contact the remote.
func Find(ctx context.Context, g *gitcmd.Git, name string) (Remote, error) {
	config, err := g.Config(ctx)
	if err != nil {
		return Remote{}, err
	}
	configured := map[string]bool{}
	for _, remote := range config.Subsections("remote") {
		for _, key := range []string{"url", "pushurl", "vcs"} {
			if _, ok := config.Get("remote." + remote + "." + key); ok {
				configured[remote] = true
			}
		}
	}
	if name == "" {
		if name = preferred(config, configured); name == "" {
			return Remote{}, fmt.Errorf("a remote of this repository: %w; add one (git remote add origin URL) or name a URL or path", domarkx.ErrNotFound)
		}
	}
	switch {
	case strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n"):
		return Remote{}, fmt.Errorf("the remote %q: %w", name, domarkx.ErrInvalid)
	case configured[name]:
		return Remote{Name: name, address: name, directory: escape(name)}, nil
	case isURL(name):
		return Remote{Name: name, address: name, directory: derive(WithoutUser(name))}, nil
	}
	place := name
	if !filepath.IsAbs(place) {
		place = filepath.Join(g.Dir(), place)
	}
	if _, err := os.Stat(place); err != nil {
		return Remote{}, fmt.Errorf("the remote %q is neither configured (git remote -v) nor a URL or an existing path: %w", name, domarkx.ErrNotFound)
	}
	return Remote{Name: name, address: place, directory: derive(filepath.ToSlash(filepath.Clean(place)))}, nil
}

// preferred returns the name of the default remote, or "" if the configuration names none.
func preferred(config *gitcmd.Config, configured map[string]bool) string {
	if name, ok := config.Get("domarkx.remote"); ok && name != "" {
		return name
	}
	if len(configured) == 1 {
		for name := range configured {
			return name
		}
	}
	if configured["origin"] {
		return "origin"
	}
	return ""
}

// String returns the name without user and password.
func (r Remote) String() string { return WithoutUser(r.Name) }

// Prefix returns the prefix of the remote's tracking references, which ends in a slash. KIND/NAME follows.
func (r Remote) Prefix() string { return tracking + r.directory + "/" }

// Tracking returns the tracking reference for a shared name.
func (r Remote) Tracking(ref string) string { return r.Prefix() + strings.TrimPrefix(ref, shared) }

// incoming returns the prefix of the remote's incoming references.
func (r Remote) incoming() string { return incoming + r.directory + "/" }

// Shared returns the shared name for a tracking reference.
func (r Remote) Shared(ref string) string { return shared + strings.TrimPrefix(ref, r.Prefix()) }

var scpLike = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^/:]+:`) })

// isURL reports whether Git takes name for a URL (scheme://…, host:path, helper::address) and not for a path: see GIT
// URLS in git-fetch(1). On Windows, a name that begins with a drive letter is a path.
func isURL(name string) bool {
	if len(name) > 1 && name[1] == ':' && filepath.VolumeName(name) != "" {
		return false
	}
	return scpLike().MatchString(name)
}

// WithoutUser removes user and password from a URL: they belong into no message and no file, and the references of a
// remote must not depend on them, since a password may change.
func WithoutUser(name string) string {
	if u, err := url.Parse(name); err == nil && u.Host != "" {
		u.User = nil
		return u.String()
	}
	return name
}

// derive returns the directory of a remote that has no configured name: "@", the end of its address, and a digest. No
// directory of a configured remote begins with "@", because escape replaces it.
func derive(address string) string {
	digest := sha256.Sum256([]byte(address))
	base := strings.TrimSuffix(path.Base(strings.TrimRight(address, "/")), ".git")
	if i := strings.LastIndexByte(base, ':'); i >= 0 {
		base = base[i+1:]
	}
	const most = 60
	if len(base) > most {
		base = strings.ToValidUTF8(base[:most], "")
	}
	return "@" + escape(base) + "-" + hex.EncodeToString(digest[:6])
}

// escape encodes a remote's name as one component of a reference's name, by writing other bytes as %XX. Different names
// have different results. Slashes are escaped, because the references of a remote "a/sessions" would otherwise be among
// those of a remote "a".
func escape(name string) string {
	return codec.Escape(name, func(i int) bool {
		c := name[i]
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c >= 0x80 ||
			c == '.' && i > 0 && name[i-1] != '.' && i < len(name)-1 && !strings.HasPrefix(name[i:], ".lock")
	})
}
