complete -c orbh-demo -l pace -d 'How long the agent thinks between its steps, in seconds' -r
complete -c orbh-demo -l json -d 'Print the session\'s events as JSON, one object a line, instead of the tale'
complete -c orbh-demo -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-demo -s V -l version -d 'Print version'
