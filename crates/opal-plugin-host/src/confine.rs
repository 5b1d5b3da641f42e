//! What this process gives up before it reads anything: files, programs, sockets, and everything else
//! that computing does not need.
//!
//! Two layers that do not depend on each other. Landlock takes away every file and port where the
//! kernel has it. seccomp allows a list of system calls and refuses the others; it must suffice alone.

#[cfg(target_os = "linux")]
pub(crate) mod native;

/// The memory and the time of a compiler: a component is at most 64 MiB.
const COMPILER_BYTES: u64 = 8 << 30;
const COMPILER_SECS: u64 = 300;

/// This process cannot be confined, so it must not run anything.
#[derive(Debug)]
pub(crate) struct Unconfined;

#[cfg(target_os = "linux")]
pub(crate) fn confine(is_compiler: bool) -> Result<(), Unconfined> {
    if is_compiler {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let limit = |most| Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(Resource::As, limit(COMPILER_BYTES)).map_err(|_| Unconfined)?;
        setrlimit(Resource::Cpu, limit(COMPILER_SECS)).map_err(|_| Unconfined)?;
    }
    let _ = linux::landlock();
    linux::seccomp().map_err(|_| Unconfined)
}

/// Nothing here can confine a process.
#[cfg(not(target_os = "linux"))]
pub(crate) fn confine(_: bool) -> Result<(), Unconfined> {
    Err(Unconfined)
}

#[cfg(target_os = "linux")]
#[cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests start programs")
)]
mod linux {
    use std::collections::BTreeMap;

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset,
        RulesetAttr as _, RulesetError, RulesetStatus, Scope,
    };
    use seccompiler::{
        BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
        SeccompFilter, SeccompRule, apply_filter,
    };

    /// No file, no port, no signal to others: as much of it as the kernel knows.
    pub(super) fn landlock() -> Result<RulesetStatus, RulesetError> {
        let status = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI::V6))?
            .handle_access(AccessNet::from_all(ABI::V6))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .restrict_self()?;
        Ok(status.ruleset)
    }

    /// What computing in threads and talking on an open socket need.
    const ALLOWED: &[libc::c_long] = &[
        libc::SYS_brk,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_clone3,
        libc::SYS_close,
        libc::SYS_dup,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_fcntl,
        libc::SYS_fstat,
        libc::SYS_ftruncate,
        libc::SYS_futex,
        libc::SYS_getpid,
        libc::SYS_getrandom,
        libc::SYS_gettid,
        libc::SYS_lseek,
        libc::SYS_madvise,
        libc::SYS_membarrier,
        libc::SYS_memfd_create,
        libc::SYS_mmap,
        libc::SYS_mprotect,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_nanosleep,
        libc::SYS_pread64,
        libc::SYS_pwrite64,
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_recvfrom,
        libc::SYS_recvmsg,
        libc::SYS_restart_syscall,
        libc::SYS_rseq,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_yield,
        libc::SYS_sendto,
        libc::SYS_set_robust_list,
        libc::SYS_sigaltstack,
        libc::SYS_statx,
        libc::SYS_write,
        libc::SYS_writev,
    ];

    pub(super) fn seccomp() -> Result<(), Error> {
        let refused = |errno: i32| SeccompAction::Errno(errno.cast_unsigned());
        // glibc tries `clone3`, whose flags a filter cannot read, and then `clone`.
        let no_clone3: BTreeMap<i64, Vec<SeccompRule>> =
            BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
        filter(no_clone3, SeccompAction::Allow, refused(libc::ENOSYS))?;
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            ALLOWED.iter().map(|number| (*number, Vec::new())).collect();
        rules.insert(libc::SYS_clone, vec![only_with(0, libc::CLONE_THREAD)?]);
        rules.insert(libc::SYS_prctl, vec![only(0, libc::PR_SET_NAME)?, only(0, PR_SET_VMA)?]);
        // A signal to a thread of this process: how it aborts.
        rules.insert(libc::SYS_tgkill, vec![only(0, own_pid())?]);
        filter(rules, refused(libc::EPERM), SeccompAction::Allow)
    }

    /// How the C library names its memory.
    const PR_SET_VMA: i32 = 0x5356_4d41;

    fn own_pid() -> i32 {
        rustix::process::getpid().as_raw_nonzero().get()
    }

    fn only(argument: u8, value: i32) -> Result<SeccompRule, Error> {
        condition(argument, SeccompCmpOp::Eq, value)
    }

    fn only_with(argument: u8, flag: i32) -> Result<SeccompRule, Error> {
        let flag_bits = u64::from(flag.cast_unsigned());
        condition(argument, SeccompCmpOp::MaskedEq(flag_bits), flag)
    }

    fn condition(argument: u8, op: SeccompCmpOp, value: i32) -> Result<SeccompRule, Error> {
        let value = u64::from(value.cast_unsigned());
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value)?;
        Ok(SeccompRule::new(vec![condition])?)
    }

    pub(super) fn filter(
        rules: BTreeMap<i64, Vec<SeccompRule>>,
        otherwise: SeccompAction,
        matched: SeccompAction,
    ) -> Result<(), Error> {
        let arch = std::env::consts::ARCH.try_into()?;
        let filter = SeccompFilter::new(rules, otherwise, matched, arch)?;
        let program: BpfProgram = filter.try_into()?;
        apply_filter(&program)
    }

    #[cfg(test)]
    mod tests {
        use std::fs::File;
        use std::net::TcpListener;
        use std::os::unix::net::UnixStream;
        use std::process::Command;

        /// What a thread can still do after it was confined; the other threads are as before.
        fn left(confine: fn()) -> Vec<&'static str> {
            let tried = std::thread::spawn(move || {
                confine();
                [
                    ("open a file", File::open("/etc/passwd").is_ok()),
                    ("make a file", File::create("/tmp/opal-plugin-host-test").is_ok()),
                    ("listen", TcpListener::bind("127.0.0.1:0").is_ok()),
                    ("make sockets", UnixStream::pair().is_ok()),
                    ("start a program", Command::new("/bin/true").status().is_ok()),
                    ("read a directory", std::fs::read_dir("/").is_ok()),
                    (
                        "send a signal",
                        rustix::process::test_kill_process(rustix::process::Pid::INIT).is_ok(),
                    ),
                ]
            });
            let tried = tried.join().unwrap().into_iter();
            tried.filter_map(|(name, worked)| worked.then_some(name)).collect()
        }

        #[test]
        fn seccomp_alone_leaves_no_file_no_socket_and_no_program() {
            assert_eq!(left(|| super::seccomp().unwrap()), [""; 0]);
        }

        #[test]
        fn threads_memory_and_open_descriptors_still_work() {
            let (mut own, mut other) = UnixStream::pair().unwrap();
            let sum = std::thread::spawn(move || {
                super::seccomp().unwrap();
                std::io::Write::write_all(&mut own, b"12").unwrap();
                let inner = std::thread::spawn(|| {
                    vec![1_u8; 8 << 20].iter().map(|it| u64::from(*it)).sum()
                });
                inner.join().unwrap()
            });
            let mut bytes = [0; 2];
            std::io::Read::read_exact(&mut other, &mut bytes).unwrap();
            assert_eq!((&bytes, sum.join().unwrap()), (b"12", 8_u64 << 20));
        }

        #[test]
        fn landlock_takes_away_files_where_the_kernel_has_it() {
            let found = left(|| {
                super::landlock().unwrap();
            });
            let has_landlock = std::fs::read_to_string("/sys/kernel/security/lsm")
                .is_ok_and(|all| all.contains("landlock"));
            assert!(!has_landlock || !found.contains(&"open a file"), "{found:?}");
        }
    }
}
