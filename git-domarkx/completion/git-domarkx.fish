# fish completion of git-domarkx, also as "git domarkx". Made from the command model by go generate.

function __fish_git_domarkx_sessions
    git domarkx list 2>/dev/null | string split -f1 \t
end

complete -c git-domarkx -f
complete -c git-domarkx -l quiet -s q -d 'Show no progress and no hints'
complete -c git-domarkx -l color -x -a 'auto always never' -d 'Colour the output: auto (the default), always or never'
complete -c git-domarkx -l no-progress -d 'Show progress on a terminal after a second; --no-progress never does'
complete -c git-domarkx -l help -d 'Show the whole help and stop; -h shows the usage on one screen'
complete -c git-domarkx -f -n __fish_use_subcommand -a version -d 'Print the version'
complete -c git-domarkx -f -n __fish_use_subcommand -a completion -d 'Print the completion script of a shell'
complete -c git-domarkx -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
complete -c git-domarkx -f -n __fish_use_subcommand -a man -d 'Print or write the manual pages'
complete -c git-domarkx -n '__fish_seen_subcommand_from man' -l write -r -d 'Write the pages of all commands into a folder instead'
complete -c git-domarkx -n '__fish_seen_subcommand_from man' -f -a 'version completion man help'
complete -c git-domarkx -f -n __fish_use_subcommand -a help -d 'Show the whole help of a command'
complete -c git-domarkx -n '__fish_seen_subcommand_from help' -f -a 'version completion man help'
