# SPDX-License-Identifier: BSD-3-Clause
# bash completion for hunch. Commands, options and learners are asked of hunch itself, so this cannot lag behind it.

_hunch_commands()
{
    "$1" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# The argument's name and its words (empty: any) of option $3 of command $2.
_hunch_argument()
{
    "$1" "$2" --help=options 2>/dev/null |
        awk -F '\t' -v o="$3" '"--" $3 == o || (length($2) && "-" $2 == o) { print $4 " " $5; exit }'
}

# After "name:" come the learner's settings, after "name:a=1," more of them.
_hunch_learner()
{
    local tool=$1 word=$2 name before
    case $word in
    *:*)
        name=${word%%:*}
        before=${word%"${word##*[:,]}"}
        compopt -o nospace
        COMPREPLY=($(compgen -P "$before" -S = -W "$("$tool" learners --names "$name" 2>/dev/null)" -- "${word##*[:,]}"))
        ;;
    *) COMPREPLY=($(compgen -W "$("$tool" learners --names 2>/dev/null) all" -- "$word")) ;;
    esac
}

_hunch()
{
    local tool=${COMP_WORDS[0]} line=${COMP_LINE:0:COMP_POINT} word previous command argument
    word=${line##*[[:space:]]}
    line=${line%"$word"}
    previous=$(set -- $line; echo "${!#}")
    command=$(set -- $line; echo "$2")
    COMPREPLY=()
    case $command in
    '') COMPREPLY=($(compgen -W "$(_hunch_commands "$tool") --help --version" -- "$word")) ; return ;;
    help) COMPREPLY=($(compgen -W "$(_hunch_commands "$tool")" -- "$word")) ; return ;;
    esac
    case $previous in -*) argument=$(_hunch_argument "$tool" "$command" "$previous") ;; esac
    case $argument,$command,$word in
    SPEC*) _hunch_learner "$tool" "$word" ;;
    'DIR '*) COMPREPLY=($(compgen -d -- "$word")) ;;
    *' '?*,*,*) argument=${argument#* } && COMPREPLY=($(compgen -W "${argument//,/ }" -- "$word")) ;;
    *,*,-*) COMPREPLY=($(compgen -W "$("$tool" "$command" --help=options | awk -F '\t' '{ print "--" $3 }')" -- "$word")) ;;
    ,learners,*) COMPREPLY=($(compgen -W "$("$tool" learners --names 2>/dev/null)" -- "$word")) ;;
    esac
    # bash splits words at ':' and '=': what stands before the last such sign must not be repeated
    local prefix=${word%"${word##*[:=]}"} i
    if [[ -n $prefix && $COMP_WORDBREAKS == *:* ]]; then
        for i in "${!COMPREPLY[@]}"; do
            COMPREPLY[i]=${COMPREPLY[i]#"$prefix"}
        done
    fi
}

complete -o default -F _hunch hunch
