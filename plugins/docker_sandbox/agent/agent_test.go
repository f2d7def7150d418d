package agent_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEntry(t *testing.T) {
	t.Parallel()
	text := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) })
	rapid.Check(t, func(t *rapid.T) {
		want := agent.Entry{
			Path: text.Draw(t, "path"), File: domarkx.File{Type: domarkx.FileType(rapid.Byte().Draw(t, "type")), Mode: rapid.Uint32Max(0o7777).Draw(t, "mode"),
				UID: rapid.Uint32().Draw(t, "uid"), GID: rapid.Uint32().Draw(t, "gid"), Size: rapid.Int64Min(0).Draw(t, "size"),
				Major: rapid.Uint32().Draw(t, "major"), Minor: rapid.Uint32().Draw(t, "minor"), Target: text.Draw(t, "target")},
			Dev: rapid.Uint64().Draw(t, "dev"), Ino: rapid.Uint64().Draw(t, "ino"), Nlink: rapid.Uint64().Draw(t, "nlink"), CTime: rapid.Int64().Draw(t, "ctime"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "xattrs") {
			want.Xattrs = append(want.Xattrs, domarkx.Xattr{Name: text.Draw(t, "name"), Value: []byte(text.Draw(t, "value"))})
		}
		r := bufio.NewReader(bytes.NewReader(agent.AppendEntry(nil, &want)))
		got, err := agent.ReadEntry(r)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("%v\n%s", err, diff)
		}
		if _, err := agent.ReadEntry(r); !errors.Is(err, io.EOF) {
			t.Fatalf("after the last: %v", err)
		}
	})
}

func FuzzReadEntry(f *testing.F) {
	e := agent.Entry{Path: "a/b", File: domarkx.File{Type: domarkx.Symlink, Mode: 0o777, Target: "c", Xattrs: []domarkx.Xattr{{Name: "user.x", Value: []byte{0}}}}}
	f.Add(agent.AppendEntry(nil, &e))
	f.Add(bytes.Repeat([]byte{0xff}, 100))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReader(bytes.NewReader(data))
		for {
			if _, err := agent.ReadEntry(r); err != nil {
				return
			}
		}
	})
}

// FuzzClient feeds the client arbitrary bytes: a hostile container can send anything.
func FuzzClient(f *testing.F) {
	f.Add([]byte("E\x00\x00\x00\x00"), byte(0))
	f.Add([]byte("E\x00\x00\x00\x02{}"), byte(1))
	f.Add([]byte("D\x00\x00\x00\x02hiE\x00\x00\x00\x0a{\"code\":3}"), byte(2))
	f.Add([]byte("!\x00\x00\x00\x02no"), byte(3))
	f.Add([]byte("D\xff\xff\xff\xff"), byte(4))
	f.Fuzz(func(_ *testing.T, data []byte, what byte) {
		c := agent.NewClient(bytes.NewReader(data), io.Discard)
		switch what % 6 {
		case 0:
			_ = c.Hello(nil)
		case 1:
			_, _ = c.Freeze()
		case 2:
			_, _ = c.Run(context.Background(), agent.Command{Args: []string{"x"}}, io.Discard)
		case 3:
			_ = c.Scan(func(agent.Entry) error { return nil })
		case 4:
			_, _ = c.Hash([]string{"a", "b"})
		case 5:
			_ = c.Read([]string{"a", "b"}, func(_ int, r io.Reader) error {
				_, err := io.Copy(io.Discard, r)
				return err
			})
		}
	})
}

func TestClientRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, answer string }{
		{"nothing", ""},
		{"half a frame", "D\x00\x00"},
		{"a huge frame", "D\x7f\xff\xff\xff"},
		{"another frame", "Q\x00\x00\x00\x00"},
		{"data that is not an entry", "D\x00\x00\x00\x01\xffE\x00\x00\x00\x00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := agent.NewClient(bytes.NewReader([]byte(c.answer)), io.Discard).Scan(func(agent.Entry) error { return nil })
			if err == nil {
				t.Error("no error")
			}
		})
	}
}
