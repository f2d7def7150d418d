package redact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// noteVersion notes the secrets in a workspace version: in its subject, its configs and its files.
func (c *collector) noteVersion(ctx context.Context, tx *gitstore.Tx, v domarkx.Version, done map[string]string) error {
	c.note([]byte(v.Subject), false)
	for _, r := range v.Resources {
		c.note([]byte(r.Config.JSON()), true)
		_, err := tx.RewriteFiles(ctx, r.Version, done, func(f snapshot.VersionFile) ([]byte, error) {
			if f.Large {
				return nil, nil
			}
			return nil, c.blob(ctx, f.Blob, true)
		})
		if err != nil {
			return fmt.Errorf("workspace version %.12s: resource %q: %w", v.ID, r.ID, err)
		}
	}
	return nil
}

// version stores the redacted form of a workspace version, whose parents are done.
func (w *rewriter) version(ctx context.Context, head snapshot.CommitHead, v domarkx.Version) error {
	parents, changed := w.parents(head.Parents)
	subject := w.table.line(v.Subject)
	changed = changed || subject != v.Subject
	resources := slices.Clone(v.Resources)
	for i := range resources {
		r := &resources[i]
		config, edited := w.table.redact([]byte(r.Config.JSON()), true)
		if edited {
			value, err := domarkx.ParseValue(config)
			if err != nil {
				return fmt.Errorf("redacted config: %w", err)
			}
			r.Config, changed = value, true
		}
		now, err := w.resource(ctx, v, *r)
		if err != nil {
			return fmt.Errorf("workspace version %.12s: resource %q: %w", v.ID, r.ID, err)
		}
		changed = changed || now != r.Version
		r.Version = now
	}
	if !changed {
		w.done[v.ID] = v.ID
		return nil
	}
	now, err := w.tx.CommitVersion(ctx, "", domarkx.VersionCommit{Parents: parents, Resources: resources, Operation: v.Operation, Subject: subject,
		Call: v.Call, Observed: v.Observed, Late: v.Late, Shared: v.Shared, Replaces: keyOf(v.ID, v.Replaces), Author: head.Author, Committer: head.Committer})
	if err != nil {
		return fmt.Errorf("workspace version %.12s: %w", v.ID, err)
	}
	w.done[v.ID] = now.ID
	return nil
}

// resource returns the redacted version of a resource. Files that cannot be edited make it stuck, unless the
// resource is dropped.
func (w *rewriter) resource(ctx context.Context, v domarkx.Version, r domarkx.ResourceVersion) (string, error) {
	if now, ok := w.files[r.Version]; ok {
		return now, nil
	}
	found, nested := "", ""
	var stuck []Stuck
	now, err := w.tx.RewriteFiles(ctx, r.Version, w.directories, func(f snapshot.VersionFile) ([]byte, error) {
		if strings.Contains("/"+f.Path, "/.domarkx-.git/objects/") || strings.Contains("/"+f.Path, "/objects/pack/") {
			nested = f.Path[:strings.Index("/"+f.Path, "/objects/")]
		}
		if f.Large {
			return nil, nil
		}
		data, err := w.tx.Read(ctx, f.Blob)
		if err != nil {
			return nil, err
		}
		text, changed := w.table.redact(data, isText(data))
		if !changed {
			return nil, nil
		}
		found = f.Path
		if !isText(data) || engine.IsDatabase(r.Type) {
			stuck = append(stuck, Stuck{Where: fmt.Sprintf("workspace version %.12s: %s/%s", v.ID, r.ID, f.Path), Drop: r.ID, Rule: w.table.ruleIn(text)})
			return nil, nil
		}
		return text, nil
	})
	if err != nil {
		return "", err
	}
	if found != "" && nested != "" {
		stuck = append(stuck, Stuck{Where: fmt.Sprintf("workspace version %.12s: the objects of the repository %s/%s", v.ID, r.ID, nested), Drop: r.ID, Rule: "a file has one"})
	}
	if len(stuck) > 0 && w.drop[r.ID] {
		if now, err = w.tx.EmptyVersion(ctx); err != nil {
			return "", err
		}
		stuck = nil
	}
	w.stuck = append(w.stuck, stuck...)
	w.files[r.Version] = now
	return now, nil
}

// ruleIn returns the rule of the first placeholder in a redacted text.
func (t *table) ruleIn(text []byte) string {
	if m := placeholders().FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return "unknown"
}
