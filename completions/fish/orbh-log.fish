complete -c orbh-log -s f -l follow -d 'Go on with what happens, until the session is over or the command is interrupted'
complete -c orbh-log -l json -d 'Print the events as they are written, one JSON object a line'
complete -c orbh-log -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-log -s V -l version -d 'Print version'
