//! Roots that are none, and roots that are somebody else's.

use super::{PermissionsExt, World, alive, is_root, symlink};

#[test]
fn a_root_that_is_no_directory_is_refused_by_name() {
    let world = World::new();
    world.idle_agent();
    let file = world.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let dangling = world.path().join("dangling");
    symlink("nowhere", &dangling).unwrap();
    for (root, says) in
        [(&file, "file' is not a directory"), (&dangling, "dangling' is a symbolic link that leads nowhere")]
    {
        for args in [&["list"][..], &["page", "aaaa"], &["launch", "command/idle", "go"], &["kill", "aaaa"]] {
            world.orbh(args).env("ORBH_ROOT", root).run().fails(1, &[says]);
        }
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    assert!(!world.path().join("nowhere").exists());
    let below = file.join("root");
    world
        .orbh(["launch", "command/idle", "go"])
        .env("ORBH_ROOT", &below)
        .run()
        .fails(74, &["file/root", "Not a directory"]);
}

#[test]
fn a_root_may_be_a_link_or_a_relative_path() {
    let world = World::new();
    let session = world.idle_session();
    let link = world.path().join("link");
    symlink(world.root(), &link).unwrap();
    for root in [link.to_str().unwrap(), "../root", "../link/.", "./../root/"] {
        let page = world.orbh(["page", &session.id]).env("ORBH_ROOT", root).run().ok();
        assert!(page.contains(&session.id));
        session.verb("0001", ["session", "set", "k", root]).env("ORBH_ROOT", root).run().ok();
    }
    let id = world.orbh(["launch", "command/idle", "go"]).env("ORBH_ROOT", "new/root").run().ok();
    let made = world.work().join("new/root");
    assert!(made.join("sessions").join(id.trim()).is_dir());
    world.orbh(["kill", id.trim()]).env("ORBH_ROOT", made).run().ok();
}

#[test]
fn a_root_or_spool_that_others_can_write_is_refused() {
    let world = World::new();
    let session = world.idle_session();
    for (path, mode) in [(world.root(), 0o777), (world.root(), 0o770), (session.path(""), 0o702)] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let mode = format!("can be written by others (mode 0{mode:o})");
        for args in [&["page", &session.id][..], &["kill", &session.id], &["resume", &session.id]] {
            world.orbh(args).run().fails(1, &[&mode, "hint: chmod 700 "]);
        }
        session.verb("0001", ["compact", "start"]).run().fails(1, &[&mode]);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    assert!(alive(session.pid("0001")));
    session.verb("0001", ["page"]).run().ok();
}

#[test]
fn a_root_of_another_user_is_read_by_root_alone_and_written_by_neither() {
    if !is_root() {
        eprintln!("skipped: only root can give a directory away");
        return;
    }
    let world = World::new();
    let session = world.fake_session("11111111-1111-4111-8111-111111111111", "t", std::process::id().cast_signed());
    for entry in walkdir::WalkDir::new(world.root()) {
        std::os::unix::fs::lchown(entry.unwrap().path(), Some(65534), Some(65534)).unwrap();
    }
    world.orbh(["page", &session.id]).run().ok();
    world.idle_agent();
    for args in [
        &["kill", &session.id][..],
        &["resume", &session.id],
        &["session", "set", "k", "v", "--session", &session.id],
        &["relaunch", &session.id],
        &["launch", "command/idle", "x"],
    ] {
        world.orbh(args).run().fails(1, &["belongs to", "hint: sudo -u '"]);
    }
    std::fs::set_permissions(world.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (root, copy) = (world.path().join("roots-own"), world.path().join("bin"));
    crate::harness::private_dir(&root);
    std::fs::copy(crate::harness::bin_dir().join("orbh-list"), &copy).unwrap();
    let other = world.program("setpriv").bare_args(["--reuid=65534", "--clear-groups", copy.to_str().unwrap()]);
    let out = other.env("ORBH_ROOT", &root).run();
    out.fails(1, &["roots-own' belongs to another user (uid 0)", "hint: ORBH_ROOT"]);
}
