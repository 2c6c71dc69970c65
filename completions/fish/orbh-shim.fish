complete -c orbh-shim -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-shim -s V -l version -d 'Print version'
