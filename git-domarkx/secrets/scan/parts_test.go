package scan_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
)

// privateKey is put together here, so that no file has its text.
const privateKey = "-----BEGIN RSA PRIV" + "ATE KEY-----\n" + "MIIEowIBAAKCAQEAx3Qw8r7Yt6Vb2Kp9Zs4Lm1Nc5Hd0Fg7Je6Ra3Uo8Wi2Xq9\nVb2Kp9Zs4Lm1Nc5Hd0Fg7Je6Ra3Uo8Wi2Xq9MIIEowIBAAKCAQEAx3Qw8r7Yt6\n" + "-----END RSA PRIV" + "ATE KEY-----\n"

// TestParts checks content that is scanned in parts: each secret is found once, in its line, wherever a part ends.
func TestParts(t *testing.T) {
	scanner := secrets.New([]byte("key"), nil)
	line := strings.Repeat("word ", 19) + "\n"
	fill := func(size int) string { return strings.Repeat(line, size/len(line)) }
	places := []int{0, scan.PartSize - scan.Overlap - 200, scan.PartSize - scan.Overlap, scan.PartSize - 100, scan.PartSize, scan.PartSize + 100, 2*scan.PartSize - scan.Overlap}
	if testing.Short() {
		places = []int{0, scan.PartSize - scan.Overlap, scan.PartSize - 100}
	}
	for name, secret := range map[string]string{"one line": github + "\n", "several lines": privateKey} {
		for _, before := range places {
			text := fill(before) + secret + fill(scan.Overlap+1000)
			want := strings.Count(fill(before), "\n") + 1
			got, err := scan.ScanContent(scanner, "", strings.NewReader(text), int64(len(text)))
			if err != nil || len(got) != 1 || !strings.HasSuffix(got[0], fmt.Sprint(" ", want)) {
				t.Errorf("%s after %d bytes: %q, %v; want line %d", name, before, got, err, want)
			}
		}
	}
	text := fill(scan.PartSize) + github + "\n" + fill(scan.PartSize) + gitlab + "\n"
	got, err := scan.ScanContent(scanner, "", strings.NewReader(text), int64(len(text)))
	if err != nil || len(got) != 2 {
		t.Errorf("two: %q, %v", got, err)
	}
	// Lines longer than a part are cut, and the secret after them is still found.
	text = strings.Repeat("word ", scan.PartSize/4) + github + " " + strings.Repeat("word ", scan.PartSize/4)
	if got, err := scan.ScanContent(scanner, "", strings.NewReader(text), int64(len(text))); err != nil || len(got) != 1 || !strings.HasSuffix(got[0], " 1") {
		t.Errorf("a long line: %q, %v", got, err)
	}
}

// TestReaders reads content byte by byte, with a wrong size, and with an error.
func TestReaders(t *testing.T) {
	scanner := secrets.New([]byte("key"), nil)
	text := "a\n" + github + "\n"
	for _, size := range []int64{0, 1, int64(len(text)), scan.PartSize} {
		got, err := scan.ScanContent(scanner, "", iotest.OneByteReader(strings.NewReader(text)), size)
		if err != nil || len(got) != 1 || !strings.HasSuffix(got[0], " 2") {
			t.Errorf("size %d: %q, %v", size, got, err)
		}
	}
	damaged := errors.New("damaged")
	got, err := scan.ScanContent(scanner, "", io.MultiReader(strings.NewReader(text), iotest.ErrReader(damaged)), int64(len(text)+1))
	if !errors.Is(err, damaged) || slices.Contains(got, "") {
		t.Errorf("%q, %v", got, err)
	}
}
