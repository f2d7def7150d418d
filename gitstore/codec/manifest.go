package codec

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/oid"
)

const (
	// ManifestName is the name of the manifest of a workspace version in its tree.
	ManifestName   = "workspace.json"
	manifestFormat = "1"

	// MaxManifest is the maximum length of a manifest, in bytes.
	MaxManifest   = chunked.Threshold
	maxResourceID = 100 // bytes
)

// EncodeManifest returns the manifest of a version.
func EncodeManifest(resources []domarkx.ResourceVersion) []byte {
	items := make([]jsonvalue.Value, len(resources))
	for i, r := range resources {
		items[i] = jsonvalue.ObjectValue(
			jsonvalue.Member{Name: "id", Value: jsonvalue.StringValue(r.ID)},
			jsonvalue.Member{Name: "type", Value: jsonvalue.StringValue(r.Type)},
			jsonvalue.Member{Name: "config", Value: r.Config},
			jsonvalue.Member{Name: "version", Value: jsonvalue.StringValue(r.Version)},
		)
	}
	v := jsonvalue.ObjectValue(
		jsonvalue.Member{Name: "format", Value: jsonvalue.NumberValue(manifestFormat)},
		jsonvalue.Member{Name: "resources", Value: jsonvalue.ArrayValue(items...)},
	)
	return append(v.AppendJSON(nil, "", "  "), '\n')
}

// DecodeManifest decodes a manifest, and accepts only its canonical form.
func DecodeManifest(data []byte) ([]domarkx.ResourceVersion, error) {
	bad := func(what string) ([]domarkx.ResourceVersion, error) {
		return nil, fmt.Errorf("%w: %s", domarkx.ErrCorrupt, what)
	}
	v, err := jsonvalue.ParseValue(data)
	if err != nil {
		return bad(err.Error())
	}
	format, ok := v.Get("format")
	if !ok || format.Kind() != jsonvalue.Number {
		return bad("it names no format")
	}
	if format.Text() != manifestFormat {
		return nil, fmt.Errorf("format %s: %w, this program knows %s; a newer one may know it", format.Text(), domarkx.ErrUnsupported, manifestFormat)
	}
	list, _ := v.Get("resources")
	resources := make([]domarkx.ResourceVersion, len(list.Items()))
	for i, item := range list.Items() {
		resources[i].ID, resources[i].Type = textOf(item, "id"), textOf(item, "type")
		resources[i].Config, _ = item.Get("config")
		resources[i].Version = textOf(item, "version")
	}
	if err := CheckResources(resources); err != nil {
		return bad(err.Error())
	}
	if !bytes.Equal(EncodeManifest(resources), data) {
		return bad("it is not in canonical form")
	}
	return resources, nil
}

// CheckResources returns [domarkx.ErrInvalid] for resources that a version cannot have.
func CheckResources(resources []domarkx.ResourceVersion) error {
	seen := make(map[string]bool, len(resources))
	for _, r := range resources {
		if err := checkResourceID(r.ID); err != nil {
			return err
		}
		switch {
		case seen[r.ID]:
			return fmt.Errorf("resource %q: %w: duplicate id", r.ID, domarkx.ErrInvalid)
		case r.Type == "":
			return fmt.Errorf("resource %q: %w: it has no type", r.ID, domarkx.ErrInvalid)
		case r.Config.Kind() != jsonvalue.Object:
			return fmt.Errorf("resource %q: %w: its config is %s, expected an object", r.ID, domarkx.ErrInvalid, r.Config.Kind())
		case !oid.IsHex(r.Version):
			return fmt.Errorf("resource %q: version %q: %w, expected a full object id", r.ID, r.Version, domarkx.ErrInvalid)
		}
		seen[r.ID] = true
	}
	return nil
}

// checkResourceID returns [domarkx.ErrInvalid] for an id that cannot be the name of a directory.
func checkResourceID(id string) error {
	valid := id != "" && len(id) <= maxResourceID && id != ManifestName && id[0] != '.' && id[0] != '-' &&
		strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
	if valid {
		return nil
	}
	return fmt.Errorf("resource id %q: %w, expected at most %d of A-Z a-z 0-9 . _ -, not with . or - first, and not %s", id, domarkx.ErrInvalid, maxResourceID, ManifestName)
}
