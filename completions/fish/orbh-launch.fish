complete -c orbh-launch -l file -d 'Read the duty from this file instead' -r -F
complete -c orbh-launch -l title -d 'What people see in lists: a few words' -r
complete -c orbh-launch -l description -d 'A sentence more' -r
complete -c orbh-launch -l cwd -d 'Where its harness works [default: the working directory]' -r -F
complete -c orbh-launch -l account -d 'Use this account of the harness, made by `orbh accounts add` [default: the harness\'s usual home]' -r
complete -c orbh-launch -l continues -d 'The session that it continues: its prompt names that one\'s spool' -r
complete -c orbh-launch -l json -d 'Print one JSON object'
complete -c orbh-launch -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh-launch -s V -l version -d 'Print version'
