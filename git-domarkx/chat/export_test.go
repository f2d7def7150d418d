package chat

import "github.com/domarkx/domarkx/git-domarkx/chat/provider"

// DecodeBlock decodes a file of a memory whose checksum is right, and returns its content again.
func DecodeBlock(body []byte) (again []byte, err error) {
	var key [32]byte
	var b block
	if err := b.decode(sealBlock(key, body), key, provider.Origin{}); err != nil {
		return nil, err
	}
	return b.encode(key)[blockHeadSize:], nil
}

// PlainName returns the name of a picture file that a provider named.
func PlainName(file string) string { return plainName(file) }
