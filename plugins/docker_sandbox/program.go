package dockersandbox

import (
	"archive/tar"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Paths of the agent in a container.
const (
	agentDir    = "/.git-domarkx"
	agentFile   = agentDir + "/agent"
	agentLoader = agentDir + "/ld.so"
	// agentCommand is the argument that makes this program run as the agent.
	agentCommand = "docker-sandbox-agent"
)

// agentTimeout limits how long the agent may take to start before it is copied again.
const agentTimeout = 10 * time.Second

// A program is the agent executable that is copied into containers. A dynamically linked one is
// copied with its libraries, since the image may have other versions or none.
type program struct {
	path      string
	loader    string   // "" if it is linked statically
	libraries []string // paths
}

// findProgram examines an executable of this machine.
func findProgram(path string) (program, error) {
	p := program{path: path}
	if runtime.GOOS != "linux" {
		return p, fmt.Errorf("docker_sandbox on %s: %w; use Linux", runtime.GOOS, domarkx.ErrUnsupported)
	}
	f, err := elf.Open(path)
	if err != nil {
		return p, fmt.Errorf("find the program for the container: %w", err)
	}
	defer f.Close()
	for _, part := range f.Progs {
		if part.Type != elf.PT_INTERP {
			continue
		}
		name, err := io.ReadAll(io.LimitReader(part.Open(), 4096))
		if err != nil {
			return p, fmt.Errorf("read %q: %w", path, err)
		}
		p.loader = strings.TrimRight(string(name), "\x00")
	}
	if p.loader == "" {
		return p, nil
	}
	names, err := f.ImportedLibraries()
	if err != nil {
		return p, fmt.Errorf("read %q: %w", path, err)
	}
	return p, p.addLibraries(names, f.Machine)
}

// addLibraries adds libraries and, recursively, those that they need.
func (p *program) addLibraries(names []string, machine elf.Machine) error {
	seen := map[string]bool{filepath.Base(p.loader): true}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		path, err := findLibrary(filepath.Dir(p.loader), name, machine)
		if err != nil {
			return fmt.Errorf("%q needs %q, which was not found: %w; build it with CGO_ENABLED=0", p.path, name, err)
		}
		f, err := elf.Open(path)
		if err != nil {
			return fmt.Errorf("read %q: %w", path, err)
		}
		more, err := f.ImportedLibraries()
		f.Close()
		if err != nil {
			return fmt.Errorf("read %q: %w", path, err)
		}
		p.libraries = append(p.libraries, path)
		names = append(names, more...)
	}
	return nil
}

// findLibrary searches the directories in which Linux distributions install libraries.
func findLibrary(beside, name string, machine elf.Machine) (string, error) {
	for _, dir := range []string{beside, "/lib64", "/usr/lib64", "/lib/*-linux-*", "/usr/lib/*-linux-*", "/lib", "/usr/lib"} {
		found, err := filepath.Glob(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		for _, path := range found {
			if f, err := elf.Open(path); err == nil {
				f.Close()
				if f.Machine == machine {
					return path, nil
				}
			}
		}
	}
	return "", domarkx.ErrNotFound
}

// entry returns the entrypoint of a container for this program.
func (p program) entry() []string {
	if p.loader == "" {
		return []string{agentFile}
	}
	return []string{agentLoader, "--library-path", agentDir, agentFile}
}

// stamp returns a string that changes when the program changes.
func (p program) stamp() (string, error) {
	info, err := os.Stat(p.path)
	if err != nil {
		return "", fmt.Errorf("find the program for the container: %w", err)
	}
	return fmt.Sprintf("%s %d %d", strings.Join(p.entry(), " "), info.Size(), info.ModTime().UnixNano()), nil
}

// sendAgent copies the agent into a container, running or not.
func (e *engine) sendAgent(ctx context.Context, container string) error {
	read, write := io.Pipe()
	go func() {
		w := tar.NewWriter(write)
		err := addFile(w, "agent", e.agent.path)
		if err == nil && e.agent.loader != "" {
			err = addFile(w, "ld.so", e.agent.loader)
		}
		for _, path := range e.agent.libraries {
			if err == nil {
				err = addFile(w, filepath.Base(path), path)
			}
		}
		if err == nil {
			err = w.Close()
		}
		write.CloseWithError(err)
	}()
	err := e.PutArchive(ctx, container, agentDir, read)
	read.CloseWithError(errors.New("the engine stopped reading"))
	if err != nil {
		return fmt.Errorf("copy the agent into the container: %w", e.explain(err))
	}
	return nil
}

func addFile(w *tar.Writer, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: info.Size(), Format: tar.FormatGNU}); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
