//! Directories that are missing, go, come back, are replaced, or are reached by several paths.

use super::{ALL, PATIENCE, REPORTING, assert_quiet, assert_woken, finds, settle, watch_of, watched};
use shared::ground::watch::Backend;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::time::Duration;

#[test]
fn a_directory_that_is_removed_and_made_again_is_watched_on() {
    for backend in REPORTING {
        let (_place, dir, mut watch) = watched(backend);
        // Somebody has it open: then the kernel does not report the removal of the directory to its own watch.
        let held = File::open(&dir).unwrap();
        fs::remove_dir(&dir).unwrap();
        assert_woken(&mut watch);
        settle(&mut watch);
        fs::create_dir(&dir).unwrap();
        assert_woken(&mut watch);
        settle(&mut watch);
        fs::write(dir.join("message"), "x").unwrap();
        assert_woken(&mut watch);
        drop(held);
    }
}

#[test]
fn a_directory_that_is_made_again_over_and_over_is_never_lost() {
    for backend in REPORTING {
        let (_place, dir, mut watch) = watched(backend);
        for round in 0..200 {
            // The news of each removal is still under way to the watcher while the next directory is armed.
            for _ in 0..3 {
                fs::remove_dir_all(&dir).unwrap();
                fs::create_dir(&dir).unwrap();
                watch.drain();
            }
            while watch.wait(&[], Some(Duration::from_millis(2))).unwrap().changed {
                watch.drain();
            }
            fs::write(dir.join("message"), "x").unwrap();
            let woken = watch.wait(&[], Some(PATIENCE)).unwrap();
            assert!(woken.changed, "{backend}: deaf in round {round}");
        }
    }
}

#[test]
fn a_directory_that_is_replaced_by_a_rename_is_watched_on() {
    for backend in REPORTING {
        let (place, dir, mut watch) = watched(backend);
        let other = place.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::rename(&other, &dir).unwrap();
        assert_woken(&mut watch);
        settle(&mut watch);
        fs::write(dir.join("message"), "x").unwrap();
        assert_woken(&mut watch);

        settle(&mut watch);
        fs::create_dir(&other).unwrap();
        fs::rename(&dir, place.path().join("away")).unwrap();
        fs::rename(&other, &dir).unwrap();
        assert_woken(&mut watch);
        settle(&mut watch);
        fs::write(place.path().join("away/message"), "y").unwrap();
        assert_quiet(&mut watch);
        fs::write(dir.join("message"), "x").unwrap();
        assert_woken(&mut watch);
    }
}

#[test]
fn a_directory_that_is_moved_away_and_back_is_watched_on() {
    for backend in REPORTING {
        let (place, dir, mut watch) = watched(backend);
        // It is the same directory afterwards, but notify has dropped its watch on the way.
        fs::rename(&dir, place.path().join("away")).unwrap();
        fs::rename(place.path().join("away"), &dir).unwrap();
        settle(&mut watch);
        fs::write(dir.join("message"), "x").unwrap();
        assert_woken(&mut watch);
    }
}

#[test]
fn a_symlink_that_is_turned_to_another_directory_is_followed() {
    for backend in REPORTING {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for name in ["one", "two"] {
            fs::create_dir(at(name)).unwrap();
        }
        symlink("one", at("link")).unwrap();
        let mut watch = watch_of(backend, &at("link"));
        symlink("two", at("next")).unwrap();
        fs::rename(at("next"), at("link")).unwrap();
        assert_woken(&mut watch);
        settle(&mut watch);
        fs::write(at("two/message"), "x").unwrap();
        assert_woken(&mut watch);
    }
}

#[test]
fn one_directory_by_two_paths_is_watched_until_both_are_removed() {
    for backend in REPORTING {
        let (place, dir, mut watch) = watched(backend);
        let link = place.path().join("link");
        symlink(&dir, &link).unwrap();
        watch.add(&link).unwrap();
        watch.add(&link).unwrap();
        watch.remove(&dir);
        settle(&mut watch);
        fs::write(dir.join("message"), "x").unwrap();
        assert_woken(&mut watch);
        watch.remove(&link);
        settle(&mut watch);
        fs::write(dir.join("second"), "x").unwrap();
        assert_quiet(&mut watch);
    }
}

#[test]
fn a_missing_directory_is_noticed_when_it_appears_and_watched_from_then_on() {
    for backend in ALL {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().join("a/b/c");
        let mut watch = watch_of(backend, &dir);
        fs::create_dir_all(&dir).unwrap();
        assert!(finds(&mut watch, &dir), "{backend}");
        if backend != Backend::Poll {
            assert_eq!(watch.interval(), None, "{backend}");
            settle(&mut watch);
        }
        fs::write(dir.join("message"), "x").unwrap();
        assert_woken(&mut watch);

        fs::remove_dir_all(place.path().join("a")).unwrap();
        assert_woken(&mut watch);
        watch.drain();
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("message"), "x").unwrap();
        assert!(finds(&mut watch, &dir.join("message")), "{backend}");
    }
}

#[test]
fn neighbours_of_a_watched_directory_do_not_wake() {
    for backend in REPORTING {
        let (place, _dir, mut watch) = watched(backend);
        fs::create_dir(place.path().join("other")).unwrap();
        fs::write(place.path().join("file"), "x").unwrap();
        fs::rename(place.path().join("file"), place.path().join("other/file")).unwrap();
        assert_quiet(&mut watch);
    }
}
