#!/bin/sh
# The agent of `orbh demo`: a program like any other on the `command` runtime. It gets its prompt on standard input,
# says what it does on standard output, and reports how full its context is. A real one would ask a model what to do
# next; this one knows.
set -u

think() { sleep "${DEMO_PACE:-0.8}"; }
say() { printf 'agent: %s\n' "$*"; }
try() { printf '$ %s\n' "$*"; "$@"; }

# The whole file is replaced, so that nobody reads half of it.
occupy() {
    printf '{"used": %s, "max": 200000}\n' "$1" > "$ORBH_CONTEXT_FILE.new"
    mv "$ORBH_CONTEXT_FILE.new" "$ORBH_CONTEXT_FILE"
}

count() {
    words=$(wc -w < "book/$1" | tr -d ' ')
    say "$1 has $words words"
    printf '%s %s\n' "$words" "$1" >> counts.txt
}

draft() {
    cat > "$handoff" << END
COMPACTION_ARTIFACT_V1

## SUMMARY

I am the first context of the session of orbh's demonstration. My mission is to count the words of each chapter in
book/ and to say which one is the longest. I decided to keep the counts in counts.txt, a line a chapter, because that
file outlives me. Chapters one and two are counted and written there; chapter three is not, because my context is at
82 percent. Nothing was promised to anybody. The next step is to count book/three.txt, then to return the name of the
longest chapter and its number of words.

## FILES

$PWD/counts.txt :: the counts so far, one line a chapter
$PWD/book/three.txt :: the chapter that is still to be counted

END
    if [ "$1" = whole ]; then
        printf '## OPEN OBLIGATIONS\n\n- none\n' >> "$handoff"
    fi
}

first_context() {
    occupy 21000
    say "my duty: count the words of each chapter in book/, and say which is the longest"
    try orbh session register "Count the words" "The longest chapter of a very short book"
    think
    occupy 97000
    count one.txt
    think
    occupy 163402
    count two.txt
    try orbh context
    say "82 percent. I hand off while I still hold the whole context"
    think
    sleep 100000 &
    echo $! > helper.pid
    say "(a helper of mine runs in the background, pid $!)"
    printf '$ %s\n' "orbh compact start"
    orbh compact start > start.txt
    handoff=$(sed -n '3s/^ *//p' start.txt)
    sed -n '1,3p' start.txt
    say "it ended nothing. I write the handoff to that path, and forget a section"
    think
    draft half
    try orbh compact handoff
    say "refused, and I am still here. I add what is missing"
    think
    draft whole
    try orbh compact handoff
    say "this line is never printed"
}

successor() {
    occupy 9000
    handoff=$(printf '%s\n' "$prompt" | sed -n 's/^ *\(\/.*handoff-.*\.md\)$/\1/p')
    say "I know nothing but my duty and the path of a handoff. First the Page"
    printf '$ %s\n' "orbh page"
    orbh page | sed -n '1,4p'
    think
    say "now the handoff, and every file that it lists"
    sed -n '/^## FILES/,/^## OPEN/s/^\(\/.*\) :: .*/\1/p' "$handoff" | while read -r file; do
        printf '$ cat %s\n' "$file"
        cat "$file"
    done
    think
    try orbh compact finish
    think
    occupy 14000
    count three.txt
    think
    longest=$(sort -n counts.txt | tail -n 1)
    try orbh session return "The longest chapter is ${longest#* }, with ${longest%% *} words."
}

prompt=$(cat)
case $prompt in
    *"You are the successor"*) successor ;;
    *) first_context ;;
esac
