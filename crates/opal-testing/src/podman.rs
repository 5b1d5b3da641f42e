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
        let has_programs = ["/usr/bin/podman", "/usr/sbin/runc", "/bin/busybox"]
            .iter()
            .all(|path| Path::new(path).exists());
        if !needs::root() || !needs::has("containers", has_programs) {
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let podman = Self { directory };
        podman.write_program();
        podman.make_image(program);
        let started = podman.create(NAME);
        needs::has("containers", started).then_some(podman)
    }

    fn create(&self, image: &str) -> bool {
        // What a container may open is more than this process may allow, unless it is said.
        let limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"];
        let command = [image, "sh", "-c", "while :; do sleep 60; done"];
        let run = ["run", "-d", "--name", NAME, "--network", "host"];
        self.run(&[&run[..], &limits, &command].concat())
    }

    /// Removes the container, and makes it again out of an image.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn replace(&self, image: &str) {
        self.run(&["rm", "--force", "--time", "0", NAME]);
        assert!(self.create(image));
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
            "#!/bin/sh\nexec /usr/bin/podman --storage-driver=vfs --root {folder}/store --runroot \
             {folder}/run --cgroup-manager=cgroupfs --events-backend=file --runtime runc \"$@\"\n"
        );
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn make_image(&self, program: &Path) {
        let root = self.directory.path().join("image");
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
        let archive = self.directory.path().join("image.tar");
        let mut tar = command(Path::new("tar"));
        tar.arg("-C").arg(&root).arg("-cf").arg(&archive).arg(".");
        assert!(tar.status().unwrap().success());
        assert!(self.run(&["import", archive.to_str().unwrap(), NAME]));
    }
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
