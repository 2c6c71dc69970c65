complete -c orbh-resume -l file -d 'Read what to add from this file' -r -F
complete -c orbh-resume -l into -d 'Run it on another target from now on; a relaunch that is pending goes there, too' -r
complete -c orbh-resume -l account -d 'Use this account of the harness there' -r
complete -c orbh-resume -l json -d 'Print one JSON object'
complete -c orbh-resume -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-resume -s V -l version -d 'Print version'
