package trust

import (
	"context"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/permit"
)

// Write is the act of writing a version of a workspace to a directory. It needs a right to what does harm just by
// being there (see hazards). Of a trusted session, only nested repositories that run programs count: a version can
// come from a remote without a change of what the user trusts.
type Write struct {
	Session domarkx.Info // the ID is empty if there is none with the version
	Version domarkx.Version
}

func (a Write) permitted(ctx context.Context, d *decision) (permission, error) {
	p := permission{session: a.Session.Name, what: permit.What{Version: a.Version.ID}}
	if d.consent.Yes {
		d.right = permit.Option
		return p, nil
	}
	trusted := false
	if a.Session.ID != "" {
		var err error
		if trusted, err = d.m.IsTrusted(ctx, a.Session); err != nil {
			return p, err
		}
	}
	look := d.m.hazards
	if trusted {
		look = d.m.nestedPrograms
	}
	untrusted := &UntrustedError{Session: a.Session.Name}
	digest := Digest{}.with("write", a.Version.ID)
	for _, resource := range a.Version.Resources {
		found, err := look(ctx, resource)
		if err != nil {
			return p, err
		}
		if trusted {
			untrusted.Brought = append(untrusted.Brought, found...)
		} else {
			untrusted.Hazards = append(untrusted.Hazards, found...)
		}
	}
	harmless := len(untrusted.Brought)+len(untrusted.Hazards) == 0
	return p, d.need(ctx, digest, harmless, func() (*UntrustedError, error) { return untrusted, nil })
}

// hazards returns the files of a version that are dangerous just by being on the disk: files with a set-id bit or
// capabilities, devices, and nested repositories, because Git obeys their configuration.
func (m *Manager) hazards(ctx context.Context, resource domarkx.ResourceVersion) ([]Program, error) {
	var found []Program
	bare := map[string][]string{} // directory → names in it that a bare repository has
	err := domarkx.WalkVersion(ctx, m.store, resource.Version, func(path string, f domarkx.File) error {
		add := func(path, why string) { found = append(found, Program{Path: resource.ID + "/" + path, Why: why}) }
		switch {
		case f.Type == domarkx.CharDevice || f.Type == domarkx.BlockDevice:
			add(path, f.Type.String())
		case f.Type == domarkx.Regular && f.Mode&0o6000 != 0:
			add(path, "set-id program")
		case f.Type == domarkx.Regular && hasCapabilities(f):
			add(path, "program with capabilities")
		case f.Type == domarkx.Directory && f.Mode&0o6000 != 0:
			add(path, "set-id directory")
		case IsGitName(f.Name):
			add(path, "nested repository")
		}
		if part := repositoryPart(f.Name); part != "" {
			directory, _ := parent(path)
			was := isRepository(bare[directory])
			bare[directory] = append(bare[directory], part)
			if _, name := parent(directory); !was && isRepository(bare[directory]) && !IsGitName(name) {
				add(directory, "nested repository")
			}
		}
		return nil
	})
	return found, err
}

// hasCapabilities reports whether a file grants privileges to the program that is started from it,
// like a set-id bit; see capabilities(7).
func hasCapabilities(f domarkx.File) bool {
	return slices.ContainsFunc(f.Xattrs, func(x domarkx.Xattr) bool { return x.Name == "security.capability" })
}

// foldName returns a name that two names have in common if some file system treats them as equal:
// it ignores case, the characters that HFS+ ignores, and what NTFS cuts off.
func foldName(name string) string {
	folded := strings.Map(func(r rune) rune {
		if r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1
		}
		return r
	}, strings.ToLower(name))
	folded, _, _ = strings.Cut(folded, ":") // an NTFS stream
	return strings.TrimRight(folded, ". ")
}

// IsGitName reports whether some file system treats a name as ".git".
func IsGitName(name string) bool {
	folded := foldName(name)
	return folded == ".git" || folded == "git~1"
}

// repositoryPart returns the name that some file system treats a name as, if it is one of those by
// which Git recognizes a directory as a repository; "" for others.
func repositoryPart(name string) string {
	folded := foldName(name)
	for _, part := range []string{"HEAD", "objects", "refs", "commondir"} {
		if folded == strings.ToLower(part) {
			return part
		}
	}
	return ""
}

// isRepository reports whether Git would recognize a directory with these parts. One with
// "commondir" keeps everything but HEAD elsewhere, including its configuration.
func isRepository(parts []string) bool {
	has := func(name string) bool { return slices.Contains(parts, name) }
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}
