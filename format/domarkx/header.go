package domarkx

import (
	"fmt"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// FormatVersion is the only version of the snapshot format that is read.
const FormatVersion = "1.0"

// A Header is a snapshot without its conversation, the content of snapshot.json.
type Header struct {
	// SnapshotID and ImportTimestamp come from an imported document. If "", they are derived from
	// the commit when the header is shown.
	SnapshotID      string
	ImportTimestamp string
	SourceFile      string // if HasSourceFile
	HasSourceFile   bool
	UserMetadata    *jsonvalue.Value   // an object; nil when absent
	MetadataExtra   []jsonvalue.Member // unknown members of metadata, and known ones that are null
	ExecutionConfig jsonvalue.Value    // an object
	Setup           *Script            // nil when absent
	Extra           []jsonvalue.Member // unknown members of the document, and known ones that are null
}

// A Script is the setup script that runs before the session starts.
type Script struct {
	Language string
	Code     string
	Extra    []jsonvalue.Member
}

// NewHeader returns the header of an empty session.
func NewHeader() Header { return Header{ExecutionConfig: jsonvalue.ObjectValue()} }

// ParseHeader reads the members of a snapshot document except its conversation. In a stored header
// (stored is true) snapshot_id and import_timestamp may be absent. Errors are those of
// [ParseMessage]; an unknown version is [ErrUnsupported].
func ParseHeader(v jsonvalue.Value, stored bool) (Header, error) {
	h := NewHeader()
	if v.Kind() != jsonvalue.Object {
		return h, wrongKind(v, "", "a snapshot object")
	}
	o := object{Value: v}
	version := o.required("version", jsonvalue.String)
	if version.Text() != FormatVersion {
		o.fail(&located{&syntax.Error{Pointer: "/version", Err: ErrUnsupported,
			Msg: fmt.Sprintf("version is %q, expected %q", version.Text(), FormatVersion)}, version.Offset()})
	}
	id := o.member("snapshot_id", jsonvalue.String, !stored)
	if !stored && id.Text() == "" {
		o.fail(badValue(id, "/snapshot_id", "is empty, expected a unique identifier"))
	}
	if metadata := o.required("metadata", jsonvalue.Object); o.err == nil {
		o.err = h.parseMetadata(metadata, stored)
	}
	if h.ExecutionConfig = o.required("execution_config", jsonvalue.Object); o.err == nil && !stored {
		o.err = checkWorkspace(h.ExecutionConfig, "/execution_config")
	}
	if script := o.optional("setup_script", jsonvalue.Object); script.Kind() == jsonvalue.Object {
		h.Setup, o.err = parseScript(script)
	}
	h.SnapshotID = id.Text()
	h.Extra = extra(v, "version", "snapshot_id", "metadata", "execution_config", "setup_script", "conversation")
	return h, o.err
}

// Conversation returns the messages of a snapshot document as values for [ParseMessage]. Errors are
// those of ParseMessage.
func Conversation(v jsonvalue.Value) ([]jsonvalue.Value, error) {
	o := object{Value: v}
	return o.required("conversation", jsonvalue.Array).Items(), o.err
}

func (h *Header) parseMetadata(v jsonvalue.Value, stored bool) error {
	o := object{Value: v, at: "/metadata"}
	timestamp := o.member("import_timestamp", jsonvalue.String, !stored)
	if !stored && timestamp.Text() == "" {
		o.fail(badValue(timestamp, o.at+"/import_timestamp", "is empty, expected an ISO 8601 timestamp"))
	}
	source := o.optional("source_file", jsonvalue.String)
	if user := o.optional("user_metadata", jsonvalue.Object); user.Kind() == jsonvalue.Object {
		h.UserMetadata = &user
	}
	h.ImportTimestamp = timestamp.Text()
	h.SourceFile, h.HasSourceFile = source.Text(), source.Kind() == jsonvalue.String
	h.MetadataExtra = extra(v, "import_timestamp", "source_file", "user_metadata")
	return o.err
}

func parseScript(v jsonvalue.Value) (*Script, error) {
	o := object{Value: v, at: "/setup_script"}
	language, code := o.required("language", jsonvalue.String), o.required("code", jsonvalue.String)
	return &Script{Language: language.Text(), Code: code.Text(), Extra: extra(v, "language", "code")}, o.err
}

// Meta returns the object user_metadata; null if it is absent.
func (h Header) Meta() jsonvalue.Value {
	if h.UserMetadata == nil {
		return jsonvalue.Value{}
	}
	return *h.UserMetadata
}

// Value returns the header as an object, in the order of the specification and without absent or
// empty members.
func (h Header) Value() jsonvalue.Value {
	var source, user, setup any // nil for absent ones
	if h.HasSourceFile {
		source = h.SourceFile
	}
	if h.UserMetadata != nil {
		user = *h.UserMetadata
	}
	if h.Setup != nil {
		setup = jsonvalue.ObjectOf("language", h.Setup.Language, "code", h.Setup.Code).Plus(h.Setup.Extra...)
	}
	metadata := jsonvalue.ObjectOf("source_file", source, "import_timestamp", jsonvalue.Maybe(h.ImportTimestamp), "user_metadata", user)
	return jsonvalue.ObjectOf("version", FormatVersion, "snapshot_id", jsonvalue.Maybe(h.SnapshotID), "metadata", metadata.Plus(h.MetadataExtra...),
		"execution_config", h.ExecutionConfig, "setup_script", setup).Plus(h.Extra...)
}
