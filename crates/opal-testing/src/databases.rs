//! Real servers of PostgreSQL and MariaDB, each with a directory and a socket of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::{needs, processes};

/// The user of a server: its password has everything that could end a literal or a line of options.
pub const USER: &str = "app";
pub const PASSWORD: &str = "p\"w'#\\x; $y %z";

/// A server. It is stopped when it is dropped.
#[derive(Debug)]
pub struct Database {
    directory: TempDir,
    server: Child,
}

#[expect(clippy::disallowed_methods, reason = "servers are programs")]
impl Database {
    /// A server of PostgreSQL with the user [`USER`]; none where it is not installed.
    ///
    /// # Panics
    /// If the server does not start.
    #[must_use]
    pub fn postgres() -> Option<Self> {
        let programs = postgres_programs();
        if !needs::has("PostgreSQL", programs.is_some()) {
            return None;
        }
        let programs = programs.unwrap();
        let directory = open_directory();
        let (data, password) = (directory.path().join("data"), directory.path().join("password"));
        fs::create_dir(&data).unwrap();
        fs::write(&password, PASSWORD).unwrap();
        // It refuses to run as root.
        let is_root = rustix::process::geteuid().is_root();
        if is_root {
            run(Command::new("chown").arg("postgres").args([&data, &password]));
        }
        let as_owner = |name: &str| {
            let program = programs.join(name);
            if !is_root {
                return Command::new(program);
            }
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
            command
        };
        let mut init = as_owner("initdb");
        init.args(["-A", "scram-sha-256", "-U", USER, "-E", "UTF8", "--no-sync", "-D"]).arg(&data);
        run(init.arg(format!("--pwfile={}", password.display())));
        let mut server = as_owner("postgres");
        server.arg("-D").arg(&data).arg("-k").arg(&data);
        server.args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "port=5432"]);
        let server = started(&mut server);
        let database = Self { directory, server };
        let mut ready = Command::new(programs.join("pg_isready"));
        ready.arg("-q").arg("-h").arg(&data);
        database.wait_for(&mut ready);
        Some(database)
    }

    /// A server of MariaDB with the user [`USER`] and a database of the same name; none where it is not
    /// installed.
    ///
    /// # Panics
    /// If the server does not start.
    #[must_use]
    pub fn mariadb() -> Option<Self> {
        let program = Path::new("/usr/sbin/mariadbd");
        if !needs::has("MariaDB", program.exists()) {
            return None;
        }
        let directory = open_directory();
        let data = directory.path().join("data");
        let mut install = Command::new("mariadb-install-db");
        install.args([
            "--no-defaults",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ]);
        run(install.arg(format!("--datadir={}", data.display())));
        let socket = directory.path().join("socket");
        let mut server = Command::new(program);
        server.args([
            "--no-defaults",
            "--skip-networking",
            "--user=root",
            "--innodb-flush-method=nosync",
        ]);
        server.arg(format!("--datadir={}", data.display()));
        server.arg(format!("--socket={}", socket.display()));
        server.arg(format!("--pid-file={}", directory.path().join("pid").display()));
        let database = Self { directory, server: started(&mut server) };
        let admin = |statement: &str| {
            let mut admin = Command::new("mariadb");
            admin.args(["--no-defaults", "--user=root"]);
            admin.arg(format!("--socket={}", socket.display()));
            admin.args(["--execute", statement]);
            admin
        };
        database.wait_for(&mut admin("SELECT 1"));
        let password = PASSWORD.replace('\\', "\\\\").replace('\'', "\\'");
        run(&mut admin(&format!(
            "CREATE USER {USER} IDENTIFIED BY '{password}'; CREATE DATABASE {USER} CHARACTER SET utf8mb4; \
             GRANT ALL ON {USER}.* TO {USER}"
        )));
        Some(database)
    }

    /// `USER@SOCKET`.
    #[must_use]
    pub fn connection(&self) -> String {
        format!("{USER}@{}", self.socket().display())
    }

    /// Of PostgreSQL the directory that it is in.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        let own = self.directory.path().join("socket");
        if own.exists() { own } else { self.directory.path().join("data") }
    }

    fn wait_for(&self, ready: &mut Command) {
        let mut answers = || {
            let ran = ready.stdout(Stdio::null()).stderr(Stdio::null()).status();
            ran.is_ok_and(|status| status.success())
        };
        processes::eventually("the database answers", &mut answers);
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Not to be kept: it need not end in order.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A directory that the user of a server may enter.
fn open_directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

/// Debian has a directory of programs for each version.
fn postgres_programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let programs = versions.flatten().map(|version| version.path().join("bin"));
    programs.filter(|folder| folder.join("initdb").exists()).max()
}

fn started(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn run(command: &mut Command) {
    let ran = command.stdin(Stdio::null()).output().unwrap();
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
}
