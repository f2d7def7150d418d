package chat

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// Wishes are the settings for models in a document. Because a document can come from anybody, the
// model's name is only a suggestion and all other settings are ignored.
type Wishes struct {
	Model   string
	Ignored []string // names of the settings that are ignored
}

// ignoredWords are settings by which a document could choose where a conversation is sent, in lower
// case without "_" and "-".
var ignoredWords = []string{"url", "baseurl", "apibase", "apiurl", "endpoint", "host", "key", "apikey", "keyenv", "keyhelper", "token", "provider", "headers"}

// WishesOf returns the settings for models in a session's header: in its session-config and its
// front matter.
func WishesOf(h domarkx.Header) Wishes {
	var w Wishes
	w.read("", h.ExecutionConfig, true)
	w.read("", h.Meta(), false)
	return w
}

// read collects the settings in an object. In front matter (config is false), plain words such as
// "url" are not settings for models.
func (w *Wishes) read(prefix string, v jsonvalue.Value, config bool) {
	for _, m := range v.Members() {
		name := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(m.Name))
		switch {
		case (name == "model" || name == "models") && m.Value.Kind() == jsonvalue.Object:
			w.read(prefix+m.Name+".", m.Value, true)
		case name == "model" && m.Value.Kind() == jsonvalue.String:
			if w.Model == "" {
				w.Model = m.Value.Text()
			}
		case prefix != "" && m.Value.Kind() == jsonvalue.Object:
			w.read(prefix+m.Name+".", m.Value, true)
		case slices.Contains(ignoredWords, name) && (config || strings.HasPrefix(name, "api") || name == "baseurl" || strings.HasPrefix(name, "key") && name != "key"):
			w.Ignored = append(w.Ignored, prefix+m.Name)
		}
	}
}

// And combines two wishes. If both name a model, it chooses that of w.
func (w Wishes) And(other Wishes) Wishes {
	if w.Model == "" {
		w.Model = other.Model
	}
	w.Ignored = append(slices.Clone(w.Ignored), other.Ignored...)
	return w
}
