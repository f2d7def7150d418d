package main

import _ "embed"

// The completion scripts. They call the program itself, with __complete.
var (
	//go:embed completion/git-domarkx.bash
	bashCompletion string
	//go:embed completion/_git-domarkx
	zshCompletion string
	//go:embed completion/git-domarkx.fish
	fishCompletion string
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" name:"SHELL" help:"bash, zsh or fish."`
}

func (c *completionCmd) Run(inv *invocation) error {
	script := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	_, err := inv.out.WriteString(script)
	return err
}
