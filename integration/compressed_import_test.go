package integration_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// zstdFrame returns a Zstandard frame with a block for each piece of the content (RFC 8878, section 3.1.1), which are not compressed
// but for those of one byte, repeated. A decoder has to keep the last window bytes that it read, a power of two, for blocks that may
// refer to them.
func zstdFrame(window int, content ...string) []byte {
	exponent := 0
	for 1<<(10+exponent) < window {
		exponent++
	}
	var b bytes.Buffer
	b.WriteString("\x28\xb5\x2f\xfd\x00") // without the size of the content
	b.WriteByte(byte(exponent << 3))
	for i, piece := range content {
		const most = 128 << 10 // bytes of a block
		if len(piece) > most {
			panic("the piece does not fit into a block")
		}
		header := uint32(len(piece) << 3) // type 0: raw
		if len(piece) > 1 && strings.Count(piece, piece[:1]) == len(piece) {
			header |= 1 << 1 // type 1: a byte that is repeated
			piece = piece[:1]
		}
		if i == len(content)-1 {
			header |= 1 // the last one
		}
		b.Write(binary.LittleEndian.AppendUint32(nil, header)[:3])
		b.WriteString(piece)
	}
	return b.Bytes()
}

// sameStream compares two streams. It holds only a part of each in memory. It returns where they differ.
func sameStream(a, b io.Reader) (same bool, at int, err error) {
	var pieces [2][64 << 10]byte
	for {
		n, err := io.ReadFull(a, pieces[0][:])
		m, err2 := io.ReadFull(b, pieces[1][:])
		if !bytes.Equal(pieces[0][:n], pieces[1][:m]) {
			return false, at, nil
		}
		switch at += n; {
		case err == nil && err2 == nil:
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return true, at, nil
		default:
			return false, at, errors.Join(err, err2)
		}
	}
}

// TestCompressedImport imports a compressed transcript that is larger than its window, in bounded memory. A larger window is refused.
func TestCompressedImport(t *testing.T) {
	t.Parallel()
	record := func(n int, role, said string) string {
		return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":%q,"uuid":"u%d","sessionId":"5e55","cwd":"/w","timestamp":"2026-03-01T10:00:%02d.000Z","message":{"role":%q,"content":%q}}`+"\n", role, n, n, role, said)
	}
	const window = 128 << 20
	note := []string{`{"type":"file-history-snapshot","snapshot":"`, strings.Repeat("x", 120_000), `"}` + "\n"}
	content := []string{record(1, "user", "Begin")}
	for size := 0; size < window+window/16; size += len(note[1]) {
		content = append(content, note...)
	}
	content = append(content, record(2, "user", "Go on"))
	r := newRepository(t)
	r.write("s.jsonl.zst", string(zstdFrame(window, content...)))
	const most = 300_000_000
	_, peak := r.used("git-domarkx", "import", "--as", "s", "s.jsonl.zst")
	t.Logf("peak memory %d MB", peak/1e6)
	if peak > most {
		t.Errorf("peak memory %d MB, expected at most %d", peak/1e6, most/1_000_000)
	}
	export := r.command(t.Context(), "git-domarkx", "export", "--format", "claude-code", "s")
	exported, err := export.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, export)
	var want []io.Reader
	for _, piece := range content {
		want = append(want, strings.NewReader(piece))
	}
	if same, at, err := sameStream(exported, io.MultiReader(want...)); !same || err != nil {
		t.Errorf("after %d bytes, another transcript than was compressed was exported, %v", at, err)
	}
	if err := export.Wait(); err != nil {
		t.Error(err)
	}
	r.write("larger.jsonl.zst", string(zstdFrame(2*window, note...)))
	o := r.try("", "git-domarkx", "import", "larger.jsonl.zst")
	if o.code != 1 || !strings.Contains(o.err, "larger.jsonl.zst") || !strings.Contains(o.err, "window of more than 128 MiB") {
		t.Errorf("a larger window: %s", o)
	}
}
