package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/alecthomas/kong"
	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

type manCmd struct {
	Write   string   `placeholder:"DIR" help:"Write the pages of all commands into a directory instead."`
	Install bool     `help:"Write them where man(1) looks for those of this program instead, and print the directory."`
	Command []string `arg:"" optional:"" name:"COMMAND" help:"The command; without one, the program."`
}

func (c *manCmd) Run(inv *invocation) error {
	switch {
	case (c.Write != "" || c.Install) && len(c.Command) > 0:
		return usagef("--write and --install write the pages of all commands; they take no COMMAND")
	case c.Write != "" && c.Install:
		return usagef("--write and --install exclude each other")
	case c.Write != "":
		return writeManuals(inv.model, c.Write)
	case c.Install:
		dir, err := manualDir()
		if err != nil {
			return fmt.Errorf("finding the directory for manual pages: %w", err)
		}
		if err := writeManuals(inv.model, dir); err != nil {
			return fmt.Errorf("%w; git domarkx man --write DIR writes them elsewhere", err)
		}
		return inv.printLine(text(dir))
	}
	node, err := inv.command(c.Command)
	if err != nil {
		return err
	}
	_, err = inv.out.WriteString(clidoc.New(node, resultFields).Man())
	return err
}

// manualDir returns the directory where man(1) looks for the manual pages of programs in this program's directory (see
// manpath(5), "MANPATH_MAP", and man(1) of FreeBSD and macOS).
func manualDir() (string, error) {
	program, err := exec.LookPath("git-domarkx")
	if err != nil {
		program, err = os.Executable()
	}
	if err != nil {
		return "", err
	}
	if program, err = filepath.Abs(program); err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(program), "..", "share", "man", "man1"), nil
}

func writeManuals(model *kong.Application, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing manual pages: %w", err)
	}
	for _, p := range allPages(model.Node) {
		if err := os.WriteFile(filepath.Join(dir, p.ManName()), []byte(p.Man()), 0o644); err != nil {
			return fmt.Errorf("writing a manual page: %w", err)
		}
	}
	return nil
}

// allPages returns the page of a command or the program, and those of the commands below it.
func allPages(node *kong.Node) []*clidoc.Page {
	pages := []*clidoc.Page{clidoc.New(node, resultFields)}
	for _, child := range node.Children {
		if !child.Hidden {
			pages = append(pages, allPages(child)...)
		}
	}
	return pages
}
