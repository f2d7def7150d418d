package openpocket

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

var stamped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d{8}-\d{6}-`) })

// saveScreenshot saves a picture. If the name exists, it uses the next second.
func (r *resource) saveScreenshot(_ context.Context, a arguments) (jsonvalue.Value, error) {
	id, _, err := r.session(a)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	step, err := integer(a, "step")
	if err != nil {
		return jsonvalue.Value{}, err
	}
	data, err := decode(a, "png")
	if err != nil {
		return jsonvalue.Value{}, err
	}
	when := a.when()
	for n := range maxTries {
		stamp := when.Add(time.Duration(n) * time.Second).Format(stampFormat)
		name := fmt.Sprintf("%s-session-%s-step-%03d-%s.png", stamp, id, step, safeName(a.text("app")))
		err := r.create(r.screenshots+"/"+name, 0o644, data)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return jsonvalue.Value{}, err
		}
		removed, err := r.retain(name)
		return jsonvalue.ObjectOf("path", r.screenshots+"/"+name, "removed", removed), err
	}
	return jsonvalue.Value{}, domarkx.NewToolError(domarkx.CodeFailed, "there are pictures of step %d in each second of an hour", step)
}

func decode(a arguments, name string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(a.text(name))
	if err != nil {
		return nil, invalid("%s is not valid Base64 (RFC 4648, section 4): %v", name, err)
	}
	return data, nil
}

// retain removes the oldest pictures if there are too many, and returns how many it removed.
// It sorts by name, since versions contain no times. A picture without a time in its name counts
// as older, and the one that was just saved as the newest.
func (r *resource) retain(saved string) (int, error) {
	names, err := r.names(r.screenshots)
	if err != nil {
		return 0, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return name == saved || !strings.HasSuffix(strings.ToLower(name), ".png")
	})
	slices.SortFunc(names, func(a, b string) int {
		if x, y := stamped().MatchString(a), stamped().MatchString(b); x != y {
			if y {
				return -1
			}
			return 1
		}
		return cmp.Compare(a, b)
	})
	over := max(0, len(names)+1-r.maxScreenshots)
	for _, name := range names[:over] {
		at := r.screenshots + "/" + name
		native := filepath.FromSlash(at)
		if err := r.root.Reach(native, false); err != nil {
			return 0, err
		}
		if err := r.root.Remove(native); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, explain(at, err)
		}
	}
	return over, nil
}
