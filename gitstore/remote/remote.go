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

	address string // what git gets
	folder  string // its folder below refs/domarkx-remotes/
}

// Find finds a remote: one that is configured in Git, else a URL or a path, which
// is relative to the directory that the caller stands in. Without a name it is
// the one that domarkx.remote names, else the only one, else origin.
// The error is [domarkx.ErrNotFound] when there is no such remote.
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
		return Remote{Name: name, address: name, folder: escape(name)}, nil
	case isURL(name):
		return Remote{Name: name, address: name, folder: derive(withoutSecrets(name))}, nil
	}
	place := name
	if !filepath.IsAbs(place) {
		place = filepath.Join(g.Dir(), place)
	}
	if _, err := os.Stat(place); err != nil {
		return Remote{}, fmt.Errorf("the remote %q is neither configured (git remote -v) nor a URL or an existing path: %w", name, domarkx.ErrNotFound)
	}
	return Remote{Name: name, address: place, folder: derive(filepath.ToSlash(filepath.Clean(place)))}, nil
}

// preferred is the remote that is meant when none is named; "" when there is none.
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

// Prefix is the folder of the references that say what the remote has: it ends in
// a slash, and KIND/NAME follows.
func (r Remote) Prefix() string { return tracking + r.folder + "/" }

// Tracking is the reference that says where a shared reference
// (refs/domarkx/KIND/NAME) was last seen in the remote.
func (r Remote) Tracking(ref string) string { return r.Prefix() + strings.TrimPrefix(ref, shared) }

// incoming is the folder of the references that were fetched and not verified yet.
func (r Remote) incoming() string { return incoming + r.folder + "/" }

// Shared is the shared reference that one of [Remote.Prefix] stands for.
func (r Remote) Shared(ref string) string { return shared + strings.TrimPrefix(ref, r.Prefix()) }

var scpLike = regexp.MustCompile(`^[^/:]+:`)

// isURL tells URLs (scheme://…, host:path, helper::address) from paths (git-fetch(1),
// GIT URLS); a DOS drive is no host.
func isURL(name string) bool {
	if len(name) > 1 && name[1] == ':' && filepath.VolumeName(name) != "" {
		return false
	}
	return scpLike.MatchString(name)
}

// withoutSecrets takes user and password away, so that a new token does not make
// another remote.
func withoutSecrets(name string) string {
	if u, err := url.Parse(name); err == nil && u.Host != "" {
		u.User = nil
		return u.String()
	}
	return name
}

// derive makes a folder name for a remote without a name of its own: what people
// recognise, and a digest. It begins with "@", as no escaped name does.
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

// escape makes one component of a reference's name of any remote's name. Two names
// never give one: a remote "a/sessions" must not be a folder of a remote "a".
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
