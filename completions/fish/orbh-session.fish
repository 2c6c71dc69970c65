# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_orbh_session_global_optspecs
    string join \n h/help V/version
end

function __fish_orbh_session_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_orbh_session_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_orbh_session_using_subcommand
    set -l cmd (__fish_orbh_session_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c orbh-session -n "__fish_orbh_session_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-session -n "__fish_orbh_session_needs_command" -s V -l version -d 'Print version'
complete -c orbh-session -n "__fish_orbh_session_needs_command" -f -a "register" -d 'Tell people what this session is at, in lists and on its Page'
complete -c orbh-session -n "__fish_orbh_session_needs_command" -f -a "set" -d 'Set a key, a file of its own in the spool'
complete -c orbh-session -n "__fish_orbh_session_needs_command" -f -a "get" -d 'Print the value of a key, or all keys'
complete -c orbh-session -n "__fish_orbh_session_needs_command" -f -a "unset" -d 'Remove a key'
complete -c orbh-session -n "__fish_orbh_session_needs_command" -f -a "ask" -d 'Ask a person, and wait for the answer'
complete -c orbh-session -n "__fish_orbh_session_needs_command" -f -a "answer" -d 'Print the answer to a question of the session, waiting for it; or list its questions'
complete -c orbh-session -n "__fish_orbh_session_needs_command" -f -a "cancel" -d 'Call an open question of this session off'
complete -c orbh-session -n "__fish_orbh_session_needs_command" -f -a "return" -d 'End the turn with a result; the session is finished'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand register" -l json -d 'Print one JSON object'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand register" -s h -l help -d 'Print help'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand set" -l file -d 'Read the value from this file' -r -F
complete -c orbh-session -n "__fish_orbh_session_using_subcommand set" -l session -d 'The session [default: the session of this run]' -r
complete -c orbh-session -n "__fish_orbh_session_using_subcommand set" -l json -d 'Print one JSON object'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand set" -s h -l help -d 'Print help'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand get" -l session -d 'The session [default: the session of this run]' -r
complete -c orbh-session -n "__fish_orbh_session_using_subcommand get" -l json -d 'Print one JSON object'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand get" -s h -l help -d 'Print help'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand unset" -l session -d 'The session [default: the session of this run]' -r
complete -c orbh-session -n "__fish_orbh_session_using_subcommand unset" -l json -d 'Print one JSON object'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand unset" -s h -l help -d 'Print help'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand ask" -l file -d 'Read the question from this file' -r -F
complete -c orbh-session -n "__fish_orbh_session_using_subcommand ask" -l timeout -d 'Wait so many seconds at most; the question stays open' -r
complete -c orbh-session -n "__fish_orbh_session_using_subcommand ask" -l deferred -d 'Print the id of the question and do not wait'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand ask" -l json -d 'Print one JSON object'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand ask" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand answer" -l session -d 'Look at the questions of this session, as an observer' -r
complete -c orbh-session -n "__fish_orbh_session_using_subcommand answer" -l timeout -d 'Wait so many seconds at most' -r
complete -c orbh-session -n "__fish_orbh_session_using_subcommand answer" -l json -d 'Print one JSON object, in a list one a line'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand answer" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand cancel" -l json -d 'Print one JSON object'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand cancel" -s h -l help -d 'Print help'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand return" -l file -d 'Read the result from this file' -r -F
complete -c orbh-session -n "__fish_orbh_session_using_subcommand return" -l finish -d 'The session is finished (the default)'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand return" -l json -d 'Print one JSON object'
complete -c orbh-session -n "__fish_orbh_session_using_subcommand return" -s h -l help -d 'Print help (see more with \'--help\')'
