package original

var DecodeDocument = decodeDocument

// Encode encodes what DecodeDocument decoded.
func (d *Document) Encode() []byte { return d.encode() }
