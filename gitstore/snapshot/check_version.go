package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/version"
)

// Workspace checks the versions in a workspace's history, from its tip on, and adds findings. It returns an error only
// if it cannot check.
func (c *Checker) Workspace(ctx context.Context, name, tip string) error {
	return c.history(ctx, tip, func(id string) (ancestor, []ancestor, error) {
		a, err := c.versions().read(id)
		if err != nil {
			return a, nil, c.damaged(ctx, err, name+"@"+id)
		}
		if err := c.damaged(ctx, c.checkVersion(ctx, id), name+"@"+id); err != nil {
			return a, nil, err
		}
		before, err := c.versions().before(a, -1)
		return a, before, err
	}, name)
}

// checkVersion returns the first error in a workspace version.
func (c *Checker) checkVersion(ctx context.Context, id string) error {
	v, err := c.VersionOrStub(ctx, id)
	if err != nil {
		return err
	}
	return c.resourcesAfter(ctx, nil, v)
}

// resourcesAfter checks the files of a workspace version that are not in base, the versions of another one's resources by id.
func (c *Checker) resourcesAfter(ctx context.Context, base map[string]string, v domarkx.Version) error {
	for _, r := range v.Resources {
		if err := c.extents.Check(ctx, base[r.ID], r.Version); err != nil {
			return fmt.Errorf("resource %q: %w", r.ID, err)
		}
	}
	return nil
}

// checkContent reads and verifies the content of a file in a version.
func (c *Checker) checkContent(id string) error {
	object, chunks, err := version.ParseContentID(id)
	if err != nil {
		return err
	}
	blob := domarkx.Blob{ID: object.String()}
	if !chunks.IsZero() {
		blob.Chunks = chunks.String()
	}
	return c.blobs.once(blobKey("file of a version", blob), func() error { return c.readWhole(blob) })
}

// noteLink records the link of a message, for checkLinks.
func (c *Checker) noteLink(e domarkx.Entry) {
	if e.Link != "" {
		c.links[e.Link] = true
	}
}

// unlinked returns the noted links to commits that are not parents of a snapshot in the history of tip.
func (c *Checker) unlinked(ctx context.Context, tip string) ([]string, error) {
	links := slices.Sorted(maps.Keys(c.links))
	linked, err := c.Linked(ctx, tip, links)
	return slices.DeleteFunc(links, func(link string) bool { return linked[link] }), err
}

// checkLinks adds findings for links of messages to commits that are not parents of a snapshot in the session's
// history.
func (c *Checker) checkLinks(ctx context.Context, name, tip string) error {
	links, err := c.unlinked(ctx, tip)
	if err != nil {
		return ctx.Err() // reported already
	}
	for _, link := range links {
		what := "is linked by a message, but not a parent of any of the snapshots"
		if id, err := odb.ParseID(link); err != nil || !c.db.Has(id) {
			what = "is linked by a message, but missing, and not a parent of any of the snapshots"
		}
		c.Report("error", fmt.Sprintf("workspace version %s %s", link, what), name+"@"+tip, "nothing uses that link; git domarkx pull fetches the session from a remote that has all of it")
	}
	return nil
}

// checkAttachments verifies the attachments that are not in the base: the name of each is the SHA-256 of its content.
func (c *Checker) checkAttachments(base, root []odb.TreeEntry) error {
	top, err := attachmentsIn(root)
	if err != nil || top.IsZero() || top == odb.FindEntry(base, attachmentsName).ID {
		return err
	}
	directories, err := c.objects.Tree(top)
	if err != nil {
		return err
	}
	known := map[string]odb.ID{}
	if before, err := attachmentsIn(base); err != nil {
		return err
	} else if !before.IsZero() {
		entries, err := c.objects.Tree(before)
		if err != nil {
			return err
		}
		for _, e := range entries {
			known[e.Name] = e.ID
		}
	}
	for _, f := range directories {
		if f.ID == known[f.Name] && f.IsTree() {
			continue
		}
		if err := c.checkAttachmentsIn(known[f.Name], f); err != nil {
			return fmt.Errorf("%s/%s: %w", attachmentsName, f.Name, err)
		}
	}
	return nil
}

func (c *Checker) checkAttachmentsIn(base odb.ID, f odb.TreeEntry) error {
	if !f.IsTree() {
		return fmt.Errorf("%w: mode %o, expected a directory", domarkx.ErrCorrupt, f.Mode)
	}
	entries, err := c.objects.Tree(f.ID)
	if err != nil {
		return err
	}
	if !base.IsZero() {
		old, err := c.objects.Tree(base)
		if err != nil {
			return err
		}
		for _, e := range old {
			if blob, err := object.File(old, e.Name); err == nil {
				c.blobs.note(blobKey("attachment "+f.Name+e.Name, blob), nil)
			}
		}
	}
	named := 0
	for _, e := range entries {
		if e.IsTree() {
			continue // a chunk tree, checked with its pointer
		}
		if !codec.IsSHA256(f.Name + e.Name) {
			return fmt.Errorf("%s: %w: it is not an attachment", e.Name, domarkx.ErrCorrupt)
		}
		blob, err := object.File(entries, e.Name)
		if err != nil {
			return err
		}
		if named++; blob.Chunks != "" {
			named++
		}
		err = c.blobs.once(blobKey("attachment "+f.Name+e.Name, blob), func() error {
			sum := sha256.New()
			if _, err := c.writeWhole(sum, blob); err != nil {
				return err
			}
			if hex.EncodeToString(sum.Sum(nil)) != f.Name+e.Name {
				return fmt.Errorf("%w: it has another SHA-256", domarkx.ErrCorrupt)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	if named != len(entries) || named == 0 {
		return fmt.Errorf("%w: it has entries that are not attachments", domarkx.ErrCorrupt)
	}
	return nil
}
