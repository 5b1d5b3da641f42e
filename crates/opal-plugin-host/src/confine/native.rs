//! What a native program keeps: the files that it was granted, and system calls that reach nobody else.
//!
//! Landlock takes the other files away; seccomp must suffice for everything else, because older kernels know only
//! a part of Landlock. A program may use most system calls, so this is a list of what is refused.

mod rules;

use std::ffi::c_char;
use std::fs::File;
use std::os::fd::AsRawFd as _;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};
use opal_core::protocol::call::Native;
use opal_core::protocol::{Ending, MAX_MEMORY_MIB, Refusal};
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};

use crate::native::{NAME, arguments};

/// Files that a program may have open.
const MAX_FILES: u64 = 256;

/// What a program needs to be loaded, and what it reads to find hosts.
const SYSTEM: [&str; 5] = ["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache"];
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];
const NAMES: [&str; 5] =
    ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/ssl"];

/// A process that is about to become a program.
pub(crate) struct Launch {
    program: File,
    place: Place,
}

/// Where the arguments of the one allowed `execveat` are: addresses that nobody can guess, and that are gone with
/// this program. The filter allows these and no others.
struct Place {
    path: usize,
    argv: usize,
    envp: usize,
}

/// Gives up everything but what was granted.
pub(crate) fn confine(native: &Native, program: File) -> Result<Launch, Refusal> {
    let refused = |what: &str| Refusal::engine(Ending::Load, what);
    let limited = limit(native.memory_mib);
    limited.map_err(|_| refused("its limits cannot be set"))?;
    // It ends with the thread of opal that started it.
    let bound = set_parent_process_death_signal(Some(Signal::KILL));
    bound.map_err(|_| refused("it cannot be bound to opal"))?;
    let status = landlock(native).map_err(|_| refused("Landlock refuses its rules"))?;
    if status == RulesetStatus::NotEnforced && !native.unconfined {
        let refusal = refused("this kernel has no Landlock, which confines native code");
        return Err(refusal.with_help("the policy may say `[plugins] native = \"unconfined\"`"));
    }
    let place = place().ok_or_else(|| refused("no memory"))?;
    let filtered = rules::seccomp(native, program.as_raw_fd(), &place);
    filtered.map_err(|_| refused("seccomp refuses its rules"))?;
    Ok(Launch { program, place })
}

fn limit(memory_mib: u32) -> rustix::io::Result<()> {
    let limit = |most| Rlimit { current: Some(most), maximum: Some(most) };
    let bytes = u64::from(memory_mib.min(MAX_MEMORY_MIB)) << 20;
    setrlimit(Resource::Data, limit(bytes))?;
    setrlimit(Resource::Nofile, limit(MAX_FILES))?;
    setrlimit(Resource::Core, limit(0))
}

fn landlock(native: &Native) -> Result<RulesetStatus, RulesetError> {
    let abi = ABI::V6;
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .scope(Scope::from_all(abi))?;
    if !native.net {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
    }
    let mut created = ruleset.create()?;
    let read = AccessFs::from_read(abi);
    let mut all: Vec<(&str, BitFlags<AccessFs>)> = Vec::new();
    all.extend(SYSTEM.iter().map(|path| (*path, read)));
    all.extend(DEVICES.iter().map(|path| (*path, AccessFs::ReadFile | AccessFs::WriteFile)));
    if native.net {
        all.extend(NAMES.iter().map(|path| (*path, read)));
    }
    let plain = AccessFs::ReadFile | AccessFs::ReadDir;
    all.extend(native.reads.iter().map(|path| (path.as_str(), plain)));
    let written = AccessFs::from_all(abi) & !BitFlags::from(AccessFs::Execute);
    all.extend(native.writes.iter().map(|path| (path.as_str(), written)));
    for (path, access) in all {
        // What is not there is not granted.
        let Ok(opened) = PathFd::new(path) else { continue };
        let is_file = std::fs::metadata(path).is_ok_and(|it| !it.is_dir());
        let access = if is_file { access & AccessFs::from_file(abi) } else { access };
        created = created.add_rule(PathBeneath::new(opened, access))?;
    }
    Ok(created.restrict_self()?.ruleset)
}

/// Three pages at random addresses.
fn place() -> Option<Place> {
    let path = page(&[0])?;
    let argv: Vec<u8> =
        arguments().iter().flat_map(|it| (it.addr() as u64).to_ne_bytes()).collect();
    Some(Place { path, argv: page(&argv)?, envp: page(&[0; 16])? })
}

#[expect(unsafe_code, reason = "memory at a chosen address")]
fn page(content: &[u8]) -> Option<usize> {
    const BYTES: usize = 4096;
    for _ in 0..64 {
        let mut random = [0; 8];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty()).ok()?;
        // Below the end of user memory of every system with 47 bits, above the lowest 4 GiB.
        let random = usize::try_from(u64::from_ne_bytes(random)).ok()?;
        let at = ((random % (1 << 46)) | (1 << 32)) & !(BYTES - 1);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: the mapping is new, and replaces nothing.
        let found = unsafe {
            libc::mmap(std::ptr::with_exposed_provenance_mut(at), BYTES, protection, flags, -1, 0)
        };
        if found == libc::MAP_FAILED {
            continue;
        }
        if found.addr() != at {
            return None;
        }
        let offset = (random >> 48) % 128 * 16;
        // SAFETY: the content is shorter than what is left of the page.
        unsafe {
            let to: *mut u8 = found.cast::<u8>().add(offset);
            to.copy_from_nonoverlapping(content.as_ptr(), content.len());
        }
        return Some(at + offset);
    }
    None
}

impl Launch {
    /// Becomes the program. Returns only where that fails.
    #[expect(unsafe_code, reason = "the one system call that replaces this process")]
    pub(crate) fn exec(&self) {
        let _ = NAME;
        let pointer = |at: usize| std::ptr::with_exposed_provenance::<c_char>(at);
        // SAFETY: the three addresses hold an empty path, the arguments and no variables.
        unsafe {
            libc::syscall(
                libc::SYS_execveat,
                self.program.as_raw_fd(),
                pointer(self.place.path),
                pointer(self.place.argv),
                pointer(self.place.envp),
                libc::AT_EMPTY_PATH,
            );
        }
    }
}
