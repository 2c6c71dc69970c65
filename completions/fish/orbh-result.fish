complete -c orbh-result -l run -d 'The result of this run [default: the newest that there is]' -r
complete -c orbh-result -l json -d 'Print one JSON object'
complete -c orbh-result -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-result -s V -l version -d 'Print version'
