# fish completion of git-domarkx, also as "git domarkx". Made from the command model by go generate.

# The names that a listing begins its lines with.
function __fish_git_domarkx_names
    git domarkx $argv 2>/dev/null | string split -f1 \t
end

# The words before the cursor that are no options: the command and its arguments.
function __fish_git_domarkx_words
    set -l words (commandline -opc)
    set -e words[1]
    string match -v -- '-*' $words
end

# Whether the cursor is at a place behind a command: 1 is the word after it, 2+ the
# second or later, 0 any.
function __fish_git_domarkx_at
    set -l words (__fish_git_domarkx_words)
    set -l verb $argv[2..]
    set -l depth (count $verb)
    set -l more (math (count $words) - $depth + 1)
    test $more -ge 1; or return
    if test $depth -gt 0
        test "$words[1..$depth]" = "$verb"; or return
    end
    switch $argv[1]
        case 0
            true
        case '*+'
            test $more -ge (string trim -c + $argv[1])
        case '*'
            test $more -eq $argv[1]
    end
end

complete -c git-domarkx -f
complete -c git-domarkx -l quiet -s q -d 'Show no progress and no hints'
complete -c git-domarkx -l color -x -a 'auto always never' -d 'Colour the output: auto (the default), always or never'
complete -c git-domarkx -l no-progress -d 'Show progress on a terminal after a second'
complete -c git-domarkx -l help -d 'Show the whole help and stop; -h shows a screen'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a import -d 'Make sessions from documents'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 import' -l as -r -d 'The session\'s name, when one document is imported; of several, that of standard input'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 import' -l format -r -d 'The documents\' format: md, json, agent-chatter, zeus, openpocket or pi. Recognised by content unless given'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 import' -l links -d 'Link messages to the workspace versions that the documents state, where the session\'s workspace, or WS, has them'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 import' -l attach -r -d 'Keep this file with the session, by its path below the document\'s folder. Can be given several times, for one document'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 import' -F
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a validate -d 'Say whether documents are well formed'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 validate' -F
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a list -d 'List the sessions'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 list' -l json -d 'Print a JSON array'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a status -d 'Say what is live, unsaved, untrusted, ahead or behind'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a show -d 'Print a session, an older snapshot of it or one message'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 show' -l format -r -d 'md (the default), json, agent-chatter, zeus, openpocket or pi'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 show' -l attachment -r -d 'Write what is kept beside the messages instead: an output that was too large for one, or a transcript'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 show' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a log -d 'List the snapshots or the messages of a session'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 log' -l json -d 'Print a JSON array'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 log' -l messages -d 'List the messages of the snapshot instead'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 log' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a diff -d 'Show what differs between two snapshots'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 diff' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a export -d 'Write a session in a format of choice'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 export' -l format -r -d 'md, json, agent-chatter, zeus, openpocket or pi'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 export' -l output -s o -r -d 'Write to a file, which is replaced only when all is written, or at the format\'s own path below a folder'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 export' -l strict -d 'Refuse what would lose something'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 export' -l team -r -d 'Refuse a session of another team; give this one to a session that has none'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 export' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a append -d 'Add a message to a session'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 append' -l role -x -a 'user assistant' -d 'user (the default) or assistant'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 append' -l message -s m -r -d 'The message; read from standard input unless given'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 append' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a edit -d 'Change a session in your editor'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 edit' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a fork -d 'Make a new session from a snapshot or message'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 fork' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a rename -d 'Give a session another name'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 rename' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a rm -d 'Move a session to the trash'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 rm' -l force -d 'Remove it even where what changed in the workspace cannot be committed'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 rm' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a restore -d 'Bring a session back from the trash'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 restore' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a rewind -d 'Take a session back to an earlier message or snapshot'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 rewind' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a trust -d 'Show what a session can run, and trust it'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 trust' -l revoke -d 'Take the trust back'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 trust' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a run -d 'Make the pending calls of a session'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 run' -l yes -d 'Run what is not trusted, this once'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 run' -l retry -d 'Make interrupted calls again, and run a setup script again that failed'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 run' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a exec -d 'Make one call in the workspace of a session'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 exec' -l yes -d 'Go on with a session that is not trusted, this once'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 exec' -l exit-code -d 'Exit with the exit code of the command that was run; 124 when its time ran out'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 exec' -l args -r -d 'The arguments as a JSON object; KEY=VALUE adds to them'
complete -c git-domarkx -n '__fish_git_domarkx_at 1 exec' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -n '__fish_git_domarkx_at 2 exec' -f -a '(__fish_git_domarkx_names workspace show (__fish_git_domarkx_words)[-1])'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a replay -d 'Make the recorded calls again and compare what they leave'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 replay' -l yes -d 'Replay what is not trusted, this once'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 replay' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a checkout -d 'Write the workspace as a message left it to a folder'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 checkout' -l yes -d 'Write set-id bits, capabilities, devices and nested repositories of an untrusted session, and owners and devices where this user may'
complete -c git-domarkx -n '__fish_git_domarkx_at 1 checkout' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -n '__fish_git_domarkx_at 2+ checkout' -x -a '(__fish_complete_directories)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a workspace -d 'List, compare, remove and look into workspaces'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 workspace' -a list -d 'List the workspaces'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 workspace list' -l json -d 'Print a JSON array'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 workspace' -a log -d 'List the versions of a workspace'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 workspace log' -l json -d 'Print a JSON array'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 workspace log' -f -a '(__fish_git_domarkx_names workspace list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 workspace' -a show -d 'List the resources of a version'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 workspace show' -l json -d 'Print a JSON object'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 workspace show' -f -a '(__fish_git_domarkx_names workspace list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 workspace' -a path -d 'Print where a workspace is live'
complete -c git-domarkx -n '__fish_git_domarkx_at 1 workspace path' -f -a '(__fish_git_domarkx_names workspace list)'
complete -c git-domarkx -n '__fish_git_domarkx_at 2+ workspace path' -f -a '(__fish_git_domarkx_names workspace show (__fish_git_domarkx_words)[-1])'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 workspace' -a diff -d 'Show what differs between two versions'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 workspace diff' -f -a '(__fish_git_domarkx_names workspace list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 workspace' -a checkout -d 'Write a version to a folder'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 workspace checkout' -l yes -d 'Write what the help of checkout names as risky, too'
complete -c git-domarkx -n '__fish_git_domarkx_at 1 workspace checkout' -f -a '(__fish_git_domarkx_names workspace list)'
complete -c git-domarkx -n '__fish_git_domarkx_at 2+ workspace checkout' -x -a '(__fish_complete_directories)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 workspace' -a attach -d 'Let a session work in another workspace'
complete -c git-domarkx -n '__fish_git_domarkx_at 1 workspace attach' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -n '__fish_git_domarkx_at 2+ workspace attach' -f -a '(__fish_git_domarkx_names workspace list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 workspace' -a rm -d 'Move a workspace to the trash'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 workspace rm' -l force -d 'Remove it even where what changed cannot be committed'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 workspace rm' -f -a '(__fish_git_domarkx_names workspace list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a plugin -d 'List what workspaces can be made of'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 plugin' -a list -d 'List the types of resources and their tools'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 plugin list' -l json -d 'Print a JSON array'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a zeus -d 'Save the agents of Zeus, and start them again'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 zeus' -a save -d 'Save which agents are live, with their sessions'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 zeus save' -l name -r -d 'What the snapshot is called, behind the time; snapshot- and the time unless given'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 zeus save' -l close -d 'Close the agents once they are saved'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 zeus save' -l json -d 'Print a JSON array'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 zeus' -a list -d 'List the agents that were saved'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 zeus list' -l json -d 'Print a JSON array'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 zeus' -a restore -d 'Start the agents of a snapshot again'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 zeus restore' -l workspace-mode -x -a 'original current' -d 'Where windows of kitty go: original (the default), to the workspace of sway that they were on, or current'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 zeus restore' -l if-running -x -a 'error skip replace' -d 'What to do when an agent runs already: error (the default), and nothing is started; skip it; or replace it'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 zeus restore' -l session-dir -r -d 'Where to write transcripts that are missing, instead of to their own place'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 zeus restore' -l json -d 'Print a JSON array'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 zeus restore' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a mount -d 'Show the sessions as Markdown files'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 mount' -l foreground -d 'Stay in the foreground until the mount ends'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 mount' -x -a '(__fish_complete_directories)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a unmount -d 'End a mount'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 unmount' -x -a '(__fish_complete_directories)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a push -d 'Send sessions to a remote'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 push' -l all -d 'All sessions'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 push' -l allow-ignored -d 'Send files that the repository ignores, too'
complete -c git-domarkx -n '__fish_git_domarkx_at 1 push' -f -a '(git remote 2>/dev/null; __fish_git_domarkx_names list)'
complete -c git-domarkx -n '__fish_git_domarkx_at 2+ push' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a fetch -d 'Get what a remote has, without merging it'
complete -c git-domarkx -n '__fish_git_domarkx_at 1 fetch' -f -a '(git remote 2>/dev/null; __fish_git_domarkx_names list)'
complete -c git-domarkx -n '__fish_git_domarkx_at 2+ fetch' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a pull -d 'Get what a remote has and merge it'
complete -c git-domarkx -n '__fish_git_domarkx_at 1 pull' -f -a '(git remote 2>/dev/null; __fish_git_domarkx_names list)'
complete -c git-domarkx -n '__fish_git_domarkx_at 2+ pull' -f -a '(__fish_git_domarkx_names list)'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a fsck -d 'Verify that every stored byte is what was written'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 fsck' -l json -d 'Print a JSON array'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a doctor -d 'Find out what keeps git-domarkx from working here'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 doctor' -l json -d 'Print a JSON array'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a gc -d 'Tidy up, and empty the trash of what is old'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 gc' -l json -d 'Print a JSON array'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a version -d 'Print the version'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a completion -d 'Print the completion script of a shell'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 completion' -f -a 'bash zsh fish'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a man -d 'Print or write the manual pages'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 man' -l write -r -d 'Write the pages of all commands into a folder instead'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 man' -f -a 'import validate list status show log diff export append edit fork rename rm restore rewind trust run exec replay checkout workspace plugin zeus mount unmount push fetch pull fsck doctor gc version completion man help'
complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 ' -a help -d 'Show the whole help of a command'
complete -c git-domarkx -n '__fish_git_domarkx_at 0 help' -f -a 'import validate list status show log diff export append edit fork rename rm restore rewind trust run exec replay checkout workspace plugin zeus mount unmount push fetch pull fsck doctor gc version completion man help'
