package snapshot

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// CommitVersion stores a version of a workspace, which no ref reaches yet. The versions of its resources must be stored
// already (see [version.Writer]). The workspace's name is only used in the result. CommitVersion returns
// [domarkx.ErrUnsupported] for a parent of an unknown format, and [domarkx.ErrInvalid] for invalid resources.
func (b *Builder) CommitVersion(ctx context.Context, workspace string, c domarkx.VersionCommit) (domarkx.Version, error) {
	if err := ctx.Err(); err != nil {
		return domarkx.Version{}, err
	}
	v := domarkx.Version{Workspace: workspace, Parents: slices.Clone(c.Parents), Number: 1, Date: max(0, c.Committer.When.Unix()),
		Subject: codec.CleanSubject(c.Subject, c.Operation), Operation: c.Operation, Call: c.Call, Overlap: c.Overlap, Replacement: c.Replacement, Expired: c.Expired, Resources: slices.Clone(c.Resources)}
	if c.Observed != nil {
		v.Observed = codec.CleanObservation(*c.Observed)
	}
	if v.Shared = slices.Sorted(slices.Values(c.Shared)); len(v.Shared) > codec.MaxShared {
		v.Shared = v.Shared[:codec.MaxShared]
	}
	for _, path := range c.Ignored {
		v.Ignored = append(v.Ignored, strings.ToValidUTF8(path, "\ufffd"))
	}
	slices.Sort(v.Ignored)
	v.Ignored = slices.Compact(v.Ignored)[:min(len(v.Ignored), codec.MaxIgnored)]
	if c.Expired != nil && (len(c.Resources) > 0 || c.Replaces == "") {
		return domarkx.Version{}, fmt.Errorf("expired version: %w, expected no resources, and the version that it replaces", domarkx.ErrInvalid)
	}
	line := b.versions()
	var parents []odb.ID
	for _, id := range c.Parents {
		p, err := line.read(id)
		if err != nil {
			return domarkx.Version{}, fmt.Errorf("parent of a version: %w", err)
		}
		v.Number = max(v.Number, p.number+1)
		oid, _ := odb.ParseID(id) // it was read
		parents = append(parents, oid)
	}
	tree, err := b.versionTree(c.Resources)
	if err != nil {
		return domarkx.Version{}, err
	}
	object := codec.Commit{Tree: tree, Parents: parents, Author: c.Author, Committer: c.Committer, Message: codec.EncodeVersionMessage(v, len(c.Resources))}
	id, err := b.out.WriteCommit(&object)
	if err != nil {
		return domarkx.Version{}, err
	}
	v.ID = id.String()
	return v, nil
}

// versionTree stores the tree of a version.
func (b *Builder) versionTree(resources []domarkx.ResourceVersion) (odb.ID, error) {
	if err := codec.CheckResources(resources); err != nil {
		return odb.ID{}, err
	}
	manifest := codec.EncodeManifest(resources)
	if len(manifest) > codec.MaxManifest {
		return odb.ID{}, fmt.Errorf("configs of the resources: %w: %d bytes, expected at most %d", domarkx.ErrInvalid, len(manifest), codec.MaxManifest)
	}
	if _, err := codec.DecodeManifest(manifest); err != nil {
		return odb.ID{}, fmt.Errorf("configs of the resources: %w: %v", domarkx.ErrInvalid, err)
	}
	id, err := b.out.Write(odb.Blob, manifest)
	if err != nil {
		return odb.ID{}, err
	}
	entries := []odb.TreeEntry{{Mode: odb.ModeFile, Name: codec.ManifestName, ID: id}}
	for _, r := range resources {
		top, err := odb.ParseID(r.Version)
		if err != nil {
			return odb.ID{}, fmt.Errorf("resource %q: %w", r.ID, err)
		}
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeTree, Name: r.ID, ID: top})
	}
	return b.out.WriteTree(entries)
}

// version reads the commit of a workspace version.
func (r Reader) version(id string) (*codec.Commit, domarkx.Version, int, error) {
	c, err := r.objects.CommitOf(id)
	if err != nil {
		return nil, domarkx.Version{}, 0, err
	}
	id = strings.ToLower(id)
	v, resources, err := codec.DecodeVersionMessage(c.Message)
	if err != nil {
		return nil, domarkx.Version{}, 0, fmt.Errorf("workspace version %s: %w", id, err)
	}
	v.ID, v.Date, v.Parents = id, c.Committer.When.Unix(), idStrings(c.Parents)
	return c, v, resources, nil
}

// Version returns a workspace version, given by its full id, with its resources but without the workspace's name. It
// returns [domarkx.ErrCorrupt] for a commit that is not a version, [domarkx.ErrUnsupported] for one of a later
// format, and a [*domarkx.ExpiredError] together with the stub of a version whose files were removed.
func (r Reader) Version(ctx context.Context, id string) (domarkx.Version, error) {
	v, err := r.VersionOrStub(ctx, id)
	if err == nil {
		err = v.Files()
	}
	return v, err
}

// VersionOrStub is like Version, but returns no error for a version whose files were removed.
func (r Reader) VersionOrStub(_ context.Context, id string) (domarkx.Version, error) {
	c, v, count, err := r.version(id)
	if err != nil {
		return domarkx.Version{}, err
	}
	if v.Resources, err = r.resources(c.Tree); err == nil && len(v.Resources) != count {
		err = fmt.Errorf("%w: %d resources, its commit says %d", domarkx.ErrCorrupt, len(v.Resources), count)
	}
	if err != nil {
		return domarkx.Version{}, fmt.Errorf("workspace version %s: %w", v.ID, err)
	}
	return v, nil
}

// resources reads the manifest in a version's tree, and checks that the tree has exactly the resources in it.
func (r Reader) resources(tree odb.ID) ([]domarkx.ResourceVersion, error) {
	root, err := r.objects.Tree(tree)
	if err != nil {
		return nil, err
	}
	manifest := odb.FindEntry(root, codec.ManifestName)
	if manifest.Mode != odb.ModeFile {
		return nil, fmt.Errorf("%s: %w: it is missing", codec.ManifestName, domarkx.ErrCorrupt)
	}
	if size, err := r.objects.Size(manifest.ID); err != nil {
		return nil, fmt.Errorf("%s: %w", codec.ManifestName, err)
	} else if size > codec.MaxManifest {
		return nil, fmt.Errorf("%s: %w: it has %d bytes, expected at most %d", codec.ManifestName, domarkx.ErrCorrupt, size, codec.MaxManifest)
	}
	data, err := r.objects.Blob(manifest.ID)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", codec.ManifestName, err)
	}
	resources, err := codec.DecodeManifest(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", codec.ManifestName, err)
	}
	directories := make(map[string]odb.TreeEntry, len(root))
	for _, e := range root {
		directories[e.Name] = e
	}
	for _, resource := range resources {
		if e := directories[resource.ID]; !e.IsTree() || e.ID.String() != resource.Version {
			return nil, fmt.Errorf("resource %q: %w: its directory is not the version that %s names", resource.ID, domarkx.ErrCorrupt, codec.ManifestName)
		}
	}
	if len(directories) != len(root) || len(root) != len(resources)+1 {
		return nil, fmt.Errorf("%w: it has entries that %s does not name", domarkx.ErrCorrupt, codec.ManifestName)
	}
	return resources, nil
}

// VersionCommit returns a workspace version from its commit, without its resources.
func (r Reader) VersionCommit(id string) (domarkx.Version, error) {
	_, v, _, err := r.version(id)
	return v, err
}

// NamedVersion is like Version, with the workspace's name in the result and in errors.
func (r Reader) NamedVersion(ctx context.Context, name, id string) (domarkx.Version, error) {
	v, err := r.Version(ctx, id)
	if err != nil {
		return v, fmt.Errorf("workspace %q: %w", name, err)
	}
	v.Workspace = name
	return v, nil
}

// versions returns the lineage of workspace versions.
func (r Reader) versions() lineage {
	return lineage{Reader: r, read: func(id string) (ancestor, error) {
		_, v, _, err := r.version(id)
		return ancestor{id: v.ID, number: v.Number, parents: v.Parents, version: v}, err
	}}
}

// Versions yields a workspace version and its ancestors, sorted by descending number and then by id, without their
// resources and the workspace's name. In a shallow clone it ends where the clone ends. If a commit cannot be read, it
// yields the error last.
func (r Reader) Versions(ctx context.Context, id string) iter.Seq2[domarkx.Version, error] {
	return all(ctx, r.versions(), id, func(a ancestor) domarkx.Version { return a.version })
}

// IsEarlier reports whether workspace version a is b or an ancestor of b.
func (r Reader) IsEarlier(ctx context.Context, a, b string) (bool, error) {
	return r.versions().isAncestor(ctx, a, b)
}

// A CommitHead is what the commit of a snapshot or of a workspace version says.
type CommitHead struct {
	Info              domarkx.Info    // set for a snapshot
	Version           domarkx.Version // set for a workspace version; without its resources
	IsVersion         bool
	Parents           []string
	Author, Committer domarkx.Signature
}

// Head reads the commit of a snapshot or of a workspace version.
func (r Reader) Head(_ context.Context, id string) (CommitHead, error) {
	c, info, err := r.snapshot(id)
	head := CommitHead{Info: info}
	if errors.Is(err, codec.ErrNoSnapshot) {
		if c, head.Version, _, err = r.version(id); err == nil {
			head.IsVersion = true
		}
	}
	if err != nil {
		return CommitHead{}, err
	}
	head.Parents, head.Author, head.Committer = idStrings(c.Parents), c.Author, c.Committer
	return head, nil
}
