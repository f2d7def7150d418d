//go:build unix

package sessions_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/fusefs/sessions"
)

// A step must be whole and short. What it gets is the state, so that must have no way to
// a lock, to the tree, or to an interface that the tree asks, such as the store.
func TestAStepHasNothingToWaitFor(t *testing.T) {
	monitor, ok := reflect.TypeFor[sessions.Tree]().FieldByName("state")
	if !ok {
		t.Fatal("a tree has no state")
	}
	state, ok := monitor.Type.Elem().FieldByName("value")
	if !ok {
		t.Fatal("a monitor has no value")
	}
	own := reflect.TypeFor[sessions.Tree]().PkgPath()
	seen := map[reflect.Type]bool{}
	var walk func(path string, of reflect.Type)
	walk = func(path string, of reflect.Type) {
		if seen[of] {
			return
		}
		seen[of] = true
		inTree := of.PkgPath() == own || strings.HasPrefix(of.PkgPath(), own+"/")
		switch {
		case of == reflect.TypeFor[sessions.Tree](), of.PkgPath() == "sync", of.PkgPath() == own+"/monitor",
			inTree && of.Kind() == reflect.Interface, of.Kind() == reflect.Chan:
			t.Errorf("%s is a %s", path, of)
			return
		}
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(path, of.Elem())
		case reflect.Map:
			walk(path+"[key]", of.Key())
			walk(path, of.Elem())
		case reflect.Struct:
			for i := 0; inTree && i < of.NumField(); i++ {
				walk(path+"."+of.Field(i).Name, of.Field(i).Type)
			}
		}
	}
	walk("state", state.Type)
	if !seen[reflect.TypeFor[sessions.File]()] {
		t.Error("the walk did not come to the files")
	}
}
