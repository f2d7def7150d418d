package gitstore

import (
	"context"
	"errors"

	"github.com/domarkx/domarkx"
)

// WorkspaceTipOrNone is like [Store.WorkspaceTip], but returns a zero version if the workspace does
// not exist.
func (s *Store) WorkspaceTipOrNone(ctx context.Context, name string) (domarkx.Version, error) {
	tip, err := s.WorkspaceTip(ctx, name)
	if errors.Is(err, domarkx.ErrNotFound) {
		return domarkx.Version{}, nil
	}
	return tip, err
}
