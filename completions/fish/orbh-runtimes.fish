complete -c orbh-runtimes -l json -d 'Print one JSON object a line'
complete -c orbh-runtimes -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-runtimes -s V -l version -d 'Print version'
