package mdtext_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/mdtext"
)

const pixel = "![image](data:image/png;base64,QQ==)"

// TestPieces: text is cut at the images that stand on a line of their own.
func TestPieces(t *testing.T) {
	image := &mdtext.Image{Type: "image/png", Data: "QQ=="}
	for _, test := range []struct {
		markdown string
		want     []mdtext.Piece
	}{
		{"", []mdtext.Piece{{}}},
		{"a\nb\n", []mdtext.Piece{{Text: "a\nb\n"}}},
		{pixel, []mdtext.Piece{{Image: image}}},
		{"a\n\n" + pixel + "\n\nb\n", []mdtext.Piece{{Text: "a"}, {Image: image}, {Text: "b"}}},
		{pixel + "\n" + pixel, []mdtext.Piece{{Image: image}, {Image: image}}},
		{"a " + pixel, []mdtext.Piece{{Text: "a " + pixel}}},
		{pixel + " b", []mdtext.Piece{{Text: pixel + " b"}}},
		{"![x](images/a.png)", []mdtext.Piece{{Text: "![x](images/a.png)"}}},
		{"![a]\n(data:image/png;base64,QQ==)", []mdtext.Piece{{Text: "![a]\n(data:image/png;base64,QQ==)"}}},
	} {
		if diff := cmp.Diff(test.want, mdtext.Pieces(test.markdown)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.markdown, diff)
		}
	}
}
