package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"
)

type manCmd struct {
	Write   string   `placeholder:"DIR" help:"Write the pages of all commands into a folder instead."`
	Command []string `arg:"" optional:"" name:"COMMAND" help:"The command; without one, the program."`
}

func (manCmd) Help() string {
	return `
Prints a manual page as troff source. "go install" installs no manual pages; this
puts them where man(1) and "git help domarkx" find them:

    git domarkx man --write ~/.local/share/man/man1

To read one without installing it:

    git domarkx man import | man -l -
`
}

// Run prints or writes manual pages.
func (c *manCmd) Run(inv *invocation) error {
	if c.Write != "" {
		if len(c.Command) > 0 {
			return usagef("--write writes the pages of all commands; it takes no COMMAND")
		}
		return writeManuals(inv.model, c.Write)
	}
	node, err := inv.command(c.Command)
	if err != nil {
		return err
	}
	return newPage(node).writeMan(inv.out)
}

func writeManuals(model *kong.Application, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing manual pages: %w", err)
	}
	for _, p := range allPages(model) {
		if err := writePage(filepath.Join(dir, p.manName()), p.writeMan); err != nil {
			return err
		}
	}
	return nil
}

func writePage(path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing a manual page: %w", err)
	}
	return nil
}

// allPages returns the program's own page and that of each command.
func allPages(model *kong.Application) []*page {
	return pagesOf(model.Node)
}

func pagesOf(node *kong.Node) []*page {
	pages := []*page{newPage(node)}
	for _, child := range node.Children {
		if !child.Hidden {
			pages = append(pages, pagesOf(child)...)
		}
	}
	return pages
}
