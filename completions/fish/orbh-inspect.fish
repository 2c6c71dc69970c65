complete -c orbh-inspect -l json -d 'Print one JSON object'
complete -c orbh-inspect -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-inspect -s V -l version -d 'Print version'
