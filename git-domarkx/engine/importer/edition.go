package importer

import (
	"context"
	"io"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// An importing creates the edition of an existing session from a document: the next snapshot of the session.
type importing struct {
	*importer
	recognised
	doc    *edit.Edit // the document as it was read, without a base
	before *view.View // the base
	tip    domarkx.Info
	newest *view.View // the tip
}

// An imported is an edition that an import has created.
type imported struct {
	edition *edit.Edit
	links   []string // workspace versions that its snapshot must have as parents
	same    bool     // whether it changes nothing in the session
	part    bool     // whether the session has messages that the document does not have
}

// edition creates the edition of a session from a document.
func (imp *importer) edition(ctx context.Context, r recognised) (made imported, err error) {
	if r.compared == nil {
		doc := imp.editOf(r.conv)
		if r.is == isNew {
			imp.nameSource(r.conv.doc, r.in)
		} else {
			doc.Base, err = imp.load(ctx, r.base)
		}
		return imported{edition: doc}, err
	}
	mk := importing{importer: imp, recognised: r, doc: r.compared.doc, tip: imp.here[r.name]}
	state, err := r.compared.load(r.base)
	if err != nil {
		return imported{}, err
	}
	if mk.before, err = view.NewPacked(ctx, imp.manager.store, state); err != nil {
		return imported{}, err
	}
	made, err = mk.make(ctx)
	if err == nil && r.conv.messages == nil {
		made.edition.Scanned = nil // the messages in memory are changed below
	}
	return made, err
}

func (mk *importing) make(ctx context.Context) (imported, error) {
	inBase, err := mk.alike(ctx)
	if err != nil {
		return imported{}, err
	}
	e := *mk.doc
	e.Base = mk.before
	if mk.in.isFork {
		if same, err := mk.isBase(ctx, inBase); err != nil || same {
			return imported{edition: &e, same: mk.before.Headers[0].Origin != ""}, err
		}
	}
	mk.newest = mk.before
	shares := false
	if mk.base != mk.tip.ID {
		if mk.newest, err = view.Load(ctx, mk.manager.store, mk.tip.ID); err != nil {
			return imported{}, err
		}
		if shares, err = mk.compared.shares(mk.before, mk.newest, inBase); err != nil {
			return imported{}, err
		}
	}
	if mk.in.codec.Name == string(engine.Markdown) {
		if !shares {
			return imported{edition: &e}, nil
		}
		return mk.markdown(ctx, &e, inBase)
	}
	pure, err := mk.isPure(ctx, inBase)
	if err != nil {
		return imported{}, err
	}
	if pure && !shares && mk.before.Headers[0].Rev == mk.newest.Headers[0].Rev {
		same := len(inBase) == mk.before.Live.Len()
		if same {
			same, err = mk.saysNothingNew(ctx)
		}
		return imported{edition: &e, same: same}, err
	}
	if mk.in.isPart {
		places, isPart, err := mk.unite()
		if err != nil {
			return imported{}, err
		}
		if isPart {
			return mk.united(ctx, places)
		}
	}
	return mk.restored(ctx, shares)
}

// markdown creates an edition from a Markdown document, which contains all of a session.
func (mk *importing) markdown(ctx context.Context, e *edit.Edit, inBase []int) (imported, error) {
	joined, err := mk.join(ctx, inBase, nil)
	if err != nil || joined == nil {
		return imported{edition: e}, err
	}
	keys, err := mk.newest.Keys(ctx)
	if err != nil {
		return imported{}, err
	}
	if view.LayoutKey(e.Doc.Preamble.Layout) == keys[0] {
		joined.state.Headers = mk.newest.Headers
	}
	e.Base, err = view.New(ctx, mk.manager.store, joined.state)
	return imported{edition: e, links: joined.links}, err
}

// alike returns, for each message of the document, the index of the identical message of the base, or -1.
func (mk *importing) alike(ctx context.Context) ([]int, error) {
	keys, err := mk.before.Keys(ctx)
	if err != nil {
		return nil, err
	}
	if err := mk.doc.Scan(); err != nil {
		return nil, err
	}
	read := make([]domarkx.Key, len(mk.doc.Scanned))
	for j, msg := range mk.doc.Scanned {
		read[j] = msg.Key
	}
	return domarkx.Align(keys[1:], read, neverAlike).Match, nil
}

// isBase reports whether the document and its base have the same content, which is so for most branches of a document
// that is imported again. Such a branch need not be exported or read completely.
func (mk *importing) isBase(ctx context.Context, inBase []int) (bool, error) {
	if len(inBase) != mk.before.Live.Len() || len(mk.before.Headers) > 1 {
		return false, nil
	}
	for j, i := range inBase {
		if i != j {
			return false, nil
		}
	}
	return mk.sameHeader(ctx)
}

// sameHeader reports whether the document's header is that of its base.
func (mk *importing) sameHeader(ctx context.Context) (bool, error) {
	h, err := mk.before.Header(ctx)
	return err == nil && edit.JSONKey(h.Value()) == edit.JSONKey(mk.doc.Doc.Header.Value()), err
}

// isPure reports whether the document contains all of the base in the form in which it was imported, so that nothing
// need be restored from the base.
func (mk *importing) isPure(ctx context.Context, inBase []int) (bool, error) {
	matched := 0
	for _, i := range inBase {
		if i >= 0 {
			matched++
		}
	}
	if matched < mk.before.Live.Len() {
		return false, nil
	}
	h, err := mk.before.Header(ctx)
	if err != nil || len(h.ExecutionConfig.Members()) > 0 || h.Setup != nil || len(h.Extra) > 0 || len(h.MetadataExtra) > 0 || h.HasSourceFile || view.HasOwnFields(h) {
		return false, err
	}
	original, err := mk.manager.sessions.Original(ctx, domarkx.Info{ID: mk.base}, mk.in.codec)
	return original != nil, err
}

// restored creates an edition from a document whose format cannot contain all of a session. It takes the rest from the
// base.
func (mk *importing) restored(ctx context.Context, shares bool) (imported, error) {
	m := mk.manager
	info, err := m.store.Info(ctx, mk.base)
	if err != nil {
		return imported{}, err
	}
	was, err := mk.show(ctx, mk.in, mk.doc.Doc.Header, mk.name, mk.before, info)
	if err != nil {
		return imported{}, err
	}
	keys, err := mk.doc.JSONKeys()
	if err != nil {
		return imported{}, err
	}
	places := was.restore(mk.before.Live.Len(), keys)
	made := imported{}
	v := mk.before
	if mk.base != mk.tip.ID {
		if v, made.links, err = mk.joinPlaces(ctx, places, keys, shares); err != nil {
			return imported{}, err
		}
	}
	h, err := v.Header(ctx)
	if err != nil {
		return imported{}, err
	}
	h, isNew := was.restoreHeader(mk.in.codec, h, mk.doc.Doc.Header)
	var isBase bool
	if made.edition, isBase, err = mk.merged(ctx, v, places, h, isNew); err == nil && isBase && !isNew {
		made.same, err = mk.isExport(ctx, was)
	}
	return made, err
}

// merged returns an edition of v with the messages at these places, and whether they are those of v. If the header is not new,
// the edition has the bytes of that of v.
func (mk *importing) merged(ctx context.Context, v *view.View, places []position, h domarkx.Header, isNew bool) (made *edit.Edit, isBase bool, err error) {
	e := *mk.doc
	e.Base, e.Scanned = v, nil
	e.Doc = &domarkx.Document{Header: h, Damage: mk.doc.Doc.Damage}
	if !isNew {
		if e.Doc.Preamble.Layout = *v.Layout(0); e.Doc.Preamble.Verbatim {
			if e.Doc.Preamble.Bytes, err = v.Bytes(ctx, 0); err != nil {
				return nil, false, err
			}
		}
	}
	if e.Doc.Includes, err = v.Includes(ctx); err != nil {
		return nil, false, err
	}
	r := &restored{ctx: ctx, base: v, doc: mk.doc, places: places}
	if e.Messages = r; mk.doc.Messages == nil {
		whole, err := format.Stream{Messages: r}.Document()
		if err != nil {
			return nil, false, err
		}
		e.Messages, e.Doc.Conversation = nil, whole.Conversation
	}
	return &e, r.isBase(), nil
}

// joinPlaces returns the join of the base (see [join]) with the newest header, and the workspace versions to which its
// messages link. It converts the places from those in the base to those in the join. If shares is not set, or if nothing
// is to be joined, the join is the base.
func (mk *importing) joinPlaces(ctx context.Context, places []position, keys []domarkx.Key, shares bool) (*view.View, []string, error) {
	inBase := make([]int, len(keys))
	for j := range inBase {
		inBase[j] = -1
	}
	for _, p := range places {
		if p.base >= 0 && p.doc >= 0 {
			inBase[p.doc] = p.base
		}
	}
	var joined *join
	var err error
	if shares {
		if joined, err = mk.join(ctx, inBase, keys); err != nil {
			return nil, nil, err
		}
	}
	if joined == nil {
		joined = &join{state: mk.before.State()}
	} else {
		joined.replace(places)
	}
	joined.state.Headers = mk.newest.Headers // apply the document's changes to the newest header
	v, err := view.New(ctx, mk.manager.store, joined.state)
	return v, joined.links, err
}

// replace converts indexes of messages in the base to indexes in the join.
func (j *join) replace(places []position) {
	for k, p := range places {
		if p.base >= 0 {
			places[k].base = j.at[p.base]
		} else if at, ok := j.taken[p.doc]; ok {
			places[k].base = at
		}
	}
}

// join joins the base with the session's newest snapshot. It returns nil if the newest snapshot adds nothing that the
// document contains.
func (mk *importing) join(ctx context.Context, inBase []int, keys []domarkx.Key) (*join, error) {
	j := &join{base: mk.before, tip: mk.newest, inBase: inBase, doc: keys}
	var err error
	if mk.in.codec.Name == string(engine.Markdown) {
		if j.doc, err = mk.doc.JSONKeys(); err == nil {
			j.shown, err = storedShown(ctx, mk.newest)
		}
	} else {
		j.shown, err = mk.show(ctx, mk.in, mk.doc.Doc.Header, mk.name, mk.newest, mk.tip)
	}
	if err != nil || !j.make() {
		return nil, err
	}
	return j, nil
}

// saysNothingNew reports whether a document that has the messages of its base also has its header, and is an export.
func (mk *importing) saysNothingNew(ctx context.Context) (bool, error) {
	if same, err := mk.sameHeader(ctx); err != nil || !same {
		return false, err
	}
	if same, err := mk.sameOriginal(ctx, mk.in, mk.base); err != nil || same {
		return same, err
	}
	return mk.isExport(ctx, &shown{})
}

// isExport reports whether the document is byte for byte an export of the session: of the base, or of the document as
// it was read.
func (mk *importing) isExport(ctx context.Context, was *shown) (bool, error) {
	if was.digest == mk.in.digest {
		return true, nil
	}
	if engine.IsForm(mk.in.codec.Name) {
		return false, nil
	}
	s := format.Stream{Header: mk.doc.Doc.Header, Messages: mk.doc.Messages}
	if s.Messages == nil {
		s.Messages = format.Conversation(mk.doc.Doc.Conversation)
	}
	e := &engine.Export{Name: mk.name, Codec: mk.in.codec}
	if err := engine.Encode(e, s, format.Target{Session: e.Name, Losses: &e.Losses, Records: all.Records}); err != nil {
		return false, err
	}
	return e.Is(io.NewSectionReader(mk.in.ReaderAt, 0, mk.in.size))
}
