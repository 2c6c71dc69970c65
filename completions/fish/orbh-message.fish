# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_orbh_message_global_optspecs
    string join \n h/help V/version
end

function __fish_orbh_message_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_orbh_message_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_orbh_message_using_subcommand
    set -l cmd (__fish_orbh_message_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c orbh-message -n "__fish_orbh_message_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-message -n "__fish_orbh_message_needs_command" -s V -l version -d 'Print version'
complete -c orbh-message -n "__fish_orbh_message_needs_command" -f -a "send" -d 'Send a message to a session, and print its id'
complete -c orbh-message -n "__fish_orbh_message_needs_command" -f -a "list" -d 'List the messages of a session, oldest first'
complete -c orbh-message -n "__fish_orbh_message_needs_command" -f -a "show" -d 'Show a message, and change nothing'
complete -c orbh-message -n "__fish_orbh_message_needs_command" -f -a "request" -d 'Put a question to another session, and wait for its answer'
complete -c orbh-message -n "__fish_orbh_message_using_subcommand send" -l subject -d 'What it is about [default: the first line of the text]' -r
complete -c orbh-message -n "__fish_orbh_message_using_subcommand send" -l reply-to -d 'The message of one\'s own inbox that this answers: its id, or a unique beginning of 4 characters or more' -r
complete -c orbh-message -n "__fish_orbh_message_using_subcommand send" -l file -d 'Read the text from this file' -r -F
complete -c orbh-message -n "__fish_orbh_message_using_subcommand send" -l json -d 'Print one JSON object'
complete -c orbh-message -n "__fish_orbh_message_using_subcommand send" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-message -n "__fish_orbh_message_using_subcommand list" -l sent -d 'Only what this session has sent to it, and whether that is queued, shown or answered'
complete -c orbh-message -n "__fish_orbh_message_using_subcommand list" -l all -d 'All of them, however many'
complete -c orbh-message -n "__fish_orbh_message_using_subcommand list" -l json -d 'Print one JSON object a line'
complete -c orbh-message -n "__fish_orbh_message_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-message -n "__fish_orbh_message_using_subcommand show" -l session -d 'The session in whose inbox it is [default: the session of this run]' -r
complete -c orbh-message -n "__fish_orbh_message_using_subcommand show" -l raw -d 'Print the file as it is'
complete -c orbh-message -n "__fish_orbh_message_using_subcommand show" -l json -d 'Print one JSON object'
complete -c orbh-message -n "__fish_orbh_message_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-message -n "__fish_orbh_message_using_subcommand request" -l subject -d 'What it is about [default: the first line of the question]' -r
complete -c orbh-message -n "__fish_orbh_message_using_subcommand request" -l file -d 'Read the question from this file' -r -F
complete -c orbh-message -n "__fish_orbh_message_using_subcommand request" -l timeout -d 'Wait for so many seconds at most; the question stays open' -r
complete -c orbh-message -n "__fish_orbh_message_using_subcommand request" -l deferred -d 'Do not wait: print the id of the question; the answer will be on the Page'
complete -c orbh-message -n "__fish_orbh_message_using_subcommand request" -l json -d 'Print one JSON object'
complete -c orbh-message -n "__fish_orbh_message_using_subcommand request" -s h -l help -d 'Print help (see more with \'--help\')'
