complete -c orbh-context -l json -d 'Print one JSON object (with --watch one a line)'
complete -c orbh-context -l watch -d 'Print it again at each change, until the session no longer works or the command is interrupted'
complete -c orbh-context -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-context -s V -l version -d 'Print version'
