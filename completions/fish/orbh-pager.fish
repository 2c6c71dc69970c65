# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_orbh_pager_global_optspecs
    string join \n h/help V/version
end

function __fish_orbh_pager_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_orbh_pager_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_orbh_pager_using_subcommand
    set -l cmd (__fish_orbh_pager_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c orbh-pager -n "__fish_orbh_pager_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-pager -n "__fish_orbh_pager_needs_command" -s V -l version -d 'Print version'
complete -c orbh-pager -n "__fish_orbh_pager_needs_command" -f -a "arm" -d 'Wait for the next event that this run has not been told of, and print the Page; `orbh page arm` is the same'
complete -c orbh-pager -n "__fish_orbh_pager_needs_command" -f -a "status" -d 'Show whether a pager is armed, by which process, and what is pending'
complete -c orbh-pager -n "__fish_orbh_pager_needs_command" -f -a "watch" -d 'Print a line of JSON for each event and each change of sessions, until interrupted; consume nothing'
complete -c orbh-pager -n "__fish_orbh_pager_using_subcommand arm" -l max-wait -d 'Print the Page after so many seconds, although nothing came' -r
complete -c orbh-pager -n "__fish_orbh_pager_using_subcommand arm" -l json -d 'Print one JSON object'
complete -c orbh-pager -n "__fish_orbh_pager_using_subcommand arm" -s h -l help -d 'Print help'
complete -c orbh-pager -n "__fish_orbh_pager_using_subcommand status" -l json -d 'Print one JSON object'
complete -c orbh-pager -n "__fish_orbh_pager_using_subcommand status" -s h -l help -d 'Print help'
complete -c orbh-pager -n "__fish_orbh_pager_using_subcommand watch" -l all -d 'Every session, also those to come'
complete -c orbh-pager -n "__fish_orbh_pager_using_subcommand watch" -l json -d 'Print JSON, a line each: there is no other form'
complete -c orbh-pager -n "__fish_orbh_pager_using_subcommand watch" -s h -l help -d 'Print help'
