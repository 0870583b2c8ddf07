#compdef hunch
# SPDX-License-Identifier: BSD-3-Clause
# zsh completion for hunch. Commands, options and learners are asked of hunch itself, so this cannot lag behind it.

_hunch_commands()
{
    local -a commands
    commands=(${(f)"$($tool --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1:\2/p')"})
    _describe command commands
}

# After "name:" come the learner's settings, after "name:a=1," more of them.
_hunch_learner()
{
    if [[ $PREFIX == *:* ]]; then
        local name=${PREFIX%%:*}
        compset -P '*[:,]'
        compadd -S = -- ${(f)"$($tool learners --names $name 2>/dev/null)"}
    else
        compadd -- ${(f)"$($tool learners --names 2>/dev/null)"} all
    fi
}

# The rows of the command's table as _arguments wants them.
_hunch_options()
{
    local row text what
    local -a column
    for row in ${(f)"$($tool $1 --help=options 2>/dev/null)"}; do
        column=("${(@ps:\t:)row}")
        text=${${column[7]//\[/(}//\]/)} # brackets would end the explanation
        case $column[4] in
        '') what= ;;
        SPEC) what=:learner:_hunch_learner ;;
        FILE | MODEL) what=:file:_files ;;
        DIR) what=:folder:_directories ;;
        *) what=:${column[4]//:/\\:}:${column[5]:+(${column[5]//,/ })} ;;
        esac
        reply+=("*--$column[3][$text]$what")
        [[ -n $column[2] ]] && reply+=("*-$column[2][$text]$what")
    done
}

_hunch()
{
    local tool=$words[1] command=$words[2]
    local -a reply
    if (( CURRENT == 2 )) || [[ $command == help ]]; then
        _hunch_commands
        return
    fi
    _hunch_options $command
    shift words
    (( CURRENT-- ))
    if [[ $command == learners ]]; then
        _arguments $reply "*:learner:_hunch_learner"
    else
        _arguments $reply '*:file:_files'
    fi
}

_hunch "$@"
