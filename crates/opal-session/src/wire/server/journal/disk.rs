//! File systems that a journal may be on: those of local disks. Those in memory lose it, and those of a
//! network may be written by another machine, or promise a lock that does not hold.

use std::os::fd::AsFd;

use crate::error::JournalError;

/// Fails where what is held open is on one of them.
pub(super) fn check(held: impl AsFd) -> Result<(), JournalError> {
    let found =
        rustix::fs::fstatfs(held).map_err(|error| super::system("examined")(error.into()))?;
    refused(&found).map_or(Ok(()), |name| Err(JournalError::FileSystem(name)))
}

#[cfg(target_os = "linux")]
fn refused(found: &rustix::fs::StatFs) -> Option<String> {
    // The type is a number of 32 bits, whatever the system returns it in.
    let kind = (found.f_type as u64 & 0xffff_ffff) as u32;
    refused_kind(kind)
}

/// Those of local disks, as `statfs(2)` and the kernel's `magic.h` have them. Any other one is refused:
/// nobody knows what it keeps, and who else writes to it.
#[cfg(target_os = "linux")]
const LOCAL: [u32; 14] = [
    0x0000_ef53, // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
    0x794c_7630, // overlayfs: the disk of a container
    0x2fc1_2fc1, // zfs
    0xf2f5_2010, // f2fs
    0xca45_1a4e, // bcachefs
    0x3153_464a, // jfs
    0x5265_4973, // reiserfs
    0x0000_3434, // nilfs2
    0x0000_f15f, // ecryptfs
    0x2405_1905, // ubifs
    0x0000_72b6, // jffs2
    0x0001_1954, // ufs
];

/// Names of those that are met most often; others have only their number.
#[cfg(target_os = "linux")]
const NAMES: [(u32, &str); 12] = [
    (0x0000_6969, "nfs"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x6573_5546, "fuse"),
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0x0102_1997, "9p"),
    (0x00c3_6400, "ceph"),
    (0x0bd0_0bd0, "lustre"),
    (0x0116_1970, "gfs2"),
    (0x7461_636f, "ocfs2"),
    (0x786f_4256, "vboxsf"),
];

#[cfg(target_os = "linux")]
fn refused_kind(kind: u32) -> Option<String> {
    if LOCAL.contains(&kind) {
        return None;
    }
    let name = NAMES.iter().find(|(known, _)| *known == kind).map(|(_, name)| (*name).to_owned());
    Some(name.unwrap_or_else(|| format!("0x{kind:x}")))
}

/// Elsewhere the system says itself whether a file system is local.
#[cfg(not(target_os = "linux"))]
fn refused(found: &rustix::fs::StatFs) -> Option<String> {
    const LOCAL: u32 = 0x1000;
    (found.f_flags as u32 & LOCAL == 0).then(|| "network".to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_file_systems_of_local_disks_are_accepted() {
        for (kind, name) in NAMES {
            assert_eq!(refused_kind(kind).as_deref(), Some(name));
        }
        // procfs, hugetlbfs, and one that does not exist.
        for kind in [0x9fa0, 0x9584_58f6, 0x1234_5678] {
            assert_eq!(refused_kind(kind), Some(format!("0x{kind:x}")));
        }
        // ext4, xfs, btrfs, overlayfs, zfs, f2fs.
        for kind in [0xef53, 0x5846_5342, 0x9123_683e, 0x794c_7630, 0x2fc1_2fc1, 0xf2f5_2010] {
            assert_eq!(refused_kind(kind), None, "{kind:x}");
        }
    }

    #[test]
    fn the_memory_of_this_machine_is_refused() {
        let memory = std::fs::File::open("/dev/shm").unwrap();
        assert!(matches!(check(&memory), Err(JournalError::FileSystem(name)) if name == "tmpfs"));
    }
}
