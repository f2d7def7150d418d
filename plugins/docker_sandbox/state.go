package dockersandbox

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
)

const stateFormat = 1

// A state is the persistent state of a resource. Its directory contains:
//
//	state.json          this struct
//	base-<container>    the container's files before anything ran in it
//	last-<container>    the difference that was committed or loaded last
type state struct {
	Format    int         `json:"format"`
	Instance  string      `json:"instance"`            // value of labelInstance of the resource's containers
	Engine    string      `json:"engine,omitempty"`    // id of the container's engine
	Container string      `json:"container,omitempty"` // "" if none was created
	Image     string      `json:"image,omitempty"`     // as configured when the container was created
	ImageID   string      `json:"image_id,omitempty"`
	Agent     string      `json:"agent,omitempty"` // stamp of the agent in it
	Network   string      `json:"network,omitempty"`
	Memory    int64       `json:"memory,omitempty"`
	CPUs      int64       `json:"cpus,omitempty"`
	Processes int64       `json:"processes,omitempty"`
	Mounts    []hostMount `json:"mounts,omitempty"`
	// Dirty is set before anything runs in the container.
	Dirty bool `json:"dirty,omitempty"`
}

func readState(dir string) (state, error) {
	data, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		id := make([]byte, 16)
		if _, err := rand.Read(id); err != nil {
			return state{}, err
		}
		s := state{Format: stateFormat, Instance: hex.EncodeToString(id)}
		return s, s.write(dir)
	}
	if err != nil {
		return state{}, err
	}
	var s state
	if err := json.Unmarshal(data, &s); err != nil || s.Instance == "" {
		return state{}, fmt.Errorf("read the state of the resource in %q: %w", dir, domarkx.ErrCorrupt)
	}
	if s.Format != stateFormat {
		return state{}, fmt.Errorf("read the state of the resource in %q: unknown format %d: %w", dir, s.Format, domarkx.ErrUnsupported)
	}
	return s, nil
}

func (s state) write(dir string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(dir, "state.json"), append(data, '\n'))
}

func baseFile(dir, container string) string { return filepath.Join(dir, "base-"+short(container)) }
func lastFile(dir, container string) string { return filepath.Join(dir, "last-"+short(container)) }

func short(id string) string { return id[:min(12, len(id))] }

// forgetOthers removes the files that describe other containers, and temporary files of a killed process.
func forgetOthers(dir, container string) error {
	names, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range names {
		prefix, id, _ := strings.Cut(e.Name(), "-")
		if slices.Contains([]string{"base", "last"}, prefix) && (container == "" || id != short(container)) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return atomicfile.Sweep(dir)
}

// seal writes data and its SHA-256 to a file.
func seal(path string, data []byte) error {
	sum := sha256.Sum256(data)
	return atomicfile.Replace(path, append(data, sum[:]...))
}

// unseal reads a file that seal wrote. It returns nil if the file is missing or damaged.
func unseal(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || len(data) < sha256.Size {
		return nil, err
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if want := sha256.Sum256(body); !bytes.Equal(sum, want[:]) {
		return nil, nil
	}
	return body, nil
}

func (b *baseline) write(path string) error {
	data := binary.AppendUvarint(nil, uint64(len(b.entries)))
	for i := range b.entries {
		data = agent.AppendEntry(data, &b.entries[i])
	}
	for i := range b.entries {
		if sum, ok := b.sums[b.entries[i].Path]; ok {
			data = binary.AppendUvarint(data, uint64(i))
			data = append(data, sum[:]...)
		}
	}
	return seal(path, data)
}

// readBaseline returns nil if the file is missing or damaged.
func readBaseline(path string) (*baseline, error) {
	data, err := unseal(path)
	if data == nil || err != nil {
		return nil, err
	}
	r := bufio.NewReader(bytes.NewReader(data))
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	var entries []agent.Entry
	for range n {
		e, err := agent.ReadEntry(r)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	b := newBaseline(entries)
	for {
		i, err := binary.ReadUvarint(r)
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		var sum [sha256.Size]byte
		if err == nil {
			_, err = io.ReadFull(r, sum[:])
		}
		if err != nil || i >= n {
			return nil, fmt.Errorf("read %q: %w", path, domarkx.ErrCorrupt)
		}
		b.sums[entries[i].Path] = sum
	}
}

func (d *difference) write(path string) error {
	text := writeDeleted(d.deleted)
	data := binary.AppendUvarint(nil, uint64(len(text)))
	data = append(data, text...)
	for i := range d.items {
		data = agent.AppendEntry(data, &d.items[i].Entry)
		for _, s := range []string{d.items[i].ID, d.items[i].Link} {
			data = binary.AppendUvarint(data, uint64(len(s)))
			data = append(data, s...)
		}
	}
	return seal(path, data)
}

// readDifference returns nil if the file is missing or damaged.
func readDifference(path string) (*difference, error) {
	data, err := unseal(path)
	if data == nil || err != nil {
		return nil, err
	}
	r := bufio.NewReader(bytes.NewReader(data))
	text := func() (string, error) {
		n, err := binary.ReadUvarint(r)
		if err != nil || n > uint64(len(data)) {
			return "", errors.Join(err, domarkx.ErrCorrupt)
		}
		b := make([]byte, n)
		_, err = io.ReadFull(r, b)
		return string(b), err
	}
	var d difference
	list, err := text()
	if err != nil {
		return nil, err
	}
	if d.deleted, err = readDeleted(list); err != nil {
		return nil, err
	}
	for {
		e, err := agent.ReadEntry(r)
		if errors.Is(err, io.EOF) {
			return &d, nil
		}
		it := item{Entry: e}
		if err == nil {
			it.ID, err = text()
		}
		if err == nil {
			it.Link, err = text()
		}
		if err != nil {
			return nil, err
		}
		d.items = append(d.items, it)
	}
}
