complete -c orbh-respond -l file -d 'Read the answer from this file instead' -r -F
complete -c orbh-respond -l json -d 'Print one JSON object'
complete -c orbh-respond -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-respond -s V -l version -d 'Print version'
