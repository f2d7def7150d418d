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

func (completionCmd) Help() string {
	return `
Prints a script that teaches a shell to complete "git domarkx" and "git-domarkx":
commands, options and their values, and the sessions, messages (NAME#K), snapshots
(NAME@OID) and workspaces of the repository. "make install"
puts the scripts in place; otherwise:

    mkdir -p ~/.local/share/bash-completion/completions ~/.config/fish/conf.d
    git domarkx completion bash > ~/.local/share/bash-completion/completions/git-domarkx
    git domarkx completion zsh  > "${fpath[1]}/_git-domarkx"
    git domarkx completion fish > ~/.config/fish/conf.d/git-domarkx.fish

In zsh, "git <TAB>" lists the command too after

    zstyle ':completion:*:*:git:*' user-commands domarkx:'AI sessions in Git'
`
}

func (c *completionCmd) Run(inv *invocation) error {
	script := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	_, err := inv.out.WriteString(script)
	return err
}
