package importer

import "github.com/domarkx/domarkx"

// ignored reports whether the request leaves out conversations with the title of a header.
func (imp *importer) ignored(h *domarkx.Header) bool {
	if imp.ignore == nil || h.UserMetadata == nil {
		return false
	}
	title, ok := h.UserMetadata.Get("title")
	return ok && imp.ignore(title.Text())
}
