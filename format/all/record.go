package all

import (
	"sync"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

// recorders are the names of the formats whose calls are records.
var recorders = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, c := range Codecs() {
		names[c.Name] = c.Records
	}
	return names
})

// Records reports whether calls with this resource are records of calls that another program made: a codec
// says that of its format.
func Records(resource string) bool { return recorders()[resource] }

// IsRecord reports whether the text of a tool-call block records a call that another program made. Such a
// call must never run, whatever the resources of a workspace are called.
func IsRecord(call string) bool {
	v, err := jsonvalue.ParseOutline([]byte(call), func(name string, kind jsonvalue.Kind) bool { return name == "arguments" })
	if err != nil {
		return false
	}
	resource, _ := v.Get("resource")
	return resource.Kind() == jsonvalue.String && Records(resource.Text())
}
