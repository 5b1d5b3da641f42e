//! Every screen of the design: three machines, of which one misses a package and one goes away.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use opal_testing::account::SudoRule;
use opal_testing::needs;
use opal_testing::podman::{NAME, Podman};
use opal_testing::sshd::Sshd;

use crate::fleets::table;
use crate::support::{Opal, Ran, binary};

const SOURCE: &str = r#"fun rollout(version: String) {
    @ssh.hosts(inventory="hosts.ini", select="web", batch=2) {
        @as("root") {
            @file.template("app.conf.j2", "/srv/app.conf", vars={port: 8080})
            apt-get install -y app=@var.version
        }
        @retry(attempts=5) { curl -fsS http://localhost:PORT/health }
    }
}
"#;

/// Three machines with users of their own, and a project that rolls out to them.
struct Site {
    machines: Vec<Sshd>,
    _rules: Vec<SudoRule>,
    opal: Opal,
}

impl Site {
    fn new() -> Option<Self> {
        let helper = binary().with_file_name("opal-target");
        let has_all = helper.exists() && Path::new("/usr/bin/sudo").exists();
        if !needs::has("sudo, and the target helper (`cargo build -p opal-target`)", has_all) {
            return None;
        }
        let machines: Option<Vec<Sshd>> = (1..=3).map(machine).collect();
        let mut machines = machines?;
        let rule = "Defaults:USER secure_path=/srv/bin:/usr/bin:/bin\nUSER ALL=(ALL) NOPASSWD: ALL";
        let rules = machines.iter().map(|it| it.account().may(rule)).collect();
        let (first, others) = machines.split_first_mut().unwrap();
        first.name_hosts(&["web1"]);
        for (name, other) in ["web2", "web3"].into_iter().zip(others) {
            first.name_other(name, other);
        }
        let source = SOURCE.replace("PORT", &healthy().to_string());
        let opal = Opal::project(&source)
            .file("app.conf.j2", "port = {{ port }}\n")
            .file("hosts.ini", "[web]\nweb[1:3]\n")
            .env("PATH", machines[0].path().to_str().unwrap());
        Some(Self { machines, _rules: rules, opal })
    }

    fn call(&self, words: &[&str]) -> Ran {
        self.opal.call(&[&["--root", "root"], words].concat())
    }

    /// What was installed on each machine.
    fn installed(&self) -> [String; 3] {
        [0, 1, 2].map(|number| {
            let log = self.machines[number].directory().join("srv/installed");
            fs::read_to_string(log).unwrap_or_default()
        })
    }

    fn write(&self, number: usize, name: &str, text: &str) {
        fs::write(self.machines[number].directory().join("srv").join(name), text).unwrap();
    }
}

/// A machine whose `apt-get` knows all versions but 1.4.0 where `/srv/old` is.
fn machine(number: u32) -> Option<Sshd> {
    let sshd = Sshd::start_as_machine(&number.to_string().repeat(32))?;
    let bin = sshd.directory().join("srv/bin");
    fs::create_dir(&bin).unwrap();
    let apt = "#!/bin/sh\n[ ! -e /srv/old ] || { echo \"E: Version '${3#*=}' for 'app' was not found\" >&2; exit 100; }\n\
               echo \"$*\" >> /srv/installed\n";
    fs::write(bin.join("apt-get"), apt).unwrap();
    fs::set_permissions(bin.join("apt-get"), fs::Permissions::from_mode(0o755)).unwrap();
    Some(sshd)
}

/// The port of an application that is well, as long as this process.
fn healthy() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n");
        }
    });
    port
}

/// The lines of a screen, each without the time at its end.
fn screen(text: &str) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(words).collect()
}

#[test]
fn every_screen_of_the_design_is_shown_by_a_real_run() {
    let Some(mut site) = Site::new() else { return };
    let port = site.opal.read("commands.opl");
    let port = port.split("localhost:").nth(1).unwrap().split('/').next().unwrap().to_owned();

    // The plan.
    let plan = site.call(&["rollout", "1.4.0", "--dry-run"]);
    let tree = plan.code(0).stdout.split("\n\n").next().unwrap();
    assert_eq!(
        tree,
        format!(
            "rollout:\n\
             └─ @ssh.hosts(batch=2, inventory=\"hosts.ini\", select=\"web\") → web1 web2 web3\n   \
             ├─ @as(user=\"root\")\n   \
             │  ├─ @file.template(destination=\"/srv/app.conf\", source=\"app.conf.j2\", vars={{\"port\": 8080}})\n   \
             │  └─ apt-get install -y app=1.4.0\n   \
             └─ @retry(attempts=5)\n      \
             └─ curl -fsS http://localhost:{port}/health"
        )
    );
    assert_eq!(site.installed(), ["", "", ""]);

    // A contract of all three, for later.
    site.call(&["plan", "rollout", "1.4.0", "-o", "prod.plan"]).code(0);

    // A run in which a host fails.
    site.write(1, "old", "");
    let ran = site.call(&["rollout", "1.4.0", "--output", "prefixed"]);
    ran.code(100).says("web1 │ ▸ apt-get install -y app=1.4.0\n");
    ran.says("web2 │ E: Version '1.4.0' for 'app' was not found\n");
    let rows = table(&ran.stderr);
    assert_eq!(rows[0][..2], ["web1", "ok"]);
    let failed = ["web2", "failed", "apt-get", "install", "-y", "app=1.4.0", "100"];
    assert_eq!(rows[1][..7], failed);
    assert_eq!(rows[2], ["web3", "skipped"]);
    ran.says("\nerror: 1 of 3 targets failed (tolerate=0)\n");
    ran.says("  help: `opal --root root rollout 1.4.0 --resume` continues web2 and starts web3\n");
    let once = "install -y app=1.4.0\n";
    assert_eq!(site.installed(), [once, "", ""]);

    // It goes on where it was.
    fs::remove_file(site.machines[1].directory().join("srv/old")).unwrap();
    let ran = site.call(&["rollout", "1.4.0", "--resume"]);
    assert!(table(&ran.code(0).stderr).iter().all(|row| row[1] == "ok"), "{}", ran.stderr);
    assert_eq!(site.installed(), [once, once, once]);

    // Drift, and a host that does not answer.
    site.call(&["verify", "rollout", "1.4.0"]).code(0);
    site.write(1, "app.conf", "port = 1\n");
    site.machines[0].configure("Host web3\n  Port 1\n");
    let verified = site.call(&["verify", "rollout", "1.4.0"]);
    assert_ne!(verified.code, 0);
    let rows = screen(&verified.stdout);
    let has = |words: &[&str]| rows.iter().any(|row| words.iter().all(|it| row.contains(it)));
    assert!(has(&["TARGET", "STEP", "STATUS", "TOOK"]), "{}", verified.stdout);
    assert!(has(&["~ web2", "file.template[0] drifted"]), "{}", verified.stdout);
    assert!(
        has(&["web3", "blocked", "host unreachable: connection refused"]),
        "{}",
        verified.stdout
    );
    assert_eq!(site.installed(), [once, once, once]);
    let port = site.machines[2].port();
    site.machines[0].configure(&format!("Host web3\n  Port {port}\n"));
    reinstall(&mut site, once);
}

/// A host is installed again: first `ssh` refuses its key, then the contract does.
fn reinstall(site: &mut Site, once: &str) {
    let old = site.machines[1].fingerprint("host.pub");
    site.machines[1].change_host_key(&[]);
    let new = site.machines[1].fingerprint("host.pub");
    let contract = ["run", "--plan", "prod.plan"];
    site.call(&contract).code(77).says("nothing was run");
    site.machines[1].know_host();
    let refused = site.call(&contract);
    assert_eq!(
        refused.code(76).stderr.lines().take(3).collect::<Vec<_>>(),
        [
            &*format!("infra_mutated:web2: host key is {old} in the contract, {new} now"),
            "error: contract refused: 1 difference (infra_mutated); nothing was run",
            "  help: if web2 was reinstalled, `opal plan -o prod.plan --root root rollout 1.4.0` makes a new \
             contract",
        ]
    );
    assert_eq!(site.installed(), [once, once, once]);
    site.call(&["plan", "rollout", "1.4.0", "-o", "prod.plan"]).code(0);
    site.call(&contract).code(0);
    assert_eq!(site.installed(), [once.repeat(2), once.repeat(2), once.repeat(2)]);
}

#[test]
fn the_block_runs_in_a_container_as_it_runs_on_a_host() {
    let helper = binary().with_file_name("opal-target");
    if !needs::has("the target helper (`cargo build -p opal-target`)", helper.exists()) {
        return;
    }
    let Some(podman) = Podman::start(&helper) else { return };
    let source = format!(
        "fun rollout(version: String) {{\n    @container.exec(\"{NAME}\", engine=\"podman\") {{\n        \
         @file.template(\"app.conf.j2\", \"/etc/app.conf\", vars={{port: 8080}})\n        \
         echo \"app=@var.version\" > /etc/version\n        @retry(attempts=5) {{ cat /etc/app.conf /etc/version }}\n    }}\n}}\n"
    );
    let path = podman.environment().into_values().next().unwrap();
    let opal = Opal::project(&source)
        .file("app.conf.j2", "port = {{ port }}\n")
        .env("PATH", path.to_str().unwrap());
    opal.call(&["verify", "rollout", "1.4.0"]).code(1).says("missing");
    let ran = opal.call(&["rollout", "1.4.0"]);
    assert_eq!(ran.code(0).stdout, "port = 8080\napp=1.4.0\n");
    opal.call(&["verify", "rollout", "1.4.0"]).code(0);
    opal.call(&["rollout", "1.4.0"]).code(0).says("1 already satisfied");
}
