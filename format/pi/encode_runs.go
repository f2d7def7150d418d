package pi

import (
	"strconv"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// spread divides the text of a result among its original texts. If it was changed, the first gets
// all of it.
func spread(items []domarkx.Value, said string) []string {
	var lengths []int
	for _, item := range items {
		if own, ok := item.Get(keyOwn); ok {
			length, _ := own.Get("length")
			n, err := strconv.Atoi(length.Text())
			if err != nil {
				return []string{said}
			}
			lengths = append(lengths, n)
		}
	}
	if texts := cut(said, "\n", lengths); texts != nil {
		return texts
	}
	return []string{said}
}

// cut divides text that was joined; nil when it is not of these lengths.
func cut(joined, separator string, lengths []int) []string {
	var parts []string
	for i, n := range lengths {
		if i > 0 {
			var ok bool
			if joined, ok = strings.CutPrefix(joined, separator); !ok {
				return nil
			}
		}
		if n < 0 || n > len(joined) {
			return nil
		}
		parts, joined = append(parts, joined[:n]), joined[n:]
	}
	if joined != "" {
		return nil
	}
	return parts
}

// runParts are the parts that a run of Markdown is.
type runParts struct {
	pictures []domarkx.Value // of the result before it
	items    []domarkx.Value
}

// parts returns the parts of run k: the images of a result, and the original parts if their lengths
// still fit, otherwise newly read ones. behind reports that the run follows a result.
func (w *writing) parts(d division, k, pictures int, were []domarkx.Value, behind bool) runParts {
	whole := mdtext.Join(d.runs[k], w.glue(k, len(d.runs)))
	var stand []domarkx.Value
	for _, item := range were {
		if isStripped(item) {
			stand = append(stand, item)
		}
	}
	var texts []string
	switch n := pictures + len(stand); {
	case n == 1:
		texts = []string{whole}
	case n > 1:
		texts = cut(whole, "\n\n", w.lengths(k))
	}
	if len(texts) != pictures+len(stand) || whole != "" && len(texts) == 0 {
		return w.anew(whole, were, behind)
	}
	var parts runParts
	for i, t := range texts {
		item := transcript.Object(keyType, transcript.Str(partImage))
		if i >= pictures {
			item = stand[i-pictures]
		}
		if transcript.Text(item, keyType) == partText {
			parts.items = append(parts.items, item.With(keyText, transcript.Str(t)))
			continue
		}
		m := picture.FindStringSubmatch(t)
		if m == nil {
			return w.anew(whole, were, behind)
		}
		item = item.With(keyMimeType, transcript.Str(m[1])).With(keyData, transcript.Str(m[2]))
		if i < pictures {
			parts.pictures = append(parts.pictures, item)
		} else {
			parts.items = append(parts.items, item)
		}
	}
	if len(stand) < len(were) { // parts that are only stored keep their places
		made := parts.items
		parts.items = nil
		for _, item := range were {
			if isStripped(item) {
				item, made = made[0], made[1:]
			}
			parts.items = append(parts.items, item)
		}
	}
	return parts
}

// anew reads a run as text and images. Images directly after a result belong to it. Others in a
// message of an assistant, which cannot have images in pi, remain text.
func (w *writing) anew(whole string, were []domarkx.Value, behind bool) runParts {
	var parts runParts
	add := func(s string) {
		if s = strings.Trim(s, "\n"); s != "" {
			parts.items = append(parts.items, transcript.Object(keyType, transcript.Str(partText), keyText, transcript.Str(s)))
		}
	}
	at := 0
	for _, m := range pictureLines.FindAllStringSubmatchIndex(whole, -1) {
		behind = behind && strings.TrimSpace(whole[at:m[0]]) == ""
		if !behind && w.m.Role == domarkx.Assistant {
			continue
		}
		add(whole[at:m[0]])
		if alt := whole[m[2]:m[3]]; alt != "image" {
			w.lose(w.i, "the text %q of a picture", alt)
		}
		image := transcript.Object(keyType, transcript.Str(partImage), keyData, transcript.Str(whole[m[6]:m[7]]), keyMimeType, transcript.Str(whole[m[4]:m[5]]))
		if behind {
			parts.pictures = append(parts.pictures, image)
		} else {
			parts.items = append(parts.items, image)
		}
		at = m[1]
	}
	add(whole[at:])
	for _, item := range were {
		if !isStripped(item) {
			parts.items = append(parts.items, item)
		}
	}
	return parts
}

// note returns the recorded note of run k.
func (w *writing) note(k int) domarkx.Value {
	notes, _ := w.metadata.Get(keyRuns)
	if k < len(notes.Items()) {
		return notes.Items()[k]
	}
	return domarkx.Value{}
}

func (w *writing) lengths(k int) []int {
	list, _ := w.note(k).Get(keyLengths)
	lengths := make([]int, 0, len(list.Items()))
	for _, item := range list.Items() {
		n, err := strconv.Atoi(item.Text())
		if err != nil {
			return nil
		}
		lengths = append(lengths, n)
	}
	return lengths
}

// glue returns the text between the blocks of run k.
func (w *writing) glue(k, runs int) []string {
	if runs == 1 && w.m.Glue() != nil {
		return w.m.Glue()
	}
	list, _ := w.note(k).Get(domarkx.MetadataGlue)
	var between []string
	for _, item := range list.Items() {
		between = append(between, item.Text())
	}
	return between
}

// whole is all that a message says as one text.
func (w *writing) whole() string { return mdtext.Join(w.m.Content, w.glue(0, 1)) }
