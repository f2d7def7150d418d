# fish completion of git-domarkx, also as "git domarkx". It belongs in a conf.d folder: fish
# reads completions of git-domarkx only after git-domarkx. The program says what may come next.

function __fish_git_domarkx_complete
    set -l words (commandline -opc)
    set -l program git domarkx
    if string match -q '*git-domarkx' -- $words[1]
        set -e words[1]
    else # git OPTION... domarkx
        set -l at (contains -i -- domarkx $words); or return
        set program $words[1..$at]
        set -e words[1..$at]
    end
    set -l current (commandline -ct)
    for line in (command $program __complete $words "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $current
            case :directories
                __fish_complete_directories $current ''
            case '*'
                echo $line
        end
    end
end

complete -c git-domarkx -f -a '(__fish_git_domarkx_complete)'
complete -c git -f -n '__fish_git_using_command domarkx' -a '(__fish_git_domarkx_complete)'
