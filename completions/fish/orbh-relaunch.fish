complete -c orbh-relaunch -l into -d 'Send the pending relaunch to another target' -r
complete -c orbh-relaunch -l account -d 'Use this account of the harness there' -r
complete -c orbh-relaunch -l cancel -d 'Call the pending relaunch off, on the target from before it; a context that has ended waits for `orbh resume`'
complete -c orbh-relaunch -l background -d 'Go on in the background once the run is up; what fails before that is said, and is the exit status'
complete -c orbh-relaunch -l resume -d 'With --background: begin a new run when none is open, standard input added to its prompt'
complete -c orbh-relaunch -l json -d 'Print one JSON object when it leaves'
complete -c orbh-relaunch -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-relaunch -s V -l version -d 'Print version'
