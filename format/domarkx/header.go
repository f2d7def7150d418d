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
	version, err := required(v, "", "version", jsonvalue.String)
	if err != nil {
		return h, err
	}
	if version.Text() != FormatVersion {
		return h, &located{&syntax.Error{Pointer: "/version", Err: ErrUnsupported,
			Msg: fmt.Sprintf("version is %q, expected %q", version.Text(), FormatVersion)}, version.Offset()}
	}
	text := required
	if stored {
		text = optional
	}
	id, err := text(v, "", "snapshot_id", jsonvalue.String)
	if err != nil {
		return h, err
	}
	if !stored && id.Text() == "" {
		return h, badValue(id, "/snapshot_id", "is empty, expected a unique identifier")
	}
	metadata, err := required(v, "", "metadata", jsonvalue.Object)
	if err != nil {
		return h, err
	}
	if err := h.parseMetadata(metadata, stored); err != nil {
		return h, err
	}
	if h.ExecutionConfig, err = required(v, "", "execution_config", jsonvalue.Object); err != nil {
		return h, err
	}
	if !stored {
		if err := checkWorkspace(h.ExecutionConfig, "/execution_config"); err != nil {
			return h, err
		}
	}
	script, err := optional(v, "", "setup_script", jsonvalue.Object)
	if err != nil {
		return h, err
	}
	if script.Kind() == jsonvalue.Object {
		if h.Setup, err = parseScript(script); err != nil {
			return h, err
		}
	}
	h.SnapshotID = id.Text()
	h.Extra = extra(v, "version", "snapshot_id", "metadata", "execution_config", "setup_script", "conversation")
	return h, nil
}

// Conversation returns the messages of a snapshot document as values for [ParseMessage]. Errors are
// those of ParseMessage.
func Conversation(v jsonvalue.Value) ([]jsonvalue.Value, error) {
	conversation, err := required(v, "", "conversation", jsonvalue.Array)
	return conversation.Items(), err
}

func (h *Header) parseMetadata(v jsonvalue.Value, stored bool) error {
	const at = "/metadata"
	text := required
	if stored {
		text = optional
	}
	timestamp, err := text(v, at, "import_timestamp", jsonvalue.String)
	if err != nil {
		return err
	}
	if !stored && timestamp.Text() == "" {
		return badValue(timestamp, at+"/import_timestamp", "is empty, expected an ISO 8601 timestamp")
	}
	source, err := optional(v, at, "source_file", jsonvalue.String)
	if err != nil {
		return err
	}
	user, err := optional(v, at, "user_metadata", jsonvalue.Object)
	if err != nil {
		return err
	}
	if user.Kind() == jsonvalue.Object {
		h.UserMetadata = &user
	}
	h.ImportTimestamp = timestamp.Text()
	h.SourceFile, h.HasSourceFile = source.Text(), source.Kind() == jsonvalue.String
	h.MetadataExtra = extra(v, "import_timestamp", "source_file", "user_metadata")
	return nil
}

func parseScript(v jsonvalue.Value) (*Script, error) {
	const at = "/setup_script"
	language, err := required(v, at, "language", jsonvalue.String)
	if err != nil {
		return nil, err
	}
	code, err := required(v, at, "code", jsonvalue.String)
	if err != nil {
		return nil, err
	}
	return &Script{Language: language.Text(), Code: code.Text(), Extra: extra(v, "language", "code")}, nil
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
	members := []jsonvalue.Member{{Name: "version", Value: jsonvalue.StringValue(FormatVersion)}}
	if h.SnapshotID != "" {
		members = append(members, jsonvalue.Member{Name: "snapshot_id", Value: jsonvalue.StringValue(h.SnapshotID)})
	}
	var metadata []jsonvalue.Member
	if h.HasSourceFile {
		metadata = append(metadata, jsonvalue.Member{Name: "source_file", Value: jsonvalue.StringValue(h.SourceFile)})
	}
	if h.ImportTimestamp != "" {
		metadata = append(metadata, jsonvalue.Member{Name: "import_timestamp", Value: jsonvalue.StringValue(h.ImportTimestamp)})
	}
	if h.UserMetadata != nil {
		metadata = append(metadata, jsonvalue.Member{Name: "user_metadata", Value: *h.UserMetadata})
	}
	metadata = append(metadata, h.MetadataExtra...)
	members = append(members, jsonvalue.Member{Name: "metadata", Value: jsonvalue.ObjectValue(metadata...)}, jsonvalue.Member{Name: "execution_config", Value: h.ExecutionConfig})
	if h.Setup != nil {
		members = append(members, jsonvalue.Member{Name: "setup_script", Value: jsonvalue.ObjectValue(append([]jsonvalue.Member{
			{Name: "language", Value: jsonvalue.StringValue(h.Setup.Language)}, {Name: "code", Value: jsonvalue.StringValue(h.Setup.Code)}}, h.Setup.Extra...)...)})
	}
	return jsonvalue.ObjectValue(append(members, h.Extra...)...)
}
