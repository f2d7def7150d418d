package domarkx

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

// maxResourceID is the maximum length of a resource id, in bytes.
const maxResourceID = 100

// ParseWorkspace returns the resources of a workspace-config (architecture, section 5.2) in order;
// the list may be empty. A resource without an id gets its type as id, with "-2" and so on if that
// is in use. at is the JSON pointer of v. Errors are [*syntax.Error] values for [Locate]. Plugins
// check the types and their keys.
func ParseWorkspace(v jsonvalue.Value, at string) ([]ResourceSpec, error) {
	if v.Kind() != jsonvalue.Object {
		return nil, wrongKind(v, at, "an object with a list of resources")
	}
	at += "/resources"
	resources, ok := v.Get("resources")
	switch {
	case !ok:
		return nil, badValue(v, at, `the key "resources" is missing, expected a list of resources`)
	case resources.Kind() != jsonvalue.Array:
		return nil, badValue(resources, at, "is not a list, expected a list of resources")
	}
	specs := make([]ResourceSpec, len(resources.Items()))
	taken := map[string]bool{}
	for i, r := range resources.Items() {
		var err error
		if specs[i], err = parseResource(r, fmt.Sprintf("%s/%d", at, i)); err != nil {
			return nil, err
		}
		id := specs[i].ID
		if id != "" && taken[id] {
			member, _ := r.Get("id")
			return nil, badValue(member, fmt.Sprintf("%s/%d/id", at, i), fmt.Sprintf("is %q, which is already the id of another resource", id))
		}
		taken[id] = true
	}
	for i, spec := range specs { // give an unused id to resources without one
		for n := 1; specs[i].ID == ""; n++ {
			id := spec.Type
			if n > 1 {
				id += "-" + strconv.Itoa(n)
			}
			if !taken[id] {
				specs[i].ID, taken[id] = id, true
			}
		}
	}
	return specs, nil
}

func parseResource(v jsonvalue.Value, at string) (ResourceSpec, error) {
	if v.Kind() != jsonvalue.Object {
		return ResourceSpec{}, wrongKind(v, at, `an object with the key "type"`)
	}
	kind, ok := v.Get("type")
	if !ok {
		return ResourceSpec{}, badValue(v, at+"/type", "is missing, expected the type of the resource")
	}
	if kind.Kind() != jsonvalue.String || kind.Text() == "" {
		return ResourceSpec{}, badValue(kind, at+"/type", "is empty or not a string, expected the type of the resource")
	}
	spec := ResourceSpec{Type: kind.Text(), Config: v}
	id, ok := v.Get("id")
	switch {
	case ok && (id.Kind() != jsonvalue.String || !ValidResourceID(id.Text())):
		return spec, badValue(id, at+"/id", `is not a valid resource id, expected at most 100 letters, digits, ".", "_" and "-", not beginning with "." or "-"`)
	case !ok && !ValidResourceID(spec.Type):
		return spec, badValue(kind, at+"/type", fmt.Sprintf("is %q, which is not a valid resource type", spec.Type))
	}
	spec.ID = id.Text()
	return spec, nil
}

// ValidResourceID reports whether an id can be the name of a directory in a version.
func ValidResourceID(id string) bool {
	const characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return id != "" && len(id) <= maxResourceID && id[0] != '.' && id[0] != '-' && id != "workspace.json" && strings.Trim(id, characters) == ""
}

func checkWorkspace(config jsonvalue.Value, at string) error {
	workspace, ok := config.Get("workspace")
	if !ok || workspace.Kind() == jsonvalue.Null {
		return nil
	}
	_, err := ParseWorkspace(workspace, at+"/workspace")
	return err
}
