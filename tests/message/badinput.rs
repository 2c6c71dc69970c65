//! What lies in an inbox and is no proper mail: it hides nothing else, and gives a terminal no orders.

use super::Session;
use crate::harness::{World, can_trace, is_root};
use std::os::unix::fs::PermissionsExt;

/// Puts one of each kind into an inbox, and a good message last; the subject that each has in a list.
fn fill(session: &Session) -> Vec<String> {
    let letters: [(&[u8], &str); 13] = [
        (b"no headers at all\nand a second line\n", "no headers at all"),
        (b"", "(no text)"),
        (b"Subject: a NUL\n\nbefore\0after\n", "a NUL"),
        (b"From: x\x1b[2J@y\nSubject: =?utf-8?Q?two=0Alines=1B[31m_=E2=80=AE?=\n\n\x1b]0;title\x07text\n", "two\nlines\u{1b}[31m \u{202e}"),
        (b"Subject: html\nContent-Type: text/html\n\n<p>only <b>hyper</b>text</p><script>alert()</script>\n", "html"),
        (
            b"Subject: base64\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nw7xuY29kZWQK\n",
            "base64",
        ),
        (
            b"Subject: =?iso-8859-1?Q?caf=E9?=\nContent-Type: text/plain; charset=iso-8859-1\n\ngar\xe7on\n",
            "café",
        ),
        (b"Subject: raw caf\xe9\n\nno charset: \xff\xfe\n", "raw caf\u{fffd}"),
        (b"Subject: crlf\r\n\r\none\r\ntwo\r\n", "crlf"),
        (b"Subject: torn multipart\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\ninside", "torn multipart"),
        (
            b"Subject: torn inside\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/alternative; \
              boundary=c\n\n--c\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nw7xuY29kZWQKw7",
            "torn inside",
        ),
        (b"Subject: bad date\nDate: yesterday, at noon\nMessage-ID: no brackets\n\nx\n", "bad date"),
        (b"X-Orbh-Session: ../../x\nX-Orbh-Question: nobody/at-all\nSubject: forged\n\nx\n", "forged"),
    ];
    let mut subjects = Vec::new();
    for (number, (bytes, subject)) in letters.iter().enumerate() {
        session.put_mail(&format!("17000000{number:02}.{number}.host"), bytes);
        subjects.push((*subject).to_owned());
    }
    // Names that nobody would choose.
    session.put_mail("no time in it", b"Subject: odd name\n\nx\n");
    session.put_mail("1700000050.\u{1b}[2J\n.host", b"Subject: evil name\n\nx\n");
    session.put_mail(".hidden", b"Subject: no message\n\nx\n");
    session.put_mail("1700000060.good.host", b"From: ada@host\nSubject: the good one\n\nof all\n");
    subjects.extend(["evil name", "the good one", "odd name"].map(str::to_owned));
    subjects
}

/// What would give a terminal orders, or move what stands around it.
fn bad(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}'
}

#[test]
fn whatever_lies_in_an_inbox_is_shown_and_hides_nothing_else() {
    let world = World::new();
    let session = world.idle_session();
    let subjects = fill(&session);
    let listed = session.mail(&["--all"]);
    let found: Vec<&str> = listed.iter().map(|line| line["subject"].as_str().unwrap()).collect();
    assert_eq!(found, subjects);
    assert!(listed.iter().all(|line| line["session"].is_null() && line["damage"].is_null()));
    for line in &listed {
        let id = line["id"].as_str().unwrap();
        assert_eq!(session.letter(id)["respond"], serde_json::Value::Null);
        for how in [
            &["message", "show", id, "--session", &session.id][..],
            &["message", "show", id, "--session", &session.id, "--raw"],
        ] {
            let shown = world.orbh(how).on_terminal();
            assert!(!shown.contains(bad), "{shown:?}");
        }
    }
    let text = |subject: &str| {
        let line = listed.iter().find(|line| line["subject"] == subject).unwrap();
        session.letter(line["id"].as_str().unwrap())["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(text("no headers at all"), "no headers at all\nand a second line\n");
    assert_eq!(text("a NUL"), "before\0after\n");
    assert_eq!(text("base64"), "üncoded\n");
    assert_eq!(text("café"), "garçon\n");
    assert_eq!(text("crlf"), "one\ntwo\n");
    assert_eq!(text("torn multipart"), "inside");
    assert_eq!(text("torn inside"), "üncoded\n");
    assert!(text("html").contains("only hypertext") && !text("html").contains('<'), "{}", text("html"));
    for list in [&["message", "list", &session.id, "--all"][..], &["message", "list", &session.id, "--json"]] {
        let shown = world.orbh(list).on_terminal();
        assert!(shown.contains("the good one") && !shown.contains(bad), "{shown:?}");
    }
    // Line by line in a pipe, whatever stands in a subject.
    let list = world.orbh(["message", "list", &session.id]).run().ok();
    assert_eq!(list.lines().count(), subjects.len(), "{list}");
    let page = session.verb("0001", ["page"]).run().ok();
    assert!(page.contains(": the good one\n  | of all\n") && !page.contains(bad), "{page:?}");
    for id in listed.iter().map(|line| line["id"].as_str().unwrap()) {
        assert!(page.contains(id), "no {id} in {page}");
    }
    assert!(!session.verb("0001", ["page"]).run().ok().contains("MESSAGES"));
}

/// What is no file is named as damage each time, and stays until somebody takes it away.
#[test]
fn what_is_no_message_is_damage_beside_the_messages() {
    let world = World::new();
    let session = world.idle_session();
    std::fs::create_dir(session.path("inbox/new/1700000001.dir.host")).unwrap();
    nix::unistd::mkfifo(&session.path("inbox/new/1700000002.fifo.host"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", session.path("inbox/new/1700000003.link.host")).unwrap();
    let mut damaged = 3;
    session.put_mail("1700000004.closed.host", b"Subject: closed\n\nx\n");
    if !is_root() {
        damaged += 1;
        let path = session.path("inbox/new/1700000004.closed.host");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
    }
    session.put_mail("1700000005.good.host", b"Subject: the good one\n\nof all\n");
    for _ in 0..2 {
        let page = session.verb("0001", ["page"]).run().ok();
        assert_eq!(page.matches("  damage: ").count(), damaged, "{page}");
        assert!(page.contains("dir.host': it is not a regular file"), "{page}");
        assert!(page.contains("fifo.host': it is not a regular file"), "{page}");
        assert!(page.contains("link.host': a part of it is a symbolic link"), "{page}");
    }
    let out = world.orbh(["message", "list", &session.id]).run().exits(65).says("fifo.host");
    assert_eq!(out.stdout.lines().count(), 5, "{out:?}");
    assert!(out.stdout.contains("the good one"));
    let lines = session.mail(&[]);
    let of = |number: usize| lines[number]["id"].as_str().unwrap();
    world.orbh(["message", "show", of(0), "--session", &session.id]).run().fails(65, &["it is not a regular file"]);
    world.orbh(["message", "show", of(1), "--session", &session.id, "--raw"]).run().fails(65, &["fifo.host"]);
    world.orbh(["message", "show", of(4), "--session", &session.id]).run().ok();
    assert_eq!(lines.iter().filter(|line| line["state"] == "new").count(), damaged);
}

#[test]
fn a_message_of_fifty_megabytes_is_on_the_page_in_short_and_shown_whole() {
    let world = World::new();
    let (one, two) = super::pair(&world);
    let text = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n".repeat(50 << 14);
    one.verb("0001", ["message", "send", &two.id, "-", "--subject", "fifty"]).stdin(text.clone()).run().ok();
    let page = two.verb("0001", ["page", "--no-mutate"]).run().ok();
    assert!(page.len() < 12 * 1024 && page.contains("fifty\n  | 0123"), "{page}");
    let id = two.mail(&[])[0]["id"].as_str().unwrap().to_owned();
    assert!(page.contains(&format!("the whole: orbh message show {id}")), "{page}");
    let shown = two.verb("0001", ["message", "show", &id]).run().ok();
    assert!(shown.split_once("\n\n").unwrap().1 == text);
    // Larger than anything that may be sent.
    let huge = std::fs::File::create(world.work().join("huge")).unwrap();
    huge.set_len(64 * 1024 * 1024 + 1).unwrap();
    one.verb("0001", ["message", "send", &two.id, "--file", "huge"]).run().fails(2, &["is larger than 67108864 bytes"]);
    assert_eq!(two.mail(&[]).len(), 1);
}

/// The Page reads only the beginning of a message: the text there is shown, of whatever parts the message is.
#[test]
fn the_beginning_of_a_long_message_in_parts_is_on_the_page() {
    let world = World::new();
    let session = world.idle_session();
    let head = "Subject: parts\nContent-Type: multipart/mixed; boundary=xyz\n\n--xyz\nContent-Type: text/plain\n\n";
    let text = "the first line\n".to_owned() + &"and many more\n".repeat(2000);
    let attached = "\n--xyz\nContent-Type: application/octet-stream\n\nbytes\n--xyz--\n";
    session.put_mail("1700000001.1.host", format!("{head}{text}{attached}").as_bytes());
    let page = session.verb("0001", ["page"]).run().ok();
    assert!(page.contains(": parts\n  | the first line\n") && page.contains("the whole: orbh message show"), "{page}");
    let letter = session.letter(session.mail(&[])[0]["id"].as_str().unwrap());
    assert!(letter["text"] == text.as_str());
    assert_eq!(letter["attachments"], 1);
}

/// A message that somebody takes away after its name was read is none.
#[test]
fn a_message_that_goes_between_the_look_and_the_reading_is_passed_over() {
    if !can_trace() {
        return;
    }
    let world = World::new();
    let session = world.idle_session();
    session.put_mail("1700000001.going.host", b"Subject: the one that goes\n\nx\n");
    session.put_mail("1700000002.good.host", b"Subject: the good one\n\nx\n");
    let going = session.path("inbox/new/1700000001.going.host").display().to_string();
    let inject = ["-f", "-o", "/dev/null", "-P", &going, "-e", "trace=openat2,openat", "-e"];
    let nonce = session.nonce("0001");
    for args in [&["page"][..], &["message", "list"], &["page", "--json"]] {
        let cmd = world.program("strace").args(inject).args(["inject=openat2,openat:error=ENOENT"]);
        let cmd = cmd.args([env!("CARGO_BIN_EXE_orbh")]).args(args).env("ORBH_SESSION_ID", &session.id);
        let out = cmd.env("ORBH_RUN", "0001").env("ORBH_NONCE", &nonce).run().ok();
        let good = args == ["message", "list"] || args == ["page"] || !out.contains("the good one");
        assert!(good && !out.contains("the one that goes"), "{out}");
    }
    // It was not shown, so it is pending still.
    assert!(session.verb("0001", ["page"]).run().ok().contains("the one that goes"));
}
