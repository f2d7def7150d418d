// Package edition makes the next snapshot of a session from a document that was made from one of its snapshots, such as an
// export that another program or a user has continued. It finds that snapshot, the base of the document, takes from it what
// the document's format cannot contain, and keeps what the session has got since.
package edition

import (
	"context"
	"slices"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore"
)

// A Maker makes editions of the sessions in a store.
type Maker struct {
	Sessions *engine.SessionManager
	Store    *gitstore.Store
}

// A Document is a document with messages of a session.
type Document struct {
	*document.Content
	Path   string
	Codec  format.Codec
	Edit   *edit.Edit // what was read, without a base
	IsFork bool       // whether it is a branch, and not the document's main conversation
	IsPart bool       // whether another file was imported last as this session
}

// An Edition is a session as a document has it.
type Edition struct {
	Edit   *edit.Edit
	Links  []string // workspace versions that its snapshot must have as parents
	IsSame bool     // whether it changes nothing in the session
	IsPart bool     // whether the session has messages that the document does not have
}

// Edition returns the edition of the session that the document makes. base is the result of [Comparison.Base].
func (c *Comparison) Edition(ctx context.Context, base string, tip domarkx.Info) (made Edition, err error) {
	mk := making{Comparison: c, base: base, tip: tip}
	state, err := c.load(base)
	if err != nil {
		return Edition{}, err
	}
	if mk.before, err = view.NewPacked(ctx, c.Store, state); err != nil {
		return Edition{}, err
	}
	made, err = mk.make(ctx)
	if err == nil && c.Edit.Messages == nil {
		made.Edit.Scanned = nil // the messages in memory are changed by the import
	}
	return made, err
}

// A making makes an edition.
type making struct {
	*Comparison
	base   string     // the snapshot from which the document was made
	before *view.View // its content
	tip    domarkx.Info
	newest *view.View // the content of the tip
}

func (mk *making) make(ctx context.Context) (Edition, error) {
	inBase, err := mk.alike(ctx)
	if err != nil {
		return Edition{}, err
	}
	e := *mk.Edit
	e.Base = mk.before
	if mk.IsFork {
		if same, err := mk.isBase(ctx, inBase); err != nil || same {
			return Edition{Edit: &e, IsSame: mk.before.Headers[0].Origin != ""}, err
		}
	}
	mk.newest = mk.before
	shares := false
	if mk.base != mk.tip.ID {
		if mk.newest, err = view.Load(ctx, mk.Store, mk.tip.ID); err != nil {
			return Edition{}, err
		}
		if shares, err = mk.shares(mk.before, mk.newest, inBase); err != nil {
			return Edition{}, err
		}
	}
	if mk.Codec.Name == string(engine.Markdown) {
		if !shares {
			return Edition{Edit: &e}, nil
		}
		return mk.markdown(ctx, &e, inBase)
	}
	pure, err := mk.isPure(ctx, inBase)
	if err != nil {
		return Edition{}, err
	}
	if pure && !shares && mk.before.Headers[0].Rev == mk.newest.Headers[0].Rev {
		same := len(inBase) == mk.before.Live.Len()
		if same {
			same, err = mk.saysNothingNew(ctx)
		}
		return Edition{Edit: &e, IsSame: same}, err
	}
	if mk.IsPart {
		places, isPart, err := mk.unite()
		if err != nil {
			return Edition{}, err
		}
		if isPart {
			h, err := mk.before.Header(ctx)
			if err != nil {
				return Edition{}, err
			}
			e, isBase, err := mk.merged(ctx, mk.before, places, h, false)
			return Edition{Edit: e, IsSame: isBase, IsPart: true}, err
		}
	}
	return mk.restored(ctx, shares)
}

// markdown creates an edition from a Markdown document, which contains all of a session.
func (mk *making) markdown(ctx context.Context, e *edit.Edit, inBase []int) (Edition, error) {
	joined, err := mk.join(ctx, inBase, nil)
	if err != nil || joined == nil {
		return Edition{Edit: e}, err
	}
	keys, err := mk.newest.Keys(ctx)
	if err != nil {
		return Edition{}, err
	}
	if view.LayoutKey(e.Doc.Preamble.Layout) == keys[0] {
		joined.state.Headers = mk.newest.Headers
	}
	e.Base, err = view.New(ctx, mk.Store, joined.state)
	return Edition{Edit: e, Links: joined.links}, err
}

// alike returns, for each message of the document, the index of the identical message of the base, or -1.
func (mk *making) alike(ctx context.Context) ([]int, error) {
	keys, err := mk.before.Keys(ctx)
	if err != nil {
		return nil, err
	}
	if err := mk.Edit.Scan(); err != nil {
		return nil, err
	}
	read := make([]domarkx.Key, len(mk.Edit.Scanned))
	for j, msg := range mk.Edit.Scanned {
		read[j] = msg.Key
	}
	return domarkx.Align(keys[1:], read, neverAlike).Match, nil
}

// isBase reports whether the document and its base have the same content, which is so for most branches of a document
// that is imported again. Such a branch need not be exported or read completely.
func (mk *making) isBase(ctx context.Context, inBase []int) (bool, error) {
	if len(inBase) != mk.before.Live.Len() || len(mk.before.Headers) > 1 || slices.Contains(inBase, -1) {
		return false, nil // the indexes ascend
	}
	return mk.sameHeader(ctx)
}

// sameHeader reports whether the document's header is that of its base.
func (mk *making) sameHeader(ctx context.Context) (bool, error) {
	h, err := mk.before.Header(ctx)
	return err == nil && edit.JSONKey(h.Value()) == edit.JSONKey(mk.Edit.Doc.Header.Value()), err
}

// isPure reports whether the document contains all of the base in the form in which it was imported, so that nothing
// need be restored from the base.
func (mk *making) isPure(ctx context.Context, inBase []int) (bool, error) {
	if have := slices.DeleteFunc(slices.Clone(inBase), func(i int) bool { return i < 0 }); len(have) < mk.before.Live.Len() {
		return false, nil
	}
	h, err := mk.before.Header(ctx)
	if err != nil || len(h.ExecutionConfig.Members()) > 0 || h.Setup != nil || len(h.Extra) > 0 || len(h.MetadataExtra) > 0 || h.HasSourceFile || view.HasOwnFields(h) {
		return false, err
	}
	original, err := mk.Sessions.Original(ctx, domarkx.Info{ID: mk.base}, mk.Codec)
	return original != nil, err
}

// restored creates an edition from a document whose format cannot contain all of a session. It takes the rest from the base.
func (mk *making) restored(ctx context.Context, shares bool) (Edition, error) {
	info, err := mk.Store.Info(ctx, mk.base)
	if err != nil {
		return Edition{}, err
	}
	was, err := mk.show(ctx, mk.before, info)
	if err != nil {
		return Edition{}, err
	}
	keys, err := mk.Edit.JSONKeys()
	if err != nil {
		return Edition{}, err
	}
	places := was.restore(mk.before.Live.Len(), keys)
	made := Edition{}
	v := mk.before
	if mk.base != mk.tip.ID {
		if v, made.Links, err = mk.joinPlaces(ctx, places, keys, shares); err != nil {
			return Edition{}, err
		}
	}
	h, err := v.Header(ctx)
	if err != nil {
		return Edition{}, err
	}
	h, isNew := was.restoreHeader(mk.Codec, h, mk.Edit.Doc.Header)
	var isBase bool
	if made.Edit, isBase, err = mk.merged(ctx, v, places, h, isNew); err == nil && isBase && !isNew {
		made.IsSame, err = mk.isExport(ctx, was)
	}
	return made, err
}

// merged returns an edition of v with the messages at these places, and whether they are those of v. If the header is not new,
// the edition has the bytes of that of v.
func (mk *making) merged(ctx context.Context, v *view.View, places []position, h domarkx.Header, isNew bool) (made *edit.Edit, isBase bool, err error) {
	e := *mk.Edit
	e.Base, e.Scanned = v, nil
	e.Doc = &domarkx.Document{Header: h, Damage: mk.Edit.Doc.Damage}
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
	r := &restored{ctx: ctx, base: v, doc: mk.Edit, places: places}
	if e.Messages = r; mk.Edit.Messages == nil {
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
func (mk *making) joinPlaces(ctx context.Context, places []position, keys []domarkx.Key, shares bool) (*view.View, []string, error) {
	inBase := slices.Repeat([]int{-1}, len(keys))
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
	v, err := view.New(ctx, mk.Store, joined.state)
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
func (mk *making) join(ctx context.Context, inBase []int, keys []domarkx.Key) (*join, error) {
	j := &join{base: mk.before, tip: mk.newest, inBase: inBase, doc: keys}
	var err error
	if mk.Codec.Name == string(engine.Markdown) {
		if j.doc, err = mk.Edit.JSONKeys(); err == nil {
			j.shown, err = storedShown(ctx, mk.newest)
		}
	} else {
		j.shown, err = mk.show(ctx, mk.newest, mk.tip)
	}
	if err != nil || !j.make() {
		return nil, err
	}
	return j, nil
}

// saysNothingNew reports whether a document that has the messages of its base also has its header, and is an export.
func (mk *making) saysNothingNew(ctx context.Context) (bool, error) {
	if same, err := mk.sameHeader(ctx); err != nil || !same {
		return false, err
	}
	if same, err := mk.IsOriginal(ctx, mk.Content, mk.Codec, mk.base); err != nil || same {
		return same, err
	}
	return mk.isExport(ctx, &shown{})
}
