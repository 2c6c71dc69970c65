# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_orbh_compact_global_optspecs
    string join \n h/help V/version
end

function __fish_orbh_compact_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_orbh_compact_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_orbh_compact_using_subcommand
    set -l cmd (__fish_orbh_compact_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c orbh-compact -n "__fish_orbh_compact_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-compact -n "__fish_orbh_compact_needs_command" -s V -l version -d 'Print version'
complete -c orbh-compact -n "__fish_orbh_compact_needs_command" -f -a "start" -d 'Begin: hold the pager, print where to write the handoff, its contract, and the Page'
complete -c orbh-compact -n "__fish_orbh_compact_needs_command" -f -a "handoff" -d 'Hand off: check the handoff, end this context, relaunch the session from the handoff'
complete -c orbh-compact -n "__fish_orbh_compact_needs_command" -f -a "finish" -d 'Finish: the successor has read the handoff and every file that it lists'
complete -c orbh-compact -n "__fish_orbh_compact_needs_command" -f -a "abort" -d 'Call the compaction off, before its handoff was accepted'
complete -c orbh-compact -n "__fish_orbh_compact_needs_command" -f -a "status" -d 'Show where a session\'s compaction is, since when, and why'
complete -c orbh-compact -n "__fish_orbh_compact_using_subcommand start" -l json -d 'Print one JSON object: run, path, contract, obligations, section, page'
complete -c orbh-compact -n "__fish_orbh_compact_using_subcommand start" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-compact -n "__fish_orbh_compact_using_subcommand handoff" -l into -d 'Relaunch on this target [default: the one in force]' -r
complete -c orbh-compact -n "__fish_orbh_compact_using_subcommand handoff" -l account -d 'Relaunch with this account of the harness' -r
complete -c orbh-compact -n "__fish_orbh_compact_using_subcommand handoff" -l check -d 'Only check, and change nothing'
complete -c orbh-compact -n "__fish_orbh_compact_using_subcommand handoff" -l json -d 'Print one JSON object'
complete -c orbh-compact -n "__fish_orbh_compact_using_subcommand handoff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-compact -n "__fish_orbh_compact_using_subcommand finish" -l json -d 'Print one JSON object'
complete -c orbh-compact -n "__fish_orbh_compact_using_subcommand finish" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-compact -n "__fish_orbh_compact_using_subcommand abort" -l json -d 'Print one JSON object'
complete -c orbh-compact -n "__fish_orbh_compact_using_subcommand abort" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-compact -n "__fish_orbh_compact_using_subcommand status" -l json -d 'Print one JSON object'
complete -c orbh-compact -n "__fish_orbh_compact_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
