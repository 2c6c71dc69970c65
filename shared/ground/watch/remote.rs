//! Which file systems are changed behind the kernel's back.
//!
//! Promises to name those whose other hosts (or whose server process) change files without an event here. Never
//! guesses: what cannot be asked counts as local.

use nix::sys::statfs::statfs;
use std::path::Path;

/// `f_type` of file systems whose changes come from elsewhere: statfs(2) and linux/magic.h; the last four from
/// the headers of their own projects. An overlay is not among them: a write through it does give events.
const REMOTE: [u32; 14] = [
    0x0000_6969, // NFS
    0x0000_517b, // SMB
    0xfe53_4d42, // SMB2
    0xff53_4d42, // CIFS
    0x0102_1997, // 9p (V9FS), also WSL's /mnt
    0x6573_5546, // FUSE, virtiofs
    0x00c3_6400, // Ceph
    0x5346_414f, // AFS (OpenAFS, kAFS)
    0x6b41_4653, // AFS
    0x7375_7245, // Coda
    0x0bd0_0bd0, // Lustre
    0x4750_4653, // GPFS
    0x0116_1970, // GFS2
    0x786f_4256, // vboxsf
];

/// Whether files below `path` may change without an event on this machine.
pub fn is_remote(path: &Path) -> bool {
    // The width and sign of f_type differ between architectures; the numbers have 32 bits on all of them.
    statfs(path).is_ok_and(|stat| REMOTE.contains(&(stat.filesystem_type().0 as u32)))
}
