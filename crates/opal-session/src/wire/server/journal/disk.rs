//! File systems that a journal must not be on: those in memory lose it, and those of a network may have
//! been written by another machine, or promise a lock that does not hold.

use std::os::fd::AsFd;

use crate::error::JournalError;

/// Fails where what is held open is on one of them.
pub(super) fn check(held: impl AsFd) -> Result<(), JournalError> {
    let found =
        rustix::fs::fstatfs(held).map_err(|error| super::system("examined")(error.into()))?;
    refused(&found).map_or(Ok(()), |name| Err(JournalError::FileSystem(name)))
}

#[cfg(target_os = "linux")]
fn refused(found: &rustix::fs::StatFs) -> Option<&'static str> {
    // The type is a number of 32 bits, whatever the system returns it in.
    let kind = (found.f_type as u64 & 0xffff_ffff) as u32;
    kind_of(kind)
}

/// As `statfs(2)` and the kernel's `magic.h` have them.
#[cfg(target_os = "linux")]
fn kind_of(kind: u32) -> Option<&'static str> {
    const REFUSED: [(u32, &str); 27] = [
        (0x0000_6969, "nfs"),
        (0xff53_4d42, "cifs"),
        (0xfe53_4d42, "smb2"),
        (0x0000_517b, "smb"),
        (0x0000_564c, "ncp"),
        (0x6573_5546, "fuse"),
        (0x0102_1994, "tmpfs"),
        (0x8584_58f6, "ramfs"),
        (0x9584_58f6, "hugetlbfs"),
        (0x2805_8fef, "zram"),
        (0x0102_1997, "9p"),
        (0x00c3_6400, "ceph"),
        (0x5346_414f, "afs"),
        (0x6b41_4653, "afs"),
        (0x7375_7245, "coda"),
        (0x0bd0_0bd0, "lustre"),
        (0x4750_4653, "gpfs"),
        (0x1983_0326, "beegfs"),
        (0xaad7_aaea, "panfs"),
        (0x2003_0528, "orangefs"),
        (0x0116_1970, "gfs2"),
        (0x7461_636f, "ocfs2"),
        (0x786f_4256, "vboxsf"),
        (0x7c7c_6673, "prl_fs"),
        (0xbacb_acbc, "vmhgfs"),
        (0x00c0_ffee, "hostfs"),
        (0x0000_9fa0, "proc"),
    ];
    REFUSED.iter().find(|(known, _)| *known == kind).map(|(_, name)| *name)
}

/// Elsewhere the system says itself whether a file system is local.
#[cfg(not(target_os = "linux"))]
fn refused(found: &rustix::fs::StatFs) -> Option<&'static str> {
    const LOCAL: u32 = 0x1000;
    (found.f_flags as u32 & LOCAL == 0).then_some("network")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_networks_and_in_memory_are_refused_and_those_of_disks_are_not() {
        for (kind, name) in [
            (0x6969, "nfs"),
            (0xff53_4d42, "cifs"),
            (0xfe53_4d42, "smb2"),
            (0x6573_5546, "fuse"),
            (0x0102_1994, "tmpfs"),
            (0x8584_58f6, "ramfs"),
            (0x0102_1997, "9p"),
        ] {
            assert_eq!(kind_of(kind), Some(name));
        }
        // ext4, xfs, btrfs, overlayfs, zfs, f2fs.
        for kind in [0xef53, 0x5846_5342, 0x9123_683e, 0x794c_7630, 0x2fc1_2fc1, 0xf2f5_2010] {
            assert_eq!(kind_of(kind), None, "{kind:x}");
        }
    }

    #[test]
    fn the_memory_of_this_machine_is_refused() {
        let memory = std::fs::File::open("/dev/shm").unwrap();
        assert!(matches!(check(&memory), Err(JournalError::FileSystem("tmpfs"))));
    }
}
