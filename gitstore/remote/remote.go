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

	"github.com/domarkx/domarkx"
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

	address   string // argument for git
	directory string // its directory below refs/domarkx-remotes/
}

// Find returns a remote by name: one that is configured in Git, else a URL or a path, which
// is relative to the caller's directory. For "" it returns the remote that domarkx.remote
// names, else the only one, else origin. It returns [domarkx.ErrNotFound] if none matches.
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
			return Remote{}, fmt.Errorf("this repository has no remote: %w; add one (git remote add origin URL) or name a URL or path", domarkx.ErrNotFound)
		}
	}
	switch {
	case strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n"):
		return Remote{}, fmt.Errorf("the remote %q: %w", name, domarkx.ErrInvalid)
	case configured[name]:
		return Remote{Name: name, address: name, directory: escape(name)}, nil
	case isURL(name):
		return Remote{Name: name, address: name, directory: derive(withoutSecrets(name))}, nil
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

// preferred returns the default remote, or "" if none is configured.
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

// Prefix returns the directory of the references that record the remote's state. It ends in
// a slash, and KIND/NAME follows.
func (r Remote) Prefix() string { return tracking + r.directory + "/" }

// Tracking returns the reference that records where a shared reference
// (refs/domarkx/KIND/NAME) was last seen in the remote.
func (r Remote) Tracking(ref string) string { return r.Prefix() + strings.TrimPrefix(ref, shared) }

// incoming returns the directory of references that are fetched but not verified yet.
func (r Remote) incoming() string { return incoming + r.directory + "/" }

// Shared returns the shared reference for one below [Remote.Prefix].
func (r Remote) Shared(ref string) string { return shared + strings.TrimPrefix(ref, r.Prefix()) }

var scpLike = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^/:]+:`) })

// isURL reports whether name is a URL (scheme://…, host:path, helper::address) and not a
// path (git-fetch(1), GIT URLS). A DOS drive is a path.
func isURL(name string) bool {
	if len(name) > 1 && name[1] == ':' && filepath.VolumeName(name) != "" {
		return false
	}
	return scpLike().MatchString(name)
}

// withoutSecrets removes user and password from a URL, so that a new token does not look
// like another remote.
func withoutSecrets(name string) string {
	if u, err := url.Parse(name); err == nil && u.Host != "" {
		u.User = nil
		return u.String()
	}
	return name
}

// derive returns the directory name for a remote without a configured name: a readable part
// and a digest. It begins with "@", which no escaped name does.
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

// escape returns a remote's name as one component of a reference's name. Different names
// have different results: a remote "a/sessions" must not be a directory of a remote "a".
func escape(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c >= 0x80 ||
			c == '.' && i > 0 && name[i-1] != '.' && i < len(name)-1 && !strings.HasPrefix(name[i:], ".lock")
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
