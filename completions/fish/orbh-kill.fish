complete -c orbh-kill -l json -d 'Print one JSON object'
complete -c orbh-kill -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-kill -s V -l version -d 'Print version'
