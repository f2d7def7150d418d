package integration_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
)

// zstdFrame returns a Zstandard frame of blocks that are not compressed (RFC 8878, section 3.1.1). A decoder has to keep
// the last window bytes that it read, a power of two, for blocks that may refer to them.
func zstdFrame(content []byte, window int) []byte {
	const most = 128 << 10 // bytes of a block
	exponent := 0
	for 1<<(10+exponent) < window {
		exponent++
	}
	var b bytes.Buffer
	b.WriteString("\x28\xb5\x2f\xfd\x00") // without the size of the content
	b.WriteByte(byte(exponent << 3))
	for at := 0; ; {
		n := min(most, len(content)-at)
		header := uint32(n << 3) // type 0: raw
		if at+n == len(content) {
			header |= 1 // the last one
		}
		b.Write(binary.LittleEndian.AppendUint32(nil, header)[:3])
		b.Write(content[at : at+n])
		if at += n; at == len(content) {
			return b.Bytes()
		}
	}
}

// TestCompressedImport imports a compressed transcript that is larger than its window, in bounded memory. A larger window is refused.
func TestCompressedImport(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	record := func(n int, role, said string) {
		fmt.Fprintf(&text, `{"parentUuid":null,"isSidechain":false,"type":%q,"uuid":"u%d","sessionId":"5e55","cwd":"/w","timestamp":"2026-03-01T10:00:%02d.000Z","message":{"role":%q,"content":%q}}`+"\n", role, n, n, role, said)
	}
	record(1, "user", "Begin")
	note := `{"type":"file-history-snapshot","snapshot":"` + strings.Repeat("x", 60_000) + `"}` + "\n"
	for text.Len() < 140<<20 {
		text.WriteString(note)
	}
	record(2, "user", "Go on")
	r := newRepository(t)
	if err := os.WriteFile(r.path("s.jsonl.zst"), zstdFrame(text.Bytes(), 128<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	const most = 300_000_000
	_, peak := r.used("git-domarkx", "import", "--as", "s", "s.jsonl.zst")
	t.Logf("peak memory %d MB", peak/1e6)
	if peak > most {
		t.Errorf("peak memory %d MB, expected at most %d", peak/1e6, most/1_000_000)
	}
	r.must("", "sh", "-c", "git-domarkx export --format claude-code s >exported")
	if got, err := os.ReadFile(r.path("exported")); err != nil || !bytes.Equal(got, text.Bytes()) {
		t.Errorf("%d bytes were exported, %v; want the %d bytes that were compressed", len(got), err, text.Len())
	}
	if err := os.WriteFile(r.path("larger.jsonl.zst"), zstdFrame([]byte(note), 256<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	o := r.try("", "git-domarkx", "import", "larger.jsonl.zst")
	if o.code != 1 || !strings.Contains(o.err, "larger.jsonl.zst") || !strings.Contains(o.err, "window of more than 128 MiB") {
		t.Errorf("a larger window: %s", o)
	}
}
