//go:build linux || darwin

package versions_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/fusefs/cover"
	"github.com/domarkx/domarkx/fusefs/versions"
)

// opens is contents that are opened so, and nothing else.
type opens struct {
	domarkx.VersionReader
	content func(ctx context.Context) (domarkx.Content, error)
}

func (o opens) Content(ctx context.Context, _ string) (domarkx.Content, error) { return o.content(ctx) }

type inBytes struct{ *bytes.Reader }

func (inBytes) Close() error { return nil }

// written is a disk that has something to do at each write.
type written struct {
	data   []byte
	did    func()
	synced bool
}

func (w *written) WriteAt(p []byte, off int64) (int, error) {
	copy(w.data[off:], p)
	w.did()
	return len(p), nil
}

func (w *written) Sync() error {
	w.synced = true
	return nil
}

func TestUnpackingEndsWithItsContext(t *testing.T) {
	const size = 3*versions.BlockSize + 5
	want := bytes.Repeat([]byte("some text "), size/10+1)[:size]
	whole := func(context.Context, func()) (domarkx.Content, error) { return inBytes{bytes.NewReader(want)}, nil }
	waits := func(ctx context.Context, end func()) (domarkx.Content, error) {
		go end()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, c := range map[string]struct {
		content func(ctx context.Context, end func()) (domarkx.Content, error)
		did     func(end func())
		ends    bool
	}{
		"not":                    {whole, func(func()) {}, false},
		"while it is written":    {whole, func(end func()) { end() }, true},
		"while it is looked for": {waits, func(func()) {}, true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			defer end()
			content := opens{content: func(ctx context.Context) (domarkx.Content, error) { return c.content(ctx, end) }}
			to := &written{data: make([]byte, size), did: func() { c.did(end) }}
			err := versions.Unpack(ctx, content, to, "id", size)
			if (err != nil) != c.ends || to.synced == c.ends || bytes.Equal(to.data, want) == c.ends {
				t.Errorf("%v, synced: %v", err, to.synced)
			}
		})
	}
}

// What cannot be read says nothing about covering other files.
func TestUnpackingWhatCannotBeRead(t *testing.T) {
	short := inBytes{bytes.NewReader([]byte("short"))}
	for name, content := range map[string]func(context.Context) (domarkx.Content, error){
		"that may not be":     func(context.Context) (domarkx.Content, error) { return nil, fs.ErrPermission },
		"that cannot be":      func(context.Context) (domarkx.Content, error) { return nil, errors.ErrUnsupported },
		"that has less of it": func(context.Context) (domarkx.Content, error) { return short, nil },
		"that ends too early": func(context.Context) (domarkx.Content, error) { return longer{short}, nil },
		"that is not sound":   func(context.Context) (domarkx.Content, error) { return nil, domarkx.ErrCorrupt },
	} {
		to := &written{data: make([]byte, 9), did: func() {}}
		if err := versions.Unpack(t.Context(), opens{content: content}, to, "id", 9); err == nil || cover.Impossible(err) || to.synced {
			t.Errorf("one %s: %v, synced: %v", name, err, to.synced)
		}
	}
}

// longer says that there are 9 bytes.
type longer struct{ inBytes }

func (longer) Size() int64 { return 9 }
