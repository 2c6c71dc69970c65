# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_orbh_profiles_global_optspecs
    string join \n json h/help V/version
end

function __fish_orbh_profiles_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_orbh_profiles_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_orbh_profiles_using_subcommand
    set -l cmd (__fish_orbh_profiles_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c orbh-profiles -n "__fish_orbh_profiles_needs_command" -l json -d 'Print one JSON object a line'
complete -c orbh-profiles -n "__fish_orbh_profiles_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-profiles -n "__fish_orbh_profiles_needs_command" -s V -l version -d 'Print version'
complete -c orbh-profiles -n "__fish_orbh_profiles_needs_command" -a "show" -d 'Show one profile: what it is made of, and the program that is started for it'
complete -c orbh-profiles -n "__fish_orbh_profiles_using_subcommand show" -l json -d 'Print one JSON object'
complete -c orbh-profiles -n "__fish_orbh_profiles_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
