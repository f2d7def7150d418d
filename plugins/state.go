package plugins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

const (
	stateFile   = "state.json"
	stateFormat = "1"
	maxState    = 64 << 20 // size limit of a state file, in bytes
)

// A state is the state of an instance as stored in its state file.
type state struct {
	Name      string
	Renaming  string // new name while the directory is being renamed
	Private   bool
	Temporary bool
	Next      int // number of the next resource's directory

	Head      string                    // version that the live state derives from
	Boot      string                    // Config.Boot when the live state was last known to match the head; "" if unknown
	Committed []domarkx.ResourceVersion // resources of the head
	Resources []entry                   // live resources
	Loading   *domarkx.Version          // the version being loaded: its ID and resources
	Asked     []domarkx.ResourceSpec    // the resources that may be opened for that; none means all
	// Given identifies the state that the last commit stored until a version with it is the
	// head: "id version" for each resource. It becomes non-nil before plugins are called.
	Given []string
	// Kept identifies, like Given, the live state of an unfinished load that was last kept,
	// or that the load itself left.
	Kept []string
}

// An entry is a resource of an instance.
type entry struct {
	domarkx.ResourceSpec
	Directory  string // name of its own directory
	Created    bool   // whether the plugin created it
	Gone       bool   // whether it is being removed
	Private    bool
	New        bool   // whether the unfinished load adds it and has not yet compared the content at its path
	Filled     bool   // whether the unfinished load found its path vacant
	Dirty      bool   // whether it may differ from the head, whatever the plugin reports
	Copy       bool   // whether the content of its path must still be copied into it
	LockedPath string // path that it works on in place; no other instance may work on it
	Path       string // its directory on this machine; in the file, relative to the instance's directory if inside
}

// readState reads the state of the instance in a directory. It returns domarkx.ErrNotFound
// if there is none.
func readState(dir string) (state, error) {
	path := filepath.Join(dir, stateFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, fmt.Errorf("no instance on this machine: %w", domarkx.ErrNotFound)
	}
	if err != nil {
		return state{}, err
	}
	if len(data) > maxState {
		return state{}, fmt.Errorf("%q: %w: larger than %d bytes", path, domarkx.ErrCorrupt, maxState)
	}
	v, err := jsonvalue.ParseValue(data)
	if err != nil {
		return state{}, fmt.Errorf("%q: %w: %w", path, domarkx.ErrCorrupt, err)
	}
	if f := text(v, "format"); f != stateFormat {
		return state{}, fmt.Errorf("%q is of format %q: %w", path, f, domarkx.ErrUnsupported)
	}
	s := parseState(v)
	for i := range s.Resources {
		if e := &s.Resources[i]; e.Path != "" && !filepath.IsAbs(e.Path) {
			e.Path = filepath.Join(dir, filepath.FromSlash(e.Path))
		}
	}
	return s, nil
}

func parseState(v jsonvalue.Value) state {
	s := state{Name: text(v, "name"), Renaming: text(v, "renaming"), Private: truth(v, "private"), Temporary: truth(v, "temporary"), Head: text(v, "head"), Boot: text(v, "boot")}
	s.Next, _ = strconv.Atoi(text(v, "next"))
	s.Committed = parseVersions(items(v, "committed"))
	for _, item := range items(v, "resources") {
		s.Resources = append(s.Resources, entry{
			ResourceSpec: parseSpec(item), Directory: filepath.Base(text(item, "folder")), Created: truth(item, "made"), Gone: truth(item, "gone"),
			Private: truth(item, "private"), New: truth(item, "new"), Filled: truth(item, "filled"), Dirty: truth(item, "dirty"), Copy: truth(item, "copy"),
			LockedPath: text(item, "claim"), Path: text(item, "path"),
		})
	}
	if loading, ok := v.Get("loading"); ok {
		s.Loading = &domarkx.Version{ID: text(loading, "version"), Resources: parseVersions(items(loading, "resources"))}
		for _, item := range items(loading, "asked") {
			s.Asked = append(s.Asked, parseSpec(item))
		}
	}
	s.Given, s.Kept = texts(v, "given"), texts(v, "kept")
	return s
}

// write replaces the state file in a directory durably.
func (s state) write(dir string) error {
	s.Resources = slices.Clone(s.Resources)
	for i := range s.Resources {
		e := &s.Resources[i] // a copied repository has its own
		if inside, err := filepath.Rel(dir, e.Path); err == nil && e.Path != "" && filepath.IsLocal(inside) {
			e.Path = filepath.ToSlash(inside)
		}
	}
	data := s.value().AppendJSON(nil, "", "  ")
	if err := atomicfile.Replace(filepath.Join(dir, stateFile), append(data, '\n')); err != nil {
		return fmt.Errorf("writing the state of workspace %q: %w", s.Name, err)
	}
	return nil
}

func (s state) value() jsonvalue.Value {
	o := object{}
	o.text("format", stateFormat).text("name", s.Name).text("renaming", s.Renaming)
	o.truth("private", s.Private).truth("temporary", s.Temporary)
	o.text("next", strconv.Itoa(s.Next)).text("head", s.Head).text("boot", s.Boot).add("committed", versionsValue(s.Committed))
	resources := make([]jsonvalue.Value, len(s.Resources))
	for i, e := range s.Resources {
		r := specValue(e.ResourceSpec)
		r.text("folder", e.Directory).truth("made", e.Created).truth("gone", e.Gone).truth("private", e.Private)
		r.truth("new", e.New).truth("filled", e.Filled).truth("dirty", e.Dirty).truth("copy", e.Copy)
		r.text("claim", e.LockedPath).text("path", e.Path)
		resources[i] = jsonvalue.ObjectValue(r...)
	}
	o.add("resources", jsonvalue.ArrayValue(resources...))
	if s.Loading != nil {
		l := object{}
		l.text("version", s.Loading.ID).add("resources", versionsValue(s.Loading.Resources))
		asked := make([]jsonvalue.Value, len(s.Asked))
		for i, spec := range s.Asked {
			asked[i] = jsonvalue.ObjectValue(specValue(spec)...)
		}
		l.add("asked", jsonvalue.ArrayValue(asked...))
		o.add("loading", jsonvalue.ObjectValue(l...))
	}
	o.texts("given", s.Given).texts("kept", s.Kept)
	return jsonvalue.ObjectValue(o...)
}

// object builds a JSON object. It omits empty and false members.
type object []jsonvalue.Member

func (o *object) add(name string, v jsonvalue.Value) *object {
	*o = append(*o, jsonvalue.Member{Name: name, Value: v})
	return o
}

func (o *object) text(name, s string) *object {
	if s == "" {
		return o
	}
	return o.add(name, jsonvalue.StringValue(s))
}

func (o *object) truth(name string, b bool) *object {
	if !b {
		return o
	}
	return o.add(name, jsonvalue.BoolValue(true))
}

// texts adds a list unless it is nil.
func (o *object) texts(name string, list []string) *object {
	if list == nil {
		return o
	}
	values := make([]jsonvalue.Value, len(list))
	for i, s := range list {
		values[i] = jsonvalue.StringValue(s)
	}
	return o.add(name, jsonvalue.ArrayValue(values...))
}

func specValue(s domarkx.ResourceSpec) object {
	o := object{}
	o.text("id", s.ID).text("type", s.Type).add("config", s.Config)
	return o
}

func versionsValue(versions []domarkx.ResourceVersion) jsonvalue.Value {
	values := make([]jsonvalue.Value, len(versions))
	for i, r := range versions {
		o := specValue(r.ResourceSpec)
		o.text("version", r.Version)
		values[i] = jsonvalue.ObjectValue(o...)
	}
	return jsonvalue.ArrayValue(values...)
}

func parseSpec(v jsonvalue.Value) domarkx.ResourceSpec {
	config, _ := v.Get("config")
	return domarkx.ResourceSpec{ID: text(v, "id"), Type: text(v, "type"), Config: config}
}

func parseVersions(values []jsonvalue.Value) []domarkx.ResourceVersion {
	var versions []domarkx.ResourceVersion
	for _, v := range values {
		versions = append(versions, domarkx.ResourceVersion{ResourceSpec: parseSpec(v), Version: text(v, "version")})
	}
	return versions
}

func text(v jsonvalue.Value, name string) string {
	member, _ := v.Get(name)
	return member.Text()
}

// texts returns a list of strings; nil if there is none.
func texts(v jsonvalue.Value, name string) []string {
	list, ok := v.Get(name)
	if !ok {
		return nil
	}
	all := []string{}
	for _, item := range list.Items() {
		all = append(all, item.Text())
	}
	return all
}

func truth(v jsonvalue.Value, name string) bool {
	member, _ := v.Get(name)
	return member.IsTrue()
}

func items(v jsonvalue.Value, name string) []jsonvalue.Value {
	member, _ := v.Get(name)
	return member.Items()
}
