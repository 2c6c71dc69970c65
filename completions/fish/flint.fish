# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_flint_global_optspecs
    string join \n h/help V/version
end

function __fish_flint_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_flint_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_flint_using_subcommand
    set -l cmd (__fish_flint_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c flint -n "__fish_flint_needs_command" -s h -l help -d 'Print help'
complete -c flint -n "__fish_flint_needs_command" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_needs_command" -f -a "orbh" -d 'Keep a coding agent\'s session alive while its context is replaced'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -s h -l help -d 'Print help'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "page" -d 'Show a session\'s live state and every open obligation'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "pager" -d 'Tell a working agent of what came for it: messages, questions, answers, a context that fills up'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "context" -d 'Show how full a session\'s context is'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "compact" -d 'Replace the context of the calling session, by a handoff that its agent writes'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "session" -d 'What a session says about itself, its questions, and its result'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "message" -d 'Mail between sessions: send, list, show, and ask'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "launch" -d 'Launch a new headless session, and print its id'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "list" -d 'List the sessions, the newest last'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "inspect" -d 'Show everything about a session: its state, its runs, its files'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "log" -d 'Show what happened in a session, an event a line'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "result" -d 'Print the result that a session returned'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "respond" -d 'Answer a question that a session has put'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "kill" -d 'End the current run of a session, with all its processes'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "resume" -d 'Begin a new run of a session that has none'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "relaunch" -d 'Keep a headless session as its manager, in the foreground, and take a pending relaunch to its end'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "profiles" -d 'List the profiles that a session can run on, and show one'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "accounts" -d 'List and add accounts: isolated homes of a harness'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "runtimes" -d 'List the harnesses that orbh knows, which are installed, and how to install them'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "demo" -d 'Live through a whole compaction, on a bundled agent, with no account and no network'
complete -c flint -n "__fish_flint_using_subcommand orbh; and not __fish_seen_subcommand_from page pager context compact session message launch list inspect log result respond kill resume relaunch profiles accounts runtimes demo help" -f -a "help" -d 'Show the manual page of a verb, or of a topic'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from page" -l no-mutate -d 'Look only: count nothing as read, also when it is one\'s own'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from page" -l json -d 'Print one JSON object'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from page" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from page" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from pager" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from pager" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from pager" -f -a "arm" -d 'Wait for the next event that this run has not been told of, and print the Page; `orbh page arm` is the same'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from pager" -f -a "status" -d 'Show whether a pager is armed, by which process, and what is pending'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from pager" -f -a "watch" -d 'Print a line of JSON for each event and each change of sessions, until interrupted; consume nothing'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from context" -l json -d 'Print one JSON object (with --watch one a line)'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from context" -l watch -d 'Print it again at each change, until the session no longer works or the command is interrupted'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from context" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from context" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from compact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from compact" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from compact" -f -a "start" -d 'Begin: hold the pager, print where to write the handoff, its contract, and the Page'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from compact" -f -a "handoff" -d 'Hand off: check the handoff, end this context, relaunch the session from the handoff'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from compact" -f -a "finish" -d 'Finish: the successor has read the handoff and every file that it lists'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from compact" -f -a "abort" -d 'Call the compaction off, before its handoff was accepted'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from compact" -f -a "status" -d 'Show where a session\'s compaction is, since when, and why'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from session" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from session" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from session" -f -a "register" -d 'Tell people what this session is at, in lists and on its Page'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from session" -f -a "set" -d 'Set a key, a file of its own in the spool'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from session" -f -a "get" -d 'Print the value of a key, or all keys'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from session" -f -a "unset" -d 'Remove a key'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from session" -f -a "ask" -d 'Ask a person, and wait for the answer'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from session" -f -a "answer" -d 'Print the answer to a question of the session, waiting for it; or list its questions'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from session" -f -a "cancel" -d 'Call an open question of this session off'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from session" -f -a "return" -d 'End the turn with a result; the session is finished'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from message" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from message" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from message" -f -a "send" -d 'Send a message to a session, and print its id'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from message" -f -a "list" -d 'List the messages of a session, oldest first'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from message" -f -a "show" -d 'Show a message, and change nothing'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from message" -f -a "request" -d 'Put a question to another session, and wait for its answer'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from launch" -l file -d 'Read the duty from this file instead' -r -F
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from launch" -l title -d 'What people see in lists: a few words' -r
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from launch" -l description -d 'A sentence more' -r
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from launch" -l cwd -d 'Where its harness works [default: the working directory]' -r -F
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from launch" -l account -d 'Use this account of the harness, made by `orbh accounts add` [default: the harness\'s usual home]' -r
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from launch" -l continues -d 'The session that it continues: its prompt names that one\'s spool' -r
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from launch" -l json -d 'Print one JSON object'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from launch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from launch" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from list" -l state -d 'List only those in this state' -r -f -a "working\t''
needs-input\t''
finished\t''
failed-unreturned\t''
killed\t''
lost\t''
unknown\t''"
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from list" -l runtime -d 'List only those on this runtime' -r
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from list" -l all -d 'List all of them'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from list" -l tree -d 'List each below the one that launched it; in JSON, after it'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from list" -l json -d 'Print one JSON object a line, a session each'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from inspect" -l json -d 'Print one JSON object'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from inspect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from inspect" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from log" -s f -l follow -d 'Go on with what happens, until the session is over or the command is interrupted'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from log" -l json -d 'Print the events as they are written, one JSON object a line'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from log" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from result" -l run -d 'The result of this run [default: the newest that there is]' -r
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from result" -l json -d 'Print one JSON object'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from result" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from result" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from respond" -l file -d 'Read the answer from this file instead' -r -F
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from respond" -l json -d 'Print one JSON object'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from respond" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from respond" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from kill" -l json -d 'Print one JSON object'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from kill" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from kill" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from resume" -l file -d 'Read what to add from this file' -r -F
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from resume" -l into -d 'Run it on another target from now on; a relaunch that is pending goes there, too' -r
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from resume" -l account -d 'Use this account of the harness there' -r
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from resume" -l json -d 'Print one JSON object'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from resume" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from relaunch" -l into -d 'Send the pending relaunch to another target' -r
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from relaunch" -l account -d 'Use this account of the harness there' -r
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from relaunch" -l cancel -d 'Call the pending relaunch off, on the target from before it; a context that has ended waits for `orbh resume`'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from relaunch" -l background -d 'Go on in the background once the run is up; what fails before that is said, and is the exit status'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from relaunch" -l resume -d 'With --background: begin a new run when none is open, standard input added to its prompt'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from relaunch" -l json -d 'Print one JSON object when it leaves'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from relaunch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from relaunch" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from profiles" -l json -d 'Print one JSON object a line'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from profiles" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from profiles" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from profiles" -a "show" -d 'Show one profile: what it is made of, and the program that is started for it'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from accounts" -l json -d 'Print one JSON object a line'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from accounts" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from accounts" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from accounts" -a "list" -d 'List the accounts, as without a word'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from accounts" -a "add" -d 'Make the home of a new account, and say how to log in there'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from runtimes" -l json -d 'Print one JSON object a line'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from runtimes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from runtimes" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from demo" -l pace -d 'How long the agent thinks between its steps, in seconds' -r
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from demo" -l json -d 'Print the session\'s events as JSON, one object a line, instead of the tale'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from demo" -s V -l version -d 'Print version'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "page" -d 'Show a session\'s live state and every open obligation'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "pager" -d 'Tell a working agent of what came for it: messages, questions, answers, a context that fills up'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "context" -d 'Show how full a session\'s context is'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "compact" -d 'Replace the context of the calling session, by a handoff that its agent writes'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "session" -d 'What a session says about itself, its questions, and its result'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "message" -d 'Mail between sessions: send, list, show, and ask'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "launch" -d 'Launch a new headless session, and print its id'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the sessions, the newest last'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "inspect" -d 'Show everything about a session: its state, its runs, its files'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "log" -d 'Show what happened in a session, an event a line'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "result" -d 'Print the result that a session returned'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "respond" -d 'Answer a question that a session has put'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "kill" -d 'End the current run of a session, with all its processes'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "resume" -d 'Begin a new run of a session that has none'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "relaunch" -d 'Keep a headless session as its manager, in the foreground, and take a pending relaunch to its end'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "profiles" -d 'List the profiles that a session can run on, and show one'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "accounts" -d 'List and add accounts: isolated homes of a harness'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "runtimes" -d 'List the harnesses that orbh knows, which are installed, and how to install them'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "demo" -d 'Live through a whole compaction, on a bundled agent, with no account and no network'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "tutorial" -d 'A walk through orbh: the ideas, a session by hand, recovery'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "orbh" -d 'The dispatcher, and the conventions of all verbs'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "flint" -d '`flint orbh VERB` is `orbh VERB`'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "spool" -d 'The spool format, and the succession'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "handoff" -d 'The handoff contract'
complete -c flint -n "__fish_flint_using_subcommand orbh; and __fish_seen_subcommand_from help" -f -a "runtime" -d 'Targets, profiles, and what a harness is given'
