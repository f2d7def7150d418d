package gitstore

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
)

// The version cache contains the versions that Workspaces returns. It has the format of the list cache. A record consists of the
// commit's id (20 bytes); number and date as varints; and, each as a length (uvarint) and that many bytes, the ids of the
// parents (40 digits each), the subject, the operation, and the trailer of the call ("" if there is none).
const (
	versionCacheName  = "workspace-cache"
	versionCacheMagic = "domarkx workspace cache 1\n"
)

func readVersionCache(dir string) map[string]domarkx.Version {
	data, err := os.ReadFile(filepath.Join(dir, versionCacheName))
	if err != nil {
		return nil
	}
	return decodeVersionCache(data)
}

func writeVersionCache(dir string, versions []domarkx.Version) {
	writeCache(dir, versionCacheName, encodeVersionCache(versions))
}

func encodeVersionCache(versions []domarkx.Version) []byte {
	data := newCache(versionCacheMagic, len(versions)*256)
	for _, v := range versions {
		data, _ = hex.AppendDecode(data, []byte(v.ID)) // an id is always valid
		data = binary.AppendVarint(binary.AppendVarint(data, int64(v.Number)), v.Date)
		call := ""
		if v.Call != nil {
			call = codec.CallValue(v.Call).JSON()
		}
		for _, text := range []string{strings.Join(v.Parents, ""), v.Subject, v.Operation, call} {
			data = append(binary.AppendUvarint(data, uint64(len(text))), text...)
		}
	}
	return sealCache(versionCacheMagic, data)
}

func decodeVersionCache(data []byte) map[string]domarkx.Version {
	d, ok := openCache(versionCacheMagic, data)
	if !ok {
		return nil
	}
	cache := map[string]domarkx.Version{}
	for len(d.rest) > 0 && !d.bad {
		v := domarkx.Version{ID: hex.EncodeToString([]byte(d.take(20))), Number: int(d.varint()), Date: d.varint()}
		parents := d.text()
		v.Parents = make([]string, 0, len(parents)/40)
		for ; len(parents) >= 40; parents = parents[40:] {
			v.Parents = append(v.Parents, parents[:40])
		}
		v.Subject, v.Operation = d.text(), d.text()
		if call := d.text(); call != "" {
			v.Call = codec.ParseCall(call)
		}
		cache[v.ID] = v
	}
	if d.bad {
		return nil
	}
	return cache
}
