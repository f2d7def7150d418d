package main

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" name:"SHELL" help:"bash, zsh or fish."`
}

func (completionCmd) Help() string {
	return `
Prints a script that teaches a shell to complete "git domarkx" and "git-domarkx":
commands, options, and the names of the sessions in the repository. "make install"
puts the scripts in place; otherwise:

    git domarkx completion bash > ~/.local/share/bash-completion/completions/git-domarkx
    git domarkx completion zsh  > "${fpath[1]}/_git-domarkx"
    git domarkx completion fish > ~/.config/fish/completions/git-domarkx.fish

In zsh, "git <TAB>" lists the command too after

    zstyle ':completion:*:*:git:*' user-commands domarkx:'AI sessions in Git'
`
}

// Run prints the script.
func (c *completionCmd) Run(inv *invocation) error {
	return completionScripts()[c.Shell](inv.out, completionModel(inv.model))
}
