# SPDX-License-Identifier: BSD-3-Clause
# fish completion for hunch. Commands, options and learners are asked of hunch itself, so this cannot lag behind it.

function __hunch_command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and echo $words[2]
end

function __hunch_commands
    hunch --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1\t\2/p'
end

function __hunch_options
    hunch (__hunch_command) --help=options 2>/dev/null | awk -F '\t' '{ print "--" $3 "\t" $7; if ($2 != "") print "-" $2 "\t" $7 }'
end

# What may follow the option before the cursor: words, learners with their settings, or any file.
function __hunch_argument
    set -l words (commandline -opc)
    set -l row (hunch (__hunch_command) --help=options 2>/dev/null |
        awk -F '\t' -v o=$words[-1] '"--" $3 == o || ($2 != "" && "-" $2 == o) { print $4 "," $5; exit }')
    set -l parts (string split , -- $row)
    switch "$parts[1]"
        case ''
            return 1
        case SPEC
            set -l word (commandline -ct)
            if string match -q '*:*' -- $word
                set -l before (string match -r '.*[:,]' -- $word)
                hunch learners --names (string split -m 1 : -- $word)[1] 2>/dev/null | sed "s/.*/$before&=/"
            else
                hunch learners --names 2>/dev/null
                echo all
            end
        case '*'
            string join \n -- $parts[2..-1] | string match -r '.+'
    end
end

complete -c hunch -n 'test -z (__hunch_command); or test (__hunch_command) = help' -f -a '(__hunch_commands)'
complete -c hunch -n 'test -n (__hunch_command); and string match -q -- "-*" (commandline -ct)' -f -a '(__hunch_options)'
complete -c hunch -n 'test -n (__hunch_command); and __hunch_argument >/dev/null' -f -a '(__hunch_argument)'
complete -c hunch -n 'test "$(__hunch_command)" = learners' -f -a '(hunch learners --names)'
