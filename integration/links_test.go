package integration_test

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	documentCode    = regexp.MustCompile("(?ms)^ *````+.*?^ *````+$|^ *```.*?^ *```$|^    [^\n]*|``.*?``|`[^`\n]*`")
	documentLink    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	documentHeading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	noAnchor        = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks checks that the files and headings exist to which the project's documents link.
func TestLinks(t *testing.T) {
	t.Parallel()
	checked := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin" || entry.Name() == "testdata"):
			return fs.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, link := range documentLink.FindAllStringSubmatch(documentCode.ReplaceAllString(string(text), ""), -1) {
			to, err := url.Parse(link[1])
			if err != nil {
				t.Errorf("%s: %v", path, err)
			} else if to.Scheme == "" {
				checked++
				checkLink(t, path, to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 200 {
		t.Errorf("only %d links were found", checked)
	}
}

func checkLink(t *testing.T, path string, to *url.URL) {
	target := path
	if to.Path != "" {
		target = filepath.Join(filepath.Dir(path), to.Path)
	}
	if _, err := os.Stat(target); err != nil {
		t.Errorf("%s links to %s: %v", path, to, err)
		return
	}
	if to.Fragment == "" {
		return
	}
	text, err := os.ReadFile(target)
	if err != nil {
		t.Errorf("%s links to %s: %v", path, to, err)
		return
	}
	for _, heading := range documentHeading.FindAllStringSubmatch(string(text), -1) {
		// As GitHub makes anchors.
		if strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-") == to.Fragment {
			return
		}
	}
	t.Errorf("%s links to %s: there is no such heading", path, to)
}
