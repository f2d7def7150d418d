package redact

import (
	"context"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// noteVersion adds the secrets in a workspace version to the table: in its subject, its configs,
// and the contents and names of its files.
func (c *collector) noteVersion(ctx context.Context, tx *gitstore.Tx, v domarkx.Version, done map[string]string, names map[string]bool) error {
	c.note([]byte(v.Subject), false)
	if o := v.Observed; o != nil {
		c.note([]byte(o.Branch), false)
		for _, file := range o.LeftOut {
			c.note([]byte(file.Path), false)
		}
	}
	for _, r := range v.Resources {
		c.note([]byte(r.Config.JSON()), true)
		_, err := tx.RewriteFiles(ctx, r.Version, done, func(_ string, content domarkx.Blob) ([]byte, error) {
			if content.Chunks != "" {
				return nil, nil
			}
			return nil, c.blob(ctx, content, true)
		})
		if err == nil {
			err = tx.EntryNames(ctx, r.Version, names, func(name string) { c.note([]byte(name), false) })
		}
		if err != nil {
			return fmt.Errorf("workspace version %.12s: resource %q: %w", v.ID, r.ID, err)
		}
	}
	return nil
}

// versionForms are the redacted versions of resources.
type versionForms struct {
	files       map[[2]string]string // id and version of a resource → redacted version
	directories map[string]string    // directory of a version → redacted directory
	names       map[string]bool      // directories whose names were searched
	clean       map[string]string    // resource → its last version without secrets
}

// version stores the redacted form of a workspace version, or its stub if it expired. Its parents must be done.
func (w *rewriter) version(ctx context.Context, head snapshot.CommitHead, v domarkx.Version) error {
	parents, changed := w.parents(head.Parents)
	stub := w.stubs[key(head)]
	changed = changed || !sameExpiry(stub, v.Expired)
	if stub != nil {
		v.Resources, v.Ignored = nil, nil
	} else if err := v.Files(); err != nil {
		return err
	}
	line := func(text string) string {
		now := w.table.Line(text)
		changed = changed || now != text
		return now
	}
	subject, ignored := line(v.Subject), slices.Clone(v.Ignored)
	for i, path := range ignored {
		ignored[i] = line(path)
	}
	if v.Observed != nil {
		o := *v.Observed
		o.Branch, o.LeftOut = line(o.Branch), slices.Clone(o.LeftOut)
		for i := range o.LeftOut {
			o.LeftOut[i].Path = line(o.LeftOut[i].Path)
		}
		v.Observed = &o
	}
	if v.Call != nil {
		call := *v.Call
		name, named := withoutSecrets(w.table, call.Session)
		call.Session, changed = name, changed || named
		v.Call = &call
	}
	resources := slices.Clone(v.Resources)
	for i := range resources {
		if w.table.IsEmpty() {
			break
		}
		r := &resources[i]
		config, edited := w.table.Redact([]byte(r.Config.JSON()), true)
		if edited {
			value, err := jsonvalue.ParseValue(config)
			if err != nil {
				return fmt.Errorf("redacted config: %w", err)
			}
			r.Config, changed = value, true
		}
		key := [2]string{r.ID, r.Version} // only one of two resources with equal contents may be dropped
		now, err := once(w.files, key, func() (string, error) { return w.resource(ctx, v, *r) })
		if err != nil {
			return fmt.Errorf("workspace version %.12s: resource %q: %w", v.ID, r.ID, err)
		}
		changed = changed || now != r.Version
		r.Version = now
	}
	if without := slices.DeleteFunc(slices.Clone(resources), func(r domarkx.ResourceVersion) bool { return r.Version == "" }); len(without) > 0 || len(resources) == 0 {
		resources = without // the next call creates a new database
	} else {
		return fmt.Errorf("workspace version %.12s: its only resource is a database with a secret in each version, which cannot be dropped; remove the workspace", v.ID)
	}
	if !changed {
		w.done[v.ID] = v.ID
		return nil
	}
	now, err := w.tx.CommitVersion(ctx, "", domarkx.VersionCommit{Parents: parents, Resources: resources, Operation: v.Operation, Subject: subject,
		Call: v.Call, Observed: v.Observed, Overlap: v.Overlap, Ignored: ignored, Replacement: w.replacement(v.ID, v.Replacement),
		Expired: stub, Author: head.Author, Committer: head.Committer})
	if err != nil {
		return fmt.Errorf("workspace version %.12s: %w", v.ID, err)
	}
	w.done[v.ID] = now.ID
	return nil
}

// resource returns the redacted version of a resource. If a file with a secret cannot be edited,
// the file is added to w.stuck, or the content of the resource is dropped if the user asked for
// that.
func (w *rewriter) resource(ctx context.Context, v domarkx.Version, r domarkx.ResourceVersion) (string, error) {
	directories, names := w.directories, w.names
	if w.drop[r.ID] { // search each version again to decide whether it is dropped
		directories, names = map[string]string{}, map[string]bool{}
	}
	var stuck []Stuck
	where := func(path string) string {
		shown, _ := w.table.Redact([]byte(path), false)
		return fmt.Sprintf("workspace version %.12s: %s/%s", v.ID, r.ID, shown)
	}
	add := func(where, rule string) { stuck = append(stuck, Stuck{Where: where, Drop: r.ID, Rule: rule}) }
	now, err := w.tx.RewriteFiles(ctx, r.Version, directories, func(path string, content domarkx.Blob) ([]byte, error) {
		data, err := w.tx.Read(ctx, content)
		if err != nil {
			return nil, err
		}
		if content.Chunks != "" || !secrets.IsText(data) || w.types.IsDump(ctx, r.Type) {
			if rule := w.ruleOf(content, data); rule != "" {
				add(where(path), rule)
			}
			return nil, nil
		}
		if text, changed := w.table.Redact(data, true); changed {
			return text, nil
		}
		return nil, nil
	})
	if err != nil {
		return "", err
	}
	err = w.tx.EntryNames(ctx, r.Version, names, func(name string) {
		if text, changed := w.table.Redact([]byte(name), false); changed {
			add(where(name)+", by its name", placeholder.RuleIn(text))
		}
	})
	if err != nil {
		return "", err
	}
	if len(stuck) > 0 && w.drop[r.ID] {
		if now, err = w.dropped(ctx, r); err != nil {
			return "", err
		}
		stuck = nil
	} else if len(stuck) == 0 {
		w.clean[r.ID+" "+r.Type] = now
	}
	w.stuck = append(w.stuck, stuck...)
	return now, nil
}

// dropped returns the version that replaces one that is dropped: an empty one. A database could not
// be loaded from an empty version, so it gets its last version without secrets, or "" if there is
// none.
func (w *rewriter) dropped(ctx context.Context, r domarkx.ResourceVersion) (string, error) {
	if w.types.IsDump(ctx, r.Type) {
		return w.clean[r.ID+" "+r.Type], nil
	}
	return w.tx.EmptyVersion()
}

// ruleOf returns the rule that finds a secret in a file that cannot be edited, or "" if there is none.
func (w *rewriter) ruleOf(blob domarkx.Blob, data []byte) string {
	rule, _ := once(w.rules, blob.ID, func() (string, error) { return w.table.RuleOf(data), nil })
	return rule
}
