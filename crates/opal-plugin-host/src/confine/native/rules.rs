//! The system calls that a native program is refused.

use std::collections::BTreeMap;

use opal_core::protocol::call::Native;
use seccompiler::{
    Error, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition,
    SeccompRule, apply_filter, sock_filter,
};

use super::Place;
use crate::confine::linux::filter;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused whatever was granted: other processes, the kernel, the system, and what changes a file without opening
/// it for writing.
const NEVER: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_execve,
    libc::SYS_fanotify_init,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_finit_module,
    libc::SYS_fremovexattr,
    libc::SYS_fsconfig,
    libc::SYS_fsetxattr,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_mknodat,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_removexattr,
    libc::SYS_request_key,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_setpgid,
    libc::SYS_setpriority,
    libc::SYS_setrlimit,
    libc::SYS_setsid,
    libc::SYS_settimeofday,
    libc::SYS_setxattr,
    libc::SYS_socketpair,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_tkill,
    libc::SYS_truncate,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_utimensat,
    libc::SYS_vhangup,
];

/// Those that only older processors have.
#[cfg(target_arch = "x86_64")]
const OLDER: &[libc::c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_mknod,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_uselib,
    libc::SYS_ustat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[libc::c_long] = &[];

/// `fchmodat2`, which is newer than the C library.
const FCHMODAT2: libc::c_long = 452;

/// The first call that these lists do not know. Programs take a call that is not there for an older kernel, and try
/// the older calls.
const UNKNOWN: u32 = 453;

/// Namespaces that `clone` could make.
const NAMESPACES: [i32; 8] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    0x80, // CLONE_NEWTIME
];

/// Descriptors 0 to 2 have nothing, 3 is the socket.
pub(super) fn seccomp(native: &Native, program: i32, place: &Place) -> Result<(), Error> {
    let refused = |errno: i32| SeccompAction::Errno(errno.cast_unsigned());
    apply_filter(&only_known())?;
    // Their flags are in memory, which a filter cannot read: programs try the older calls then.
    let unreadable: Rules =
        [libc::SYS_clone3, libc::SYS_openat2].map(|number| (number, Vec::new())).into();
    filter(unreadable, SeccompAction::Allow, refused(libc::ENOSYS))?;
    filter(rules(native, program, place)?, SeccompAction::Allow, refused(libc::EPERM))
}

/// Refuses every call from [`UNKNOWN`] on: those of newer kernels, and those of the x32 ABI, which are the known ones
/// under numbers with a high bit. The other filters compare single numbers.
fn only_known() -> [sock_filter; 4] {
    let statement = |code: u32, jt, jf, k| {
        let code = u16::try_from(code).unwrap_or_default();
        sock_filter { code, jt, jf, k }
    };
    let errno = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    [
        // The number is the first field of what a filter sees.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, UNKNOWN),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, errno),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

fn rules(native: &Native, program: i32, place: &Place) -> Result<Rules, Error> {
    let mut rules: Rules = NEVER.iter().chain(OLDER).map(|it| (*it, Vec::new())).collect();
    rules.insert(FCHMODAT2, Vec::new());
    let own = rustix::process::getpid().as_raw_nonzero().get();
    // Signals reach its own group; its own group has its number.
    let others = vec![is_not(0, own)?, is_not(0, 0)?, is_not(0, -own)?];
    rules.insert(libc::SYS_kill, vec![SeccompRule::new(others)?]);
    rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![is_not(0, own)?])?]);
    rules.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![is(0, libc::PR_SET_PDEATHSIG)?])?]);
    let sets = SeccompCondition::new(2, Length::Qword, Op::Ne, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![sets])?]);
    // A file that is opened to be read only is not emptied either.
    let empties = |argument| has(argument, libc::O_ACCMODE | libc::O_TRUNC, libc::O_TRUNC);
    rules.insert(libc::SYS_openat, vec![SeccompRule::new(vec![empties(2)?])?]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, vec![SeccompRule::new(vec![empties(1)?])?]);
    if native.net {
        let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
        let others = families.into_iter().map(|family| is_not(0, family));
        let others = SeccompRule::new(others.collect::<Result<_, _>>()?)?;
        rules.insert(libc::SYS_socket, vec![others]);
    } else {
        rules.insert(libc::SYS_socket, Vec::new());
    }
    if native.run {
        rules.remove(&libc::SYS_execve);
        let spaces =
            NAMESPACES.map(|flag| SeccompRule::new(vec![has(0, flag, flag)?]).map_err(Error::from));
        rules.insert(libc::SYS_clone, spaces.into_iter().collect::<Result<_, _>>()?);
        return Ok(rules);
    }
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![has(0, libc::CLONE_THREAD, 0)?])?]);
    #[cfg(target_arch = "x86_64")]
    rules.extend([libc::SYS_fork, libc::SYS_vfork].map(|number| (number, Vec::new())));
    // The one that makes this process the program; its addresses are gone afterwards.
    let pointers = [(1, place.path), (2, place.argv), (3, place.envp)];
    let mut all = vec![SeccompRule::new(vec![is_not(0, program)?])?];
    for (argument, at) in pointers {
        let other = SeccompCondition::new(argument, Length::Qword, Op::Ne, at as u64)?;
        all.push(SeccompRule::new(vec![other])?);
    }
    rules.insert(libc::SYS_execveat, all);
    Ok(rules)
}

fn condition(argument: u8, op: Op, value: i32) -> Result<SeccompCondition, Error> {
    let value = u64::from(value.cast_unsigned());
    Ok(SeccompCondition::new(argument, Length::Dword, op, value)?)
}

fn is(argument: u8, value: i32) -> Result<SeccompCondition, Error> {
    condition(argument, Op::Eq, value)
}

fn is_not(argument: u8, value: i32) -> Result<SeccompCondition, Error> {
    condition(argument, Op::Ne, value)
}

fn has(argument: u8, mask: i32, value: i32) -> Result<SeccompCondition, Error> {
    condition(argument, Op::MaskedEq(u64::from(mask.cast_unsigned())), value)
}
