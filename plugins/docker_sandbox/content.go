package dockersandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
)

// compareContents compares the content of rewritten files with the image's. It reads the image's
// content from a temporary container, since this container no longer has it, and caches the hashes.
func (r *resource) compareContents(ctx context.Context, now []agent.Entry) (map[string]bool, error) {
	rewritten := r.base.rewritten(now)
	if len(rewritten) == 0 {
		return nil, nil
	}
	var paths, unknown []string
	for _, i := range rewritten {
		paths = append(paths, now[i].Path)
		if _, ok := r.base.sums[now[i].Path]; !ok {
			unknown = append(unknown, now[i].Path)
		}
	}
	if len(unknown) > 0 {
		sums, err := r.sumImage(ctx, unknown)
		if err != nil {
			return nil, fmt.Errorf("read files of image %q: %w", r.state.Image, err)
		}
		for i, path := range unknown {
			r.base.sums[path] = sums[i]
		}
		if err := r.base.write(baseFile(r.env.Dir, r.state.Container)); err != nil {
			return nil, err
		}
	}
	sums, err := hash(ctx, r.session, paths)
	if err != nil {
		return nil, fmt.Errorf("read files of container %.12s: %w", r.state.Container, err)
	}
	same := make(map[string]bool, len(paths))
	for i, path := range paths {
		same[path] = sums[i] == r.base.sums[path]
	}
	return same, nil
}

func hash(ctx context.Context, s *session, paths []string) (sums [][sha256.Size]byte, err error) {
	err = s.guard(ctx, func() (err error) { sums, err = s.Hash(paths); return err })
	return sums, err
}

// sumImage hashes files of the image. They exist: their attributes were read from a container of
// the same image.
func (r *resource) sumImage(ctx context.Context, paths []string) (sums [][sha256.Size]byte, err error) {
	id, _, err := r.create(ctx, r.image)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.engine.remove(ctx, id)) }()
	s, err := r.engine.start(ctx, id, r.image)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.end(ctx)) }()
	return hash(ctx, s, paths)
}
