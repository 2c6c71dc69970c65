complete -c orbh-resume -l file -d 'Read what to add from this file' -r -F
complete -c orbh-resume -l json -d 'Print one JSON object'
complete -c orbh-resume -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-resume -s V -l version -d 'Print version'
