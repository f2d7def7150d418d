package domarkx

import "fmt"

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
	UserMetadata    *Value   // an object; nil when absent
	MetadataExtra   []Member // unknown members of metadata, and known ones that are null
	ExecutionConfig Value    // an object
	Setup           *Script  // nil when absent
	Extra           []Member // unknown members of the document, and known ones that are null
}

// A Script is the setup script that runs before the session starts.
type Script struct {
	Language string
	Code     string
	Extra    []Member
}

// NewHeader returns the header of an empty session.
func NewHeader() Header { return Header{ExecutionConfig: ObjectValue()} }

// ParseHeader reads the members of a snapshot document except its conversation. In a stored header
// (stored is true) snapshot_id and import_timestamp may be absent. Errors are those of
// [ParseMessage]; an unknown version is [ErrUnsupported].
func ParseHeader(v Value, stored bool) (Header, error) {
	h := NewHeader()
	if v.kind != Object {
		return h, wrongKind(v, "", "a snapshot object")
	}
	version, err := required(v, "", "version", String)
	if err != nil {
		return h, err
	}
	if version.text != FormatVersion {
		return h, &located{&SyntaxError{Pointer: "/version", Err: ErrUnsupported,
			Msg: fmt.Sprintf("version is %q, expected %q", version.text, FormatVersion)}, version.Offset()}
	}
	text := required
	if stored {
		text = optional
	}
	id, err := text(v, "", "snapshot_id", String)
	if err != nil {
		return h, err
	}
	if !stored && id.text == "" {
		return h, badValue(id, "/snapshot_id", "is empty, expected a unique identifier")
	}
	metadata, err := required(v, "", "metadata", Object)
	if err != nil {
		return h, err
	}
	if err := h.parseMetadata(metadata, stored); err != nil {
		return h, err
	}
	if h.ExecutionConfig, err = required(v, "", "execution_config", Object); err != nil {
		return h, err
	}
	if !stored {
		if err := checkWorkspace(h.ExecutionConfig, "/execution_config"); err != nil {
			return h, err
		}
	}
	script, err := optional(v, "", "setup_script", Object)
	if err != nil {
		return h, err
	}
	if script.kind == Object {
		if h.Setup, err = parseScript(script); err != nil {
			return h, err
		}
	}
	h.SnapshotID = id.text
	h.Extra = extra(v, "version", "snapshot_id", "metadata", "execution_config", "setup_script", "conversation")
	return h, nil
}

// Conversation returns the messages of a snapshot document as values for [ParseMessage]. Errors are
// those of ParseMessage.
func Conversation(v Value) ([]Value, error) {
	conversation, err := required(v, "", "conversation", Array)
	return conversation.Items(), err
}

func (h *Header) parseMetadata(v Value, stored bool) error {
	const at = "/metadata"
	text := required
	if stored {
		text = optional
	}
	timestamp, err := text(v, at, "import_timestamp", String)
	if err != nil {
		return err
	}
	if !stored && timestamp.text == "" {
		return badValue(timestamp, at+"/import_timestamp", "is empty, expected an ISO 8601 timestamp")
	}
	source, err := optional(v, at, "source_file", String)
	if err != nil {
		return err
	}
	user, err := optional(v, at, "user_metadata", Object)
	if err != nil {
		return err
	}
	if user.kind == Object {
		h.UserMetadata = &user
	}
	h.ImportTimestamp = timestamp.text
	h.SourceFile, h.HasSourceFile = source.text, source.kind == String
	h.MetadataExtra = extra(v, "import_timestamp", "source_file", "user_metadata")
	return nil
}

func parseScript(v Value) (*Script, error) {
	const at = "/setup_script"
	language, err := required(v, at, "language", String)
	if err != nil {
		return nil, err
	}
	code, err := required(v, at, "code", String)
	if err != nil {
		return nil, err
	}
	return &Script{Language: language.text, Code: code.text, Extra: extra(v, "language", "code")}, nil
}

// Value returns the header as an object, in the order of the specification and without absent or
// empty members.
func (h Header) Value() Value {
	members := []Member{{"version", StringValue(FormatVersion)}}
	if h.SnapshotID != "" {
		members = append(members, Member{"snapshot_id", StringValue(h.SnapshotID)})
	}
	var metadata []Member
	if h.HasSourceFile {
		metadata = append(metadata, Member{"source_file", StringValue(h.SourceFile)})
	}
	if h.ImportTimestamp != "" {
		metadata = append(metadata, Member{"import_timestamp", StringValue(h.ImportTimestamp)})
	}
	if h.UserMetadata != nil {
		metadata = append(metadata, Member{"user_metadata", *h.UserMetadata})
	}
	metadata = append(metadata, h.MetadataExtra...)
	members = append(members, Member{"metadata", ObjectValue(metadata...)}, Member{"execution_config", h.ExecutionConfig})
	if h.Setup != nil {
		members = append(members, Member{"setup_script", ObjectValue(append([]Member{
			{"language", StringValue(h.Setup.Language)}, {"code", StringValue(h.Setup.Code)}}, h.Setup.Extra...)...)})
	}
	return ObjectValue(append(members, h.Extra...)...)
}
