complete -c orbh-list -l state -d 'List only those in this state' -r -f -a "working\t''
needs-input\t''
finished\t''
failed-unreturned\t''
killed\t''
lost\t''
unknown\t''"
complete -c orbh-list -l runtime -d 'List only those on this runtime' -r
complete -c orbh-list -l all -d 'List all of them'
complete -c orbh-list -l tree -d 'List each below the one that launched it; in JSON, after it'
complete -c orbh-list -l json -d 'Print one JSON object a line, a session each'
complete -c orbh-list -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-list -s V -l version -d 'Print version'
