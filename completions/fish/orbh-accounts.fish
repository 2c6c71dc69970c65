# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_orbh_accounts_global_optspecs
    string join \n json h/help V/version
end

function __fish_orbh_accounts_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_orbh_accounts_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_orbh_accounts_using_subcommand
    set -l cmd (__fish_orbh_accounts_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c orbh-accounts -n "__fish_orbh_accounts_needs_command" -l json -d 'Print one JSON object a line'
complete -c orbh-accounts -n "__fish_orbh_accounts_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-accounts -n "__fish_orbh_accounts_needs_command" -s V -l version -d 'Print version'
complete -c orbh-accounts -n "__fish_orbh_accounts_needs_command" -a "list" -d 'List the accounts, as without a word'
complete -c orbh-accounts -n "__fish_orbh_accounts_needs_command" -a "add" -d 'Make the home of a new account, and say how to log in there'
complete -c orbh-accounts -n "__fish_orbh_accounts_using_subcommand list" -l json -d 'Print one JSON object a line'
complete -c orbh-accounts -n "__fish_orbh_accounts_using_subcommand list" -s h -l help -d 'Print help'
complete -c orbh-accounts -n "__fish_orbh_accounts_using_subcommand add" -l json -d 'Print one JSON object'
complete -c orbh-accounts -n "__fish_orbh_accounts_using_subcommand add" -s h -l help -d 'Print help (see more with \'--help\')'
