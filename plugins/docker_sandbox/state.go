package dockersandbox

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

const stateFormat = 1

// A state is the persistent state of a resource. Its directory contains:
//
//	state.json          this struct
//	base-<container>    the container's files before anything ran in it
//	last-<container>    the difference that was committed or loaded last
type state struct {
	Format    int    `json:"format"`
	Instance  string `json:"instance"`            // value of labelInstance of the resource's containers
	Engine    string `json:"engine,omitempty"`    // id of the container's engine
	Container string `json:"container,omitempty"` // "" if none was created
	ImageID   string `json:"image_id,omitempty"`
	Agent     string `json:"agent,omitempty"` // stamp of the agent in it
	settings         // of the container; the image as it was configured then
	// Dirty is set before anything runs in the container.
	Dirty bool `json:"dirty,omitempty"`
}

func readState(dir string) (state, error) {
	data, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		s := state{Format: stateFormat, Instance: rand.Text()}
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

// writeRecord writes a value and its SHA-256 to a file. Paths in it may not be UTF-8.
func writeRecord(path string, v any) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return err
	}
	sum := sha256.Sum256(b.Bytes())
	return atomicfile.Replace(path, append(b.Bytes(), sum[:]...))
}

// readRecord returns nil if the file is missing or damaged.
func readRecord[T any](path string) (*T, error) {
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
	v := new(T)
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(v); err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	return v, nil
}

// readBaseline returns nil if the file is missing or damaged.
func readBaseline(path string) (*baseline, error) {
	b, err := readRecord[baseline](path)
	if b != nil {
		b.index()
	}
	return b, err
}
