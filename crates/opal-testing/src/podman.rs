//! A container that runs, in a store of its own, and a `podman` that knows it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::needs;

/// What the shell in the image has: no `gzip`, among others.
const APPLETS: [&str; 14] = [
    "sh", "id", "ls", "head", "uname", "cat", "chmod", "mv", "rm", "mkdir", "sleep", "ps", "tr",
    "wc",
];

/// The container is removed when it is dropped.
#[derive(Debug)]
pub struct Podman {
    directory: TempDir,
}

/// What it is called.
pub const NAME: &str = "opal-test";

impl Podman {
    /// A container with BusyBox and what `program` is linked with, but not `program` itself; none where
    /// containers do not run.
    ///
    /// # Panics
    /// If the image cannot be made.
    #[must_use]
    pub fn start(program: &Path) -> Option<Self> {
        Self::prepared(|folder| image(folder, program))?.started(&[])
    }

    /// A container with all files and processes of this machine, for tests that need more than a shell;
    /// none where containers do not run.
    ///
    /// # Panics
    /// If the image cannot be made.
    #[must_use]
    pub fn whole() -> Option<Self> {
        let podman = Self::prepared(frame)?;
        let mut words = vec!["--privileged".to_owned(), "--pid=host".to_owned()];
        for entry in fs::read_dir("/").unwrap().map_while(Result::ok) {
            let (path, is_folder) = (entry.path(), entry.file_type().unwrap().is_dir());
            let path = path.to_str().unwrap();
            // The engine makes these itself.
            if is_folder && !["/proc", "/sys", "/dev"].contains(&path) {
                words.extend(["--volume".to_owned(), format!("{path}:{path}:rslave")]);
            }
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        podman.clean_up_after_this_process();
        podman.started(&words)
    }

    /// Statics are not dropped: somebody else removes what is left when this process has ended.
    fn clean_up_after_this_process(&self) {
        let text = "while kill -0 \"$1\" 2>/dev/null; do sleep 1; done; \"$2/bin/podman\" rm --all --force \
                    --time 0; rm -rf \"$2\"";
        let mut janitor = command(Path::new("sh"));
        janitor.args(["-c", text, "janitor", &std::process::id().to_string()]);
        std::os::unix::process::CommandExt::process_group(&mut janitor, 0);
        // Without it something is left, and nothing else is wrong.
        let _ = janitor.arg(self.directory.path()).spawn();
    }

    fn prepared(archive: impl FnOnce(&Path) -> PathBuf) -> Option<Self> {
        let has_programs = ["/usr/bin/podman", "/usr/sbin/runc", "/bin/busybox"]
            .iter()
            .all(|path| Path::new(path).exists());
        if !needs::root() || !needs::has("containers", has_programs) {
            return None;
        }
        let podman = Self { directory: tempfile::tempdir().unwrap() };
        podman.write_program();
        let archive = archive(podman.directory.path());
        assert!(podman.run(&["import", archive.to_str().unwrap(), NAME]));
        Some(podman)
    }

    fn started(self, more: &[&str]) -> Option<Self> {
        let started = self.create(NAME, more);
        needs::has("containers", started).then_some(self)
    }

    fn create(&self, image: &str, more: &[&str]) -> bool {
        // What a container may open is more than this process may allow, unless it is said.
        let limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"];
        let command = [image, "sh", "-c", "while :; do sleep 60; done"];
        let run = ["run", "-d", "--name", NAME, "--network", "host"];
        self.run(&[&run[..], &limits, more, &command].concat())
    }

    /// Removes the container, and makes it again out of an image.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn replace(&self, image: &str) {
        self.run(&["rm", "--force", "--time", "0", NAME]);
        assert!(self.create(image, &[]));
    }

    /// `$PATH` with the `podman` of this store first, and nothing else.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the programs of the system are found in it")]
    pub fn environment(&self) -> BTreeMap<OsString, OsString> {
        let others = std::env::var_os("PATH").unwrap_or_default();
        let own = std::iter::once(self.bin());
        let path = std::env::join_paths(own.chain(std::env::split_paths(&others))).unwrap();
        BTreeMap::from([("PATH".into(), path)])
    }

    /// The containers that there are, in any state.
    ///
    /// # Panics
    /// If `podman` cannot be started.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut list = command(&self.bin().join("podman"));
        let listed = list.args(["ps", "--all", "--format", "{{.Names}}"]).stdout(Stdio::piped());
        let listed = String::from_utf8_lossy(&listed.output().unwrap().stdout).into_owned();
        listed.lines().map(str::to_owned).collect()
    }

    /// Runs `podman` with these words.
    pub fn run(&self, words: &[&str]) -> bool {
        let status = command(&self.bin().join("podman")).args(words).status();
        status.is_ok_and(|status| status.success())
    }

    fn bin(&self) -> PathBuf {
        self.directory.path().join("bin")
    }

    fn write_program(&self) {
        let folder = self.directory.path().display();
        fs::create_dir_all(self.bin()).unwrap();
        let program = self.bin().join("podman");
        let text = format!(
            "#!/bin/sh\n[ \"$1\" != create ] || {{ shift; set -- create --ulimit nofile=1024:1024 \
             --ulimit nproc=1024:1024 \"$@\"; }}\nexec /usr/bin/podman --storage-driver=vfs --root {folder}/store --runroot \
             {folder}/run --cgroup-manager=cgroupfs --events-backend=file --runtime runc \"$@\"\n"
        );
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// An archive with the first level of this machine: empty directories, and its symlinks, such as `/bin`.
fn frame(directory: &Path) -> PathBuf {
    let root = directory.join("image");
    fs::create_dir(&root).unwrap();
    for entry in fs::read_dir("/").unwrap().map_while(Result::ok) {
        let to = root.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            fs::create_dir(to).unwrap();
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path()).unwrap(), to).unwrap();
        }
    }
    packed(directory, &root)
}

/// An archive with BusyBox and what `program` is linked with, in a directory.
pub(crate) fn image(directory: &Path, program: &Path) -> PathBuf {
    let root = directory.join("image");
    for folder in ["bin", "tmp", "etc", "root", "dev", "proc", "sys"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::set_permissions(root.join("tmp"), fs::Permissions::from_mode(0o1777)).unwrap();
    fs::write(root.join("etc/passwd"), "root:x:0:0::/root:/bin/sh\n").unwrap();
    fs::copy("/bin/busybox", root.join("bin/busybox")).unwrap();
    for applet in APPLETS {
        std::os::unix::fs::symlink("busybox", root.join("bin").join(applet)).unwrap();
    }
    for library in [Path::new("/bin/busybox"), program].into_iter().flat_map(libraries) {
        let to = root.join(library.strip_prefix("/").unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&library, to).unwrap();
    }
    packed(directory, &root)
}

fn packed(directory: &Path, root: &Path) -> PathBuf {
    let archive = directory.join("image.tar");
    let mut tar = command(Path::new("tar"));
    tar.arg("-C").arg(root).arg("-cf").arg(&archive).arg(".");
    assert!(tar.status().unwrap().success());
    archive
}

impl Drop for Podman {
    fn drop(&mut self) {
        self.run(&["rm", "--all", "--force", "--time", "0"]);
    }
}

fn libraries(program: &Path) -> Vec<PathBuf> {
    let output = command(Path::new("ldd")).arg(program).stdout(Stdio::piped()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words =
        text.split_whitespace().filter(|word| word.starts_with('/') && word.contains(".so"));
    words.map(PathBuf::from).collect()
}

#[expect(clippy::disallowed_methods, reason = "the programs are the system's")]
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
