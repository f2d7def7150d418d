package workspaces

import (
	"context"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// expiredName is the name of the only file that is shown in a version whose files expired. It says when and why.
const expiredName = "EXPIRED.txt"

// expiredID begins the id of the content of that file. The content follows.
const expiredID = "expired:"

func expiredFile(why error) domarkx.File {
	text := why.Error() + "\n"
	return domarkx.File{Name: expiredName, Type: domarkx.Regular, Mode: 0o444, Size: int64(len(text)), ID: expiredID + text}
}

// withExpired reads versions, and the contents of the files of [expiredFile].
type withExpired struct{ domarkx.VersionReader }

func (r withExpired) Content(ctx context.Context, id string) (domarkx.Content, error) {
	if text, ok := strings.CutPrefix(id, expiredID); ok {
		return expiredText{strings.NewReader(text)}, nil
	}
	return r.VersionReader.Content(ctx, id)
}

type expiredText struct{ *strings.Reader }

func (expiredText) Close() error { return nil }
