package markdown_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

func TestImages(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"plain [link](x.png)", nil},
		{"![a](x.png)", []string{"x.png"}},
		{"![](x.png)![](y.png)", []string{"x.png", "y.png"}},
		{"[![a](x.png)](y.html)", []string{"x.png"}},
		{"![a ![b](x.png) c](y.png)", []string{"x.png", "y.png"}},
		{"![a\nb](x.png \"title\")", []string{"x.png"}},
		{"![a](x.png 'it (is)')", []string{"x.png"}},
		{"![a](\n x.png\n (title)\n)", []string{"x.png"}},
		{"![a](<a b.png>)", []string{"a b.png"}},
		{"![a](<>)", []string{""}},
		{`![a](a\)b.png)`, []string{"a)b.png"}},
		{"![a](a(b)c.png)", []string{"a(b)c.png"}},
		{"![a](x&amp;y.png)", []string{"x&y.png"}},
		{"![a](a%20b.png)", []string{"a%20b.png"}},
		{"![a](a b.png)", nil},
		{"![a](x.png", nil},
		{"![a](x.png \"title)", nil},
		{"![a] (x.png)", nil},
		{"![a\n\nb](x.png)", nil},
		{`\![a](x.png)`, nil},
		{`!\[a](x.png)`, nil},
		{"`![a](x.png)`", nil},
		{"``![a](x.png)` ![b](y.png)``", nil},
		{"`![a](x.png)", []string{"x.png"}},
		{"\\`![a](x.png)`", []string{"x.png"}},
		{"`\n\n![a](x.png) `", []string{"x.png"}},
		{"`\n> ![a](x.png) `", []string{"x.png"}},
		{"> `\na\n> ![a](x.png) `", nil},
		{"<!-- ![a](x.png) -->", nil},
		{"<!--\n\n![a](x.png)\n\n-->\n![b](y.png)", []string{"y.png"}},
		{"<!-- ![a](x.png)\n\n![b](y.png)", nil},
		{"a <!-- ![a](x.png) --> ![b](y.png)", []string{"y.png"}},
		{"a <!-- ![a](x.png)", []string{"x.png"}},
		{"- ```\n  ![a](x.png)\n  ```\n- ![b](y.png)", []string{"y.png"}},
		{"> ~~~ text\n> ![a](x.png)\n> ~~~~\n> ![b](y.png)", []string{"y.png"}},
		{"- ```\n  ![a](x.png)\n", nil},
		{"- ```\n  ![a](x.png)\n\n![b](y.png)", []string{"y.png"}},
		{"# ![a](x.png)\n![b](y.png)\n===\n- `\n- ![c](z.png) `", []string{"x.png", "y.png", "z.png"}},
		{"![a](<b)", nil},
		{"![a](b<c\\ 'd')", []string{"b<c\\"}},
		{`![a](b\)`, nil},
		{"![a][ref]\n\n[ref]: x.png", nil},
	} {
		if diff := cmp.Diff(tt.want, markdown.Images(tt.text)); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
}

func TestImagePath(t *testing.T) {
	for destination, want := range map[string]string{
		"shot.png": "shot.png", "./img/shot.png": "img/shot.png", "img/../shot.png": "shot.png", "a%20b.png": "a b.png", "a b.png": "a b.png",
		"100%.png": "100%.png", "shot.png?raw=1#top": "shot.png", "%C3%BC.png": "ü.png", "a%2Fb.png": "a/b.png",
		"https://example.org/x.png": "", "data:image/png;base64,AAAA": "", "file:///etc/passwd": "", "C:/x.png": "", "//host/x.png": "", "#x": "", "": "",
	} {
		if got, err := markdown.ImagePath(destination); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", destination, got, err, want)
		}
	}
	for _, destination := range []string{"../x.png", "a/../../x.png", "%2e%2e/x.png", "..%2fx.png", "/etc/passwd", "%2fetc/passwd", ".git/config", "a/.x.png",
		`..\x.png`, "..%5cx.png", "a%00.png", "%ff.png", "?", "."} {
		if got, err := markdown.ImagePath(destination); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%q: %q, %v", destination, got, err)
		}
	}
}

// Images that a CommonMark parser finds are found, unless blocks of HTML or code are near.
func TestImagesAsCommonMark(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"!", "[", "]", "(", ")", "![a](x.png)", "](", "\\", "`", "``", " ", "\n", "\n\n", "a", "\"", "'", "<", ">", "x.png", "&amp;"})
	rapid.Check(t, func(t *rapid.T) {
		text := "a" + strings.Join(rapid.SliceOfN(pieces, 0, 30).Draw(t, "pieces"), "")
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimLeft(line, " >"), "<") || strings.Contains(line, "```") || strings.HasPrefix(line, "    ") || strings.Contains(line, "]:") {
				return
			}
		}
		found := markdown.Images(text)
		for _, want := range parsedImages([]byte(text)) {
			if len(found) == 0 || !contains(found, want) {
				t.Fatalf("%q: found %q, a parser finds %q", text, found, want)
			}
		}
	})
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

// parsedImages returns the destinations of images by another parser.
func parsedImages(src []byte) []string {
	var found []string
	_ = ast.Walk(goldmark.DefaultParser().Parse(gmtext.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if image, ok := n.(*ast.Image); ok && entering {
			destination := util.UnescapePunctuations(image.Destination) // which the parser leaves to what renders
			found = append(found, string(util.ResolveEntityNames(util.ResolveNumericReferences(destination))))
		}
		return ast.WalkContinue, nil
	})
	return found
}

// A hostile text takes no more time than its length.
func TestImagesOfHostileTexts(t *testing.T) {
	size := 2 << 20
	if testing.Short() {
		size = 1 << 18
	}
	for _, piece := range []string{"![", "![](", "![](<", "![](a '", "![a](x (", "`", "<!--", "a<!-- ", "~~~x\n", "![](x", "](", "\\", "![](" + strings.Repeat("a", 4000),
		"> ```\n", "a``` ", "[![", "!\n"} {
		text := strings.Repeat(piece, size/len(piece))
		start := time.Now()
		markdown.Images("![a](x.png)" + text)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%q: %v", piece[:min(8, len(piece))], took)
		}
	}
	var runs strings.Builder // each run of backticks has another length
	for n := 1; runs.Len() < size; n++ {
		runs.WriteString(strings.Repeat("`", n) + "![")
	}
	start := time.Now()
	markdown.Images(runs.String())
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("backticks: %v", took)
	}
}

func FuzzImages(f *testing.F) {
	for _, seed := range []string{"![a](x.png)", "![a](<x y> 'z')", "`![a](x.png)`", "<!-- ![a](x) -->", "- ~~~\n  ![a](x)\n  ~~~\n", "![](../%2e%2e/etc/passwd)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, destination := range markdown.Images(text) {
			path, err := markdown.ImagePath(destination)
			if err == nil && path != "" && domarkx.CheckFilePath(path) != nil {
				t.Errorf("%q: a bad path %q", destination, path)
			}
		}
	})
}
