complete -c orbh-page -l no-mutate -d 'Look only: count nothing as read, also when it is one\'s own'
complete -c orbh-page -l json -d 'Print one JSON object'
complete -c orbh-page -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-page -s V -l version -d 'Print version'
