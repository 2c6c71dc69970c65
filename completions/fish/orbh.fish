# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_orbh_global_optspecs
    string join \n h/help V/version
end

function __fish_orbh_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_orbh_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_orbh_using_subcommand
    set -l cmd (__fish_orbh_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c orbh -n "__fish_orbh_needs_command" -s h -l help -d 'Print help'
complete -c orbh -n "__fish_orbh_needs_command" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "page" -d 'Show a session\'s live state and every open obligation'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "pager" -d 'Tell a working agent of what came for it: messages, questions, answers, a context that fills up'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "context" -d 'Show how full a session\'s context is'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "compact" -d 'Replace the context of the calling session, by a handoff that its agent writes'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "session" -d 'What a session says about itself, its questions, and its result'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "message" -d 'Mail between sessions: send, list, show, and ask'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "launch" -d 'Launch a new headless session, and print its id'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "list" -d 'List the sessions, the newest last'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "inspect" -d 'Show everything about a session: its state, its runs, its files'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "log" -d 'Show what happened in a session, an event a line'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "result" -d 'Print the result that a session returned'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "respond" -d 'Answer a question that a session has put'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "kill" -d 'End the current run of a session, with all its processes'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "resume" -d 'Begin a new run of a session that has none'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "relaunch" -d 'Keep a headless session as its manager, in the foreground, and take a pending relaunch to its end'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "profiles" -d 'List the profiles that a session can run on, and show one'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "accounts" -d 'List and add accounts: isolated homes of a harness'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "runtimes" -d 'List the harnesses that orbh knows, which are installed, and how to install them'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "demo" -d 'Live through a whole compaction, on a bundled agent, with no account and no network'
complete -c orbh -n "__fish_orbh_needs_command" -f -a "help" -d 'Show the manual page of a verb, or of a topic'
complete -c orbh -n "__fish_orbh_using_subcommand page" -l no-mutate -d 'Look only: count nothing as read, also when it is one\'s own'
complete -c orbh -n "__fish_orbh_using_subcommand page" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand page" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand page" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand pager; and not __fish_seen_subcommand_from arm status watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand pager; and not __fish_seen_subcommand_from arm status watch" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand pager; and not __fish_seen_subcommand_from arm status watch" -f -a "arm" -d 'Wait for the next event that this run has not been told of, and print the Page; `orbh page arm` is the same'
complete -c orbh -n "__fish_orbh_using_subcommand pager; and not __fish_seen_subcommand_from arm status watch" -f -a "status" -d 'Show whether a pager is armed, by which process, and what is pending'
complete -c orbh -n "__fish_orbh_using_subcommand pager; and not __fish_seen_subcommand_from arm status watch" -f -a "watch" -d 'Print a line of JSON for each event and each change of sessions, until interrupted; consume nothing'
complete -c orbh -n "__fish_orbh_using_subcommand pager; and __fish_seen_subcommand_from arm" -l max-wait -d 'Print the Page after so many seconds, although nothing came' -r
complete -c orbh -n "__fish_orbh_using_subcommand pager; and __fish_seen_subcommand_from arm" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand pager; and __fish_seen_subcommand_from arm" -s h -l help -d 'Print help'
complete -c orbh -n "__fish_orbh_using_subcommand pager; and __fish_seen_subcommand_from status" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand pager; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c orbh -n "__fish_orbh_using_subcommand pager; and __fish_seen_subcommand_from watch" -l all -d 'Every session, also those to come'
complete -c orbh -n "__fish_orbh_using_subcommand pager; and __fish_seen_subcommand_from watch" -l json -d 'Print JSON, a line each: there is no other form'
complete -c orbh -n "__fish_orbh_using_subcommand pager; and __fish_seen_subcommand_from watch" -s h -l help -d 'Print help'
complete -c orbh -n "__fish_orbh_using_subcommand context" -l json -d 'Print one JSON object (with --watch one a line)'
complete -c orbh -n "__fish_orbh_using_subcommand context" -l watch -d 'Print it again at each change, until the session no longer works or the command is interrupted'
complete -c orbh -n "__fish_orbh_using_subcommand context" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand context" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and not __fish_seen_subcommand_from start handoff finish abort status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and not __fish_seen_subcommand_from start handoff finish abort status" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and not __fish_seen_subcommand_from start handoff finish abort status" -f -a "start" -d 'Begin: hold the pager, print where to write the handoff, its contract, and the Page'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and not __fish_seen_subcommand_from start handoff finish abort status" -f -a "handoff" -d 'Hand off: check the handoff, end this context, relaunch the session from the handoff'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and not __fish_seen_subcommand_from start handoff finish abort status" -f -a "finish" -d 'Finish: the successor has read the handoff and every file that it lists'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and not __fish_seen_subcommand_from start handoff finish abort status" -f -a "abort" -d 'Call the compaction off, before its handoff was accepted'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and not __fish_seen_subcommand_from start handoff finish abort status" -f -a "status" -d 'Show where a session\'s compaction is, since when, and why'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and __fish_seen_subcommand_from start" -l json -d 'Print one JSON object: run, path, contract, obligations, section, page'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and __fish_seen_subcommand_from handoff" -l into -d 'Relaunch on this target [default: the one in force]' -r
complete -c orbh -n "__fish_orbh_using_subcommand compact; and __fish_seen_subcommand_from handoff" -l account -d 'Relaunch with this account of the harness' -r
complete -c orbh -n "__fish_orbh_using_subcommand compact; and __fish_seen_subcommand_from handoff" -l check -d 'Only check, and change nothing'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and __fish_seen_subcommand_from handoff" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and __fish_seen_subcommand_from handoff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and __fish_seen_subcommand_from finish" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and __fish_seen_subcommand_from finish" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and __fish_seen_subcommand_from abort" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and __fish_seen_subcommand_from abort" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and __fish_seen_subcommand_from status" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand compact; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand session; and not __fish_seen_subcommand_from register set get unset ask answer cancel return" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand session; and not __fish_seen_subcommand_from register set get unset ask answer cancel return" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand session; and not __fish_seen_subcommand_from register set get unset ask answer cancel return" -f -a "register" -d 'Tell people what this session is at, in lists and on its Page'
complete -c orbh -n "__fish_orbh_using_subcommand session; and not __fish_seen_subcommand_from register set get unset ask answer cancel return" -f -a "set" -d 'Set a key, a file of its own in the spool'
complete -c orbh -n "__fish_orbh_using_subcommand session; and not __fish_seen_subcommand_from register set get unset ask answer cancel return" -f -a "get" -d 'Print the value of a key, or all keys'
complete -c orbh -n "__fish_orbh_using_subcommand session; and not __fish_seen_subcommand_from register set get unset ask answer cancel return" -f -a "unset" -d 'Remove a key'
complete -c orbh -n "__fish_orbh_using_subcommand session; and not __fish_seen_subcommand_from register set get unset ask answer cancel return" -f -a "ask" -d 'Ask a person, and wait for the answer'
complete -c orbh -n "__fish_orbh_using_subcommand session; and not __fish_seen_subcommand_from register set get unset ask answer cancel return" -f -a "answer" -d 'Print the answer to a question of the session, waiting for it; or list its questions'
complete -c orbh -n "__fish_orbh_using_subcommand session; and not __fish_seen_subcommand_from register set get unset ask answer cancel return" -f -a "cancel" -d 'Call an open question of this session off'
complete -c orbh -n "__fish_orbh_using_subcommand session; and not __fish_seen_subcommand_from register set get unset ask answer cancel return" -f -a "return" -d 'End the turn with a result; the session is finished'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from register" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from register" -s h -l help -d 'Print help'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from set" -l file -d 'Read the value from this file' -r -F
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from set" -l session -d 'The session [default: the session of this run]' -r
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from set" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from get" -l session -d 'The session [default: the session of this run]' -r
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from get" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from unset" -l session -d 'The session [default: the session of this run]' -r
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from unset" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from unset" -s h -l help -d 'Print help'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from ask" -l file -d 'Read the question from this file' -r -F
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from ask" -l timeout -d 'Wait so many seconds at most; the question stays open' -r
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from ask" -l deferred -d 'Print the id of the question and do not wait'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from ask" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from ask" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from answer" -l session -d 'Look at the questions of this session, as an observer' -r
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from answer" -l timeout -d 'Wait so many seconds at most' -r
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from answer" -l json -d 'Print one JSON object, in a list one a line'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from answer" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from cancel" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from cancel" -s h -l help -d 'Print help'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from return" -l file -d 'Read the result from this file' -r -F
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from return" -l finish -d 'The session is finished (the default)'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from return" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand session; and __fish_seen_subcommand_from return" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand message; and not __fish_seen_subcommand_from send list show request" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand message; and not __fish_seen_subcommand_from send list show request" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand message; and not __fish_seen_subcommand_from send list show request" -f -a "send" -d 'Send a message to a session, and print its id'
complete -c orbh -n "__fish_orbh_using_subcommand message; and not __fish_seen_subcommand_from send list show request" -f -a "list" -d 'List the messages of a session, oldest first'
complete -c orbh -n "__fish_orbh_using_subcommand message; and not __fish_seen_subcommand_from send list show request" -f -a "show" -d 'Show a message, and change nothing'
complete -c orbh -n "__fish_orbh_using_subcommand message; and not __fish_seen_subcommand_from send list show request" -f -a "request" -d 'Put a question to another session, and wait for its answer'
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from send" -l subject -d 'What it is about [default: the first line of the text]' -r
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from send" -l reply-to -d 'The message of one\'s own inbox that this answers: its id, or a unique beginning of 4 characters or more' -r
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from send" -l file -d 'Read the text from this file' -r -F
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from send" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from send" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from list" -l sent -d 'Only what this session has sent to it, and whether that is queued, shown or answered'
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from list" -l all -d 'All of them, however many'
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from list" -l json -d 'Print one JSON object a line'
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from show" -l session -d 'The session in whose inbox it is [default: the session of this run]' -r
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from show" -l raw -d 'Print the file as it is'
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from show" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from request" -l subject -d 'What it is about [default: the first line of the question]' -r
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from request" -l file -d 'Read the question from this file' -r -F
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from request" -l timeout -d 'Wait for so many seconds at most; the question stays open' -r
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from request" -l deferred -d 'Do not wait: print the id of the question; the answer will be on the Page'
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from request" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand message; and __fish_seen_subcommand_from request" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand launch" -l file -d 'Read the duty from this file instead' -r -F
complete -c orbh -n "__fish_orbh_using_subcommand launch" -l title -d 'What people see in lists: a few words' -r
complete -c orbh -n "__fish_orbh_using_subcommand launch" -l description -d 'A sentence more' -r
complete -c orbh -n "__fish_orbh_using_subcommand launch" -l cwd -d 'Where its harness works [default: the working directory]' -r -F
complete -c orbh -n "__fish_orbh_using_subcommand launch" -l account -d 'Use this account of the harness, made by `orbh accounts add` [default: the harness\'s usual home]' -r
complete -c orbh -n "__fish_orbh_using_subcommand launch" -l continues -d 'The session that it continues: its prompt names that one\'s spool' -r
complete -c orbh -n "__fish_orbh_using_subcommand launch" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand launch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand launch" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand list" -l state -d 'List only those in this state' -r -f -a "working\t''
needs-input\t''
finished\t''
failed-unreturned\t''
killed\t''
lost\t''
unknown\t''"
complete -c orbh -n "__fish_orbh_using_subcommand list" -l runtime -d 'List only those on this runtime' -r
complete -c orbh -n "__fish_orbh_using_subcommand list" -l all -d 'List all of them'
complete -c orbh -n "__fish_orbh_using_subcommand list" -l tree -d 'List each below the one that launched it; in JSON, after it'
complete -c orbh -n "__fish_orbh_using_subcommand list" -l json -d 'Print one JSON object a line, a session each'
complete -c orbh -n "__fish_orbh_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand list" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand inspect" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand inspect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand inspect" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand log" -s f -l follow -d 'Go on with what happens, until the session is over or the command is interrupted'
complete -c orbh -n "__fish_orbh_using_subcommand log" -l json -d 'Print the events as they are written, one JSON object a line'
complete -c orbh -n "__fish_orbh_using_subcommand log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand log" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand result" -l run -d 'The result of this run [default: the newest that there is]' -r
complete -c orbh -n "__fish_orbh_using_subcommand result" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand result" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand result" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand respond" -l file -d 'Read the answer from this file instead' -r -F
complete -c orbh -n "__fish_orbh_using_subcommand respond" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand respond" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand respond" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand kill" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand kill" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand kill" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand resume" -l file -d 'Read what to add from this file' -r -F
complete -c orbh -n "__fish_orbh_using_subcommand resume" -l into -d 'Run it on another target from now on; a relaunch that is pending goes there, too' -r
complete -c orbh -n "__fish_orbh_using_subcommand resume" -l account -d 'Use this account of the harness there' -r
complete -c orbh -n "__fish_orbh_using_subcommand resume" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand resume" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand relaunch" -l into -d 'Send the pending relaunch to another target' -r
complete -c orbh -n "__fish_orbh_using_subcommand relaunch" -l account -d 'Use this account of the harness there' -r
complete -c orbh -n "__fish_orbh_using_subcommand relaunch" -l cancel -d 'Call the pending relaunch off, on the target from before it; a context that has ended waits for `orbh resume`'
complete -c orbh -n "__fish_orbh_using_subcommand relaunch" -l background -d 'Go on in the background once the run is up; what fails before that is said, and is the exit status'
complete -c orbh -n "__fish_orbh_using_subcommand relaunch" -l resume -d 'With --background: begin a new run when none is open, standard input added to its prompt'
complete -c orbh -n "__fish_orbh_using_subcommand relaunch" -l json -d 'Print one JSON object when it leaves'
complete -c orbh -n "__fish_orbh_using_subcommand relaunch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand relaunch" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand profiles; and not __fish_seen_subcommand_from show" -l json -d 'Print one JSON object a line'
complete -c orbh -n "__fish_orbh_using_subcommand profiles; and not __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand profiles; and not __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand profiles; and not __fish_seen_subcommand_from show" -a "show" -d 'Show one profile: what it is made of, and the program that is started for it'
complete -c orbh -n "__fish_orbh_using_subcommand profiles; and __fish_seen_subcommand_from show" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand profiles; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand accounts; and not __fish_seen_subcommand_from list add" -l json -d 'Print one JSON object a line'
complete -c orbh -n "__fish_orbh_using_subcommand accounts; and not __fish_seen_subcommand_from list add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand accounts; and not __fish_seen_subcommand_from list add" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand accounts; and not __fish_seen_subcommand_from list add" -a "list" -d 'List the accounts, as without a word'
complete -c orbh -n "__fish_orbh_using_subcommand accounts; and not __fish_seen_subcommand_from list add" -a "add" -d 'Make the home of a new account, and say how to log in there'
complete -c orbh -n "__fish_orbh_using_subcommand accounts; and __fish_seen_subcommand_from list" -l json -d 'Print one JSON object a line'
complete -c orbh -n "__fish_orbh_using_subcommand accounts; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c orbh -n "__fish_orbh_using_subcommand accounts; and __fish_seen_subcommand_from add" -l json -d 'Print one JSON object'
complete -c orbh -n "__fish_orbh_using_subcommand accounts; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand runtimes" -l json -d 'Print one JSON object a line'
complete -c orbh -n "__fish_orbh_using_subcommand runtimes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand runtimes" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand demo" -l pace -d 'How long the agent thinks between its steps, in seconds' -r
complete -c orbh -n "__fish_orbh_using_subcommand demo" -l json -d 'Print the session\'s events as JSON, one object a line, instead of the tale'
complete -c orbh -n "__fish_orbh_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c orbh -n "__fish_orbh_using_subcommand demo" -s V -l version -d 'Print version'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "page" -d 'Show a session\'s live state and every open obligation'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "pager" -d 'Tell a working agent of what came for it: messages, questions, answers, a context that fills up'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "context" -d 'Show how full a session\'s context is'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "compact" -d 'Replace the context of the calling session, by a handoff that its agent writes'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "session" -d 'What a session says about itself, its questions, and its result'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "message" -d 'Mail between sessions: send, list, show, and ask'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "launch" -d 'Launch a new headless session, and print its id'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "list" -d 'List the sessions, the newest last'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "inspect" -d 'Show everything about a session: its state, its runs, its files'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "log" -d 'Show what happened in a session, an event a line'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "result" -d 'Print the result that a session returned'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "respond" -d 'Answer a question that a session has put'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "kill" -d 'End the current run of a session, with all its processes'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "resume" -d 'Begin a new run of a session that has none'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "relaunch" -d 'Keep a headless session as its manager, in the foreground, and take a pending relaunch to its end'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "profiles" -d 'List the profiles that a session can run on, and show one'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "accounts" -d 'List and add accounts: isolated homes of a harness'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "runtimes" -d 'List the harnesses that orbh knows, which are installed, and how to install them'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "demo" -d 'Live through a whole compaction, on a bundled agent, with no account and no network'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "tutorial" -d 'A walk through orbh: the ideas, a session by hand, recovery'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "orbh" -d 'The dispatcher, and the conventions of all verbs'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "flint" -d '`flint orbh VERB` is `orbh VERB`'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "spool" -d 'The spool format, and the succession'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "handoff" -d 'The handoff contract'
complete -c orbh -n "__fish_orbh_using_subcommand help; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo tutorial orbh flint spool handoff runtime" -f -a "runtime" -d 'Targets, profiles, and what a harness is given'
