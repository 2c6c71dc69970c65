//! The inbox with the programs that people have for mail, the real ones: mblaze and mutt. What they deliver is on the
//! Page, what they read is what was sent, and what they move or flag is still right.

use super::{Session, pair, sent};
use crate::harness::World;
use crate::harness::model::installed;

/// Whether all of these programs are here; says so when one is not.
fn all_installed(programs: &[&str]) -> bool {
    programs.iter().all(|program| installed(program).is_some())
}

/// A line of shell that knows the inbox as `$inbox`; its output.
#[track_caller]
fn shell(session: &Session, line: &str) -> String {
    let cmd = session.world.shell(line).env("inbox", session.path("inbox")).env("MBLAZE_PAGER", "cat");
    cmd.env("MBLAZE", session.world.home().join(".mblaze")).run().exits(0).stdout
}

fn page(session: &Session) -> String {
    session.verb("0001", ["page"]).run().ok()
}

fn names(session: &Session, place: &str) -> Vec<String> {
    let entries = std::fs::read_dir(session.path("inbox").join(place)).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_mdeliver_and_a_plain_mv_put_there_is_on_the_page() {
    if !all_installed(&["mdeliver"]) {
        return;
    }
    let world = World::new();
    let session = world.idle_session();
    let deliver = "printf 'From: Ada <ada@host>\\nSubject: by mdeliver\\n\\nthe text\\n' | mdeliver -v \"$inbox\"";
    let path = shell(&session, deliver);
    assert!(path.trim_end().ends_with(":2,"), "mdeliver puts flags in new/: {path}");
    let mv = "name=$(date +%s).$$.$(hostname); printf 'Subject: by mv\\n\\n%s\\n' 'another text' > \"$inbox/tmp/$name\"; \
              mv \"$inbox/tmp/$name\" \"$inbox/new/\"";
    shell(&session, mv);
    let shown = page(&session);
    for part in [" from Ada <ada@host>, ", ": by mdeliver\n  | the text\n", ": by mv\n  | another text\n"] {
        assert!(shown.contains(part), "no {part:?} in {shown}");
    }
    assert!(!page(&session).contains("MESSAGES"));
    // Its flags were replaced, not added to.
    let cur = names(&session, "cur");
    assert!(
        cur.len() == 2 && cur.iter().all(|name| name.ends_with(":2,S") && name.matches(":2,").count() == 1),
        "{cur:?}"
    );
    assert_eq!(shell(&session, "mlist -S \"$inbox\"").lines().count(), 2);
}

#[test]
fn mblaze_reads_what_orbh_sends() {
    if !all_installed(&["mlist", "mscan", "mshow", "mhdr"]) {
        return;
    }
    let world = World::new();
    let (one, two) = pair(&world);
    one.verb("0001", ["session", "set", "title", "Señor Sender"]).run().ok();
    let text = "ünïcödé 🦀\n\nand a second paragraph\n";
    let subject = "a sübject, and a long one: ".to_owned() + &"word ".repeat(30);
    one.verb("0001", ["message", "send", &two.id, text, "--subject", subject.trim()]).run().ok();
    let long = "x".repeat(5000);
    one.verb("0001", ["message", "send", &two.id, &long, "--subject", "one line"]).run().ok();
    let shown = shell(&two, "mlist \"$inbox\" | sort | head -n 1 | xargs mshow");
    assert!(shown.contains(text), "{shown}");
    assert!(shown.contains("Señor Sender") && shown.contains("a sübject, and a long one: word"), "{shown}");
    let header = |name: &str| shell(&two, &format!("mlist \"$inbox\" | sort | xargs mhdr -d -h {name}"));
    assert_eq!(header("subject").lines().map(str::trim).collect::<Vec<_>>(), [subject.trim(), "one line"]);
    assert!(header("x-orbh-session").lines().all(|line| line.trim() == one.id), "{}", header("x-orbh-session"));
    let shown = shell(&two, "mlist \"$inbox\" | sort | tail -n 1 | xargs mshow");
    assert!(shown.replace('\n', "").contains(&long), "{shown}");
    let scanned = shell(&two, "mlist \"$inbox\" | mscan");
    assert!(scanned.lines().count() == 2 && scanned.contains("one line"), "{scanned}");
    // Looked at by others, and not by the session.
    assert_eq!(two.mail(&[]).iter().filter(|line| line["state"] == "new").count(), 2);
}

#[test]
fn what_mblaze_moves_and_flags_is_right() {
    if !all_installed(&["minc", "mflag", "mlist"]) {
        return;
    }
    let world = World::new();
    let (one, two) = pair(&world);
    let send = |text: &str| sent(one.verb("0001", ["message", "send", &two.id, text]).run());
    let (unread, read) = (send("not read by anybody"), send("read by a person"));
    // From new/ to cur/, where nobody has read it.
    shell(&two, "minc \"$inbox\"");
    assert_eq!((names(&two, "new").len(), names(&two, "cur").len()), (0, 2));
    assert_eq!((two.state_of(&unread), two.state_of(&read)), ("new".to_owned(), "new".to_owned()));
    // Marked as seen by a person: as good as shown.
    shell(&two, &format!("mflag -S \"$inbox\"/cur/*_{read}.*"));
    let shown = page(&two);
    assert!(shown.contains(&unread) && !shown.contains(&read), "{shown}");
    assert_eq!((two.state_of(&unread), two.state_of(&read)), ("shown".to_owned(), "shown".to_owned()));
    // Marked as unseen again, or moved back: it comes again, whatever its other flags.
    shell(&two, &format!("mflag -s \"$inbox\"/cur/*_{read}.*"));
    shell(&two, &format!("mflag -F \"$inbox\"/cur/*_{unread}.*; mv \"$inbox\"/cur/*_{unread}.* \"$inbox\"/new/"));
    assert!(names(&two, "new")[0].ends_with(":2,FS"), "{:?}", names(&two, "new"));
    let shown = page(&two);
    assert!(shown.contains(&unread) && shown.contains(&read), "{shown}");
    assert!(!page(&two).contains("MESSAGES"));
    assert_eq!(two.mail(&["--all"]).len(), 2);
    // Its other flags are kept.
    assert!(names(&two, "cur").iter().any(|name| name.contains(&unread) && name.ends_with(":2,FS")));
}

/// The real mutt on a terminal of its own: it shows one message and leaves the other, and moves both to cur/.
#[test]
fn what_mutt_has_read_is_shown_and_what_it_has_not_is_pending() {
    if !all_installed(&["mutt"]) {
        return;
    }
    let world = World::new();
    let (one, two) = pair(&world);
    let send = |text: &str| sent(one.verb("0001", ["message", "send", &two.id, text]).run());
    let (first, second) = (send("the first of two"), send("the second of two"));
    // It asks whether it should make it, and waits for the answer.
    std::fs::create_dir(world.home().join("Mail")).unwrap();
    let mutt = |settings: &str, keys: &str| {
        let inbox = two.path("inbox").display().to_string();
        let settings = format!("set sort=date-sent quit=yes move=no confirmappend=no delete=yes {settings}");
        let keys = format!("push '{keys}'");
        let cmd = world.program("mutt").env("TERM", "xterm").env("USER", "tester");
        cmd.args(["-n", "-F", "/dev/null", "-f", &inbox, "-e", &settings, "-e", &keys]).at_terminal()
    };
    let seen = mutt("", "<search>~s first<enter><display-message><exit><quit>");
    assert!(seen.contains("the first of two"), "{seen:?}");
    assert_eq!((names(&two, "new").len(), names(&two, "cur").len()), (0, 2), "mutt has moved both");
    let shown = page(&two);
    assert!(shown.contains(&second) && !shown.contains(&first), "{shown}");
    assert_eq!((two.state_of(&first), two.state_of(&second)), ("shown".to_owned(), "shown".to_owned()));
    // Marked as new by a person, it comes again; deleted, it is gone, and nothing asks for it.
    mutt("", "<search>~s first<enter><toggle-new><quit>");
    let shown = page(&two);
    assert!(shown.contains(&first) && !shown.contains(&second), "{shown}");
    mutt("", "<search>~s first<enter><delete-message><quit>");
    assert_eq!(two.mail(&["--all"]).len(), 1);
    world.orbh(["message", "show", &first, "--session", &two.id]).run().fails(66, &["has no message"]);
}
