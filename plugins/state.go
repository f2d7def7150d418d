package plugins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

const (
	stateFile   = "state.json"
	stateFormat = "1"
	maxState    = 64 << 20 // bytes of a state file
)

// A state is what an instance is, as its state file says it.
type state struct {
	Name      string
	Renaming  string // the name that it gets, while its folder is renamed
	Private   bool
	Temporary bool
	Next      int // number of the next resource's folder

	Head      string                    // version that it derives from
	Boot      string                    // Config.Boot when the live state was last known to be the head's; "" where unknown
	Committed []domarkx.ResourceVersion // of the head
	Resources []entry                   // that are live
	Loading   *domarkx.Version          // being loaded: its ID and resources
	Asked     []domarkx.ResourceSpec    // of those that may be opened for it; none for all
	// Given is what the last commit gave, while no version that holds it is the head:
	// "id version" of each resource. It is not nil from before plugins are asked.
	Given []string
	// Kept is what was kept last of the live state while a load does not end, or what
	// the load itself left, as Given.
	Kept []string
}

// An entry is a resource of an instance.
type entry struct {
	domarkx.ResourceSpec
	Folder     string // name of its own folder
	Made       bool   // whether the plugin has opened it
	Gone       bool   // whether it is being removed
	Private    bool
	New        bool   // whether the load that did not end yet brings it, and has yet to find out what is at its path
	Filled     bool   // whether the load that did not end yet found nothing at its path
	Dirty      bool   // whether it may differ from the head, whatever the plugin says
	Copy       bool   // whether it is still to become a copy of what is at its path
	LockedPath string // path that it works on in place, which no other instance may
	Path       string // folder of this machine that it is; in the file from the instance's folder, where it lies in that
}

// readState reads the state of the instance in a folder; domarkx.ErrNotFound when
// there is none.
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
	v, err := domarkx.ParseValue(data)
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

func parseState(v domarkx.Value) state {
	s := state{Name: text(v, "name"), Renaming: text(v, "renaming"), Private: truth(v, "private"), Temporary: truth(v, "temporary"), Head: text(v, "head"), Boot: text(v, "boot")}
	s.Next, _ = strconv.Atoi(text(v, "next"))
	s.Committed = parseVersions(items(v, "committed"))
	for _, item := range items(v, "resources") {
		s.Resources = append(s.Resources, entry{
			ResourceSpec: parseSpec(item), Folder: filepath.Base(text(item, "folder")), Made: truth(item, "made"), Gone: truth(item, "gone"),
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

// write replaces the state file in a folder, durably.
func (s state) write(dir string) error {
	s.Resources = slices.Clone(s.Resources)
	for i := range s.Resources {
		e := &s.Resources[i] // a copy of the repository has its own
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

func (s state) value() domarkx.Value {
	o := object{}
	o.text("format", stateFormat).text("name", s.Name).text("renaming", s.Renaming)
	o.truth("private", s.Private).truth("temporary", s.Temporary)
	o.text("next", strconv.Itoa(s.Next)).text("head", s.Head).text("boot", s.Boot).add("committed", versionsValue(s.Committed))
	resources := make([]domarkx.Value, len(s.Resources))
	for i, e := range s.Resources {
		r := specValue(e.ResourceSpec)
		r.text("folder", e.Folder).truth("made", e.Made).truth("gone", e.Gone).truth("private", e.Private)
		r.truth("new", e.New).truth("filled", e.Filled).truth("dirty", e.Dirty).truth("copy", e.Copy)
		r.text("claim", e.LockedPath).text("path", e.Path)
		resources[i] = domarkx.ObjectValue(r...)
	}
	o.add("resources", domarkx.ArrayValue(resources...))
	if s.Loading != nil {
		l := object{}
		l.text("version", s.Loading.ID).add("resources", versionsValue(s.Loading.Resources))
		asked := make([]domarkx.Value, len(s.Asked))
		for i, spec := range s.Asked {
			asked[i] = domarkx.ObjectValue(specValue(spec)...)
		}
		l.add("asked", domarkx.ArrayValue(asked...))
		o.add("loading", domarkx.ObjectValue(l...))
	}
	o.texts("given", s.Given).texts("kept", s.Kept)
	return domarkx.ObjectValue(o...)
}

// object is a JSON object in the making; what is empty or false is left out.
type object []domarkx.Member

func (o *object) add(name string, v domarkx.Value) *object {
	*o = append(*o, domarkx.Member{Name: name, Value: v})
	return o
}

func (o *object) text(name, s string) *object {
	if s == "" {
		return o
	}
	return o.add(name, domarkx.StringValue(s))
}

func (o *object) truth(name string, b bool) *object {
	if !b {
		return o
	}
	return o.add(name, domarkx.BoolValue(true))
}

// texts adds a list also where it is empty, unless it is nil.
func (o *object) texts(name string, list []string) *object {
	if list == nil {
		return o
	}
	values := make([]domarkx.Value, len(list))
	for i, s := range list {
		values[i] = domarkx.StringValue(s)
	}
	return o.add(name, domarkx.ArrayValue(values...))
}

func specValue(s domarkx.ResourceSpec) object {
	o := object{}
	o.text("id", s.ID).text("type", s.Type).add("config", s.Config)
	return o
}

func versionsValue(versions []domarkx.ResourceVersion) domarkx.Value {
	values := make([]domarkx.Value, len(versions))
	for i, r := range versions {
		o := specValue(r.ResourceSpec)
		o.text("version", r.Version)
		values[i] = domarkx.ObjectValue(o...)
	}
	return domarkx.ArrayValue(values...)
}

func parseSpec(v domarkx.Value) domarkx.ResourceSpec {
	config, _ := v.Get("config")
	return domarkx.ResourceSpec{ID: text(v, "id"), Type: text(v, "type"), Config: config}
}

func parseVersions(values []domarkx.Value) []domarkx.ResourceVersion {
	var versions []domarkx.ResourceVersion
	for _, v := range values {
		versions = append(versions, domarkx.ResourceVersion{ResourceSpec: parseSpec(v), Version: text(v, "version")})
	}
	return versions
}

func text(v domarkx.Value, name string) string {
	member, _ := v.Get(name)
	return member.Text()
}

// texts returns a list of texts; nil when there is none.
func texts(v domarkx.Value, name string) []string {
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

func truth(v domarkx.Value, name string) bool {
	member, _ := v.Get(name)
	return member.IsTrue()
}

func items(v domarkx.Value, name string) []domarkx.Value {
	member, _ := v.Get(name)
	return member.Items()
}
