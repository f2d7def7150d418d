package chat

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
)

// Wishes are what a document says about models. It is foreign: the name is only a suggestion, and
// everything else is ignored.
type Wishes struct {
	Model   string
	Ignored []string // names of the settings that are ignored
}

// ignoredWords are the names of settings by which a document would choose where a conversation
// goes, without case, "_" and "-".
var ignoredWords = []string{"url", "baseurl", "apibase", "apiurl", "endpoint", "host", "key", "apikey", "keyenv", "keyhelper", "token", "provider", "headers"}

// WishesOf returns what the header of a session says about models: in its session-config, and in
// its front matter.
func WishesOf(h domarkx.Header) Wishes {
	var w Wishes
	w.read("", h.ExecutionConfig, true)
	if h.UserMetadata != nil {
		w.read("", *h.UserMetadata, false)
	}
	return w
}

// read collects the settings of an object. In a front matter, plain words such as "url" are about
// other things.
func (w *Wishes) read(prefix string, v domarkx.Value, config bool) {
	for _, m := range v.Members() {
		name := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(m.Name))
		switch {
		case (name == "model" || name == "models") && m.Value.Kind() == domarkx.Object:
			w.read(prefix+m.Name+".", m.Value, true)
		case name == "model" && m.Value.Kind() == domarkx.String:
			if w.Model == "" {
				w.Model = m.Value.Text()
			}
		case prefix != "" && m.Value.Kind() == domarkx.Object:
			w.read(prefix+m.Name+".", m.Value, true)
		case slices.Contains(ignoredWords, name) && (config || strings.HasPrefix(name, "api") || name == "baseurl" || strings.HasPrefix(name, "key") && name != "key"):
			w.Ignored = append(w.Ignored, prefix+m.Name)
		}
	}
}

// And returns the wishes of both. If both name a model, that of w counts.
func (w Wishes) And(other Wishes) Wishes {
	if w.Model == "" {
		w.Model = other.Model
	}
	w.Ignored = append(slices.Clone(w.Ignored), other.Ignored...)
	return w
}
