//! Blocks on targets, over a real SSH server.

use opal_testing::account::Account;
use opal_testing::needs;
use opal_testing::sshd::Sshd;

use crate::support::{Opal, Ran, assert_schema, binary};

/// A server whose account is known by these names, and a project that reaches it.
pub(crate) fn servers(names: &[&str], source: &str) -> Option<(Sshd, Opal)> {
    let helper = binary().with_file_name("opal-target");
    if !needs::has("the target helper (`cargo build -p opal-target`)", helper.exists()) {
        return None;
    }
    let mut sshd = Sshd::start()?;
    sshd.name_hosts(names);
    let opal = Opal::project(source).env("PATH", sshd.path().to_str().unwrap());
    Some((sshd, opal))
}

fn lines(ran: &Ran) -> Vec<&str> {
    ran.stdout.lines().collect()
}

#[test]
fn a_block_runs_there_and_its_values_are_those_of_the_host() {
    let source = "var HERE = @env.PLACE\n\nfun task() {\n    @ssh.host(\"web1\") {\n        id -un\n        \
                  echo @env.USER @var.HERE @target.name\n        cd /tmp\n        pwd\n    }\n    \
                  basename \"$PWD\"\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    let user = sshd.account().name.clone();
    let opal = opal.env("PLACE", "it's $(here)");
    let ran = opal.call(&["task"]);
    let own = opal.path().file_name().unwrap().to_str().unwrap().to_owned();
    let expected = [&*user, &format!("{user} it's $(here) web1"), "/tmp", &own];
    assert_eq!(lines(ran.code(0)), expected);
}

#[test]
fn a_plan_says_where_a_block_runs_and_connects_to_nothing() {
    let source = "fun task() {\n    @ssh.hosts([\"web1\", \"web2\"], batch=1) {\n        \
                  echo @target.name @env.USER\n        @file.copy(\"a\", \"b\")\n    }\n}\n";
    let opal = Opal::project(source).file("a", "x").env("PATH", "/usr/bin:/bin");
    let ran = opal.call(&["plan", "task"]);
    let tree = ran.code(0).stdout.split("\n\n").next().unwrap().to_owned();
    assert_eq!(
        tree,
        "task:\n└─ @ssh.hosts(batch=1, hosts=[\"web1\", \"web2\"]) → web1 web2\n   \
         ├─ echo @target.name ¹@env.USER\n   └─ @file.copy(destination=\"b\", source=\"a\")"
    );
}

#[test]
fn resources_are_verified_and_applied_there() {
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        \
                  @file.copy(\"app.conf\", \"etc/app.conf\", mode=\"0640\")\n        \
                  @file.template(\"motd.j2\", \"motd\", vars={name: @target.name})\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    let opal = opal.file("app.conf", "port = 80\n").file("motd.j2", "this is {{ name }}\n");
    let home = sshd.account().home.clone();
    std::fs::create_dir(home.join("etc")).unwrap();
    std::os::unix::fs::chown(home.join("etc"), Some(sshd.account().uid()), None).unwrap();
    let before = opal.call(&["verify", "task"]);
    before.code(1).says("web1    task.ssh.host[0].file.copy[0]");
    let document = opal.call(&["verify", "task", "--json"]).json();
    assert_schema("verify-1.json", &document);
    assert_eq!(document["results"][1]["target"], "web1", "{document:#}");
    opal.call(&["task"]).code(0);
    assert_eq!(std::fs::read_to_string(home.join("etc/app.conf")).unwrap(), "port = 80\n");
    assert_eq!(std::fs::read_to_string(home.join("motd")).unwrap(), "this is web1\n");
    opal.call(&["verify", "task"]).code(0).says("everything is in the desired state");
    let again = opal.call(&["task"]);
    again.code(0).says("2 already satisfied");
}

#[test]
fn a_fleet_ends_with_a_table_and_the_code_of_its_first_failed_host() {
    let source = "fun task() {\n    @ssh.hosts([\"web1\", \"web2\", \"web3\"], max_concurrency=1, batch=1) {\n        \
                  test @target.name != web2 || exit 7\n        echo \"done on @target.name\"\n    }\n}\n";
    let Some((_sshd, opal)) = servers(&["web1", "web2", "web3"], source) else { return };
    let ran = opal.call(&["task"]);
    ran.code(7).says("1 of 3 targets failed (tolerate=0)");
    let table: Vec<Vec<&str>> = ran
        .stderr
        .lines()
        .skip_while(|line| !line.starts_with("TARGET"))
        .take(4)
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(table[0], ["TARGET", "STATUS", "STEP", "CODE", "TIME"]);
    assert_eq!(table[1][..2], ["web1", "ok"]);
    assert_eq!(table[2][..2], ["web2", "failed"]);
    assert_eq!(table[2][table[2].len() - 2], "7");
    assert_eq!(table[3], ["web3", "skipped"]);
}

#[test]
fn a_host_that_cannot_be_reached_is_69_and_says_why() {
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        uptime\n    }\n}\n";
    let Some((mut sshd, opal)) = servers(&["web1"], source) else { return };
    sshd.configure("Host web1\n  Port 1\n");
    let ran = opal.call(&["task"]);
    ran.code(69).says("host unreachable").says("connection refused");
    // One that was reached, and lets nobody in, is not unreachable.
    sshd.name_hosts(&["web1"]);
    sshd.configure("Host web1\n  PubkeyAuthentication no\n");
    let ran = opal.call(&["task"]);
    ran.code(69).says("`web1`: login refused: ").says("Permission denied").hides("unreachable");
}

#[test]
fn a_user_that_sudo_refuses_is_named_with_its_host_and_the_way_to_give_a_password() {
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        @as(\"root\") {\n            id\n        }\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    if !needs::has("sudo", std::path::Path::new("/usr/bin/sudo").exists()) {
        return;
    }
    let _rule = sshd.account().may("USER ALL=(ALL) ALL");
    let ran = opal.call(&["task"]);
    ran.code(69).says("`web1/root`: sudo: a password is required").says("`password=`");
}

#[test]
fn a_stored_helper_that_hangs_is_replaced_and_ended() {
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        echo fine\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    assert_eq!(opal.call(&["task"]).code(0).stdout, "fine\n");
    let cache = sshd.account().home.join(".cache/opal");
    let stored = std::fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    let length = stored.metadata().unwrap().len();
    std::fs::write(&stored, "#!/bin/sh\nexec sleep 54377\n").unwrap();
    assert_eq!(opal.call(&["task"]).code(0).stdout, "fine\n");
    assert_eq!(stored.metadata().unwrap().len(), length, "it is the helper again");
    assert!(!opal_testing::processes::is_running("sleep 54377"));
}

#[test]
fn another_user_on_a_host_is_that_user() {
    let source = "fun task() {\n    @as(\"nobody\") {\n        id -un\n    }\n}\n";
    let opal = Opal::project(source);
    if !needs::has("sudo", std::path::Path::new("/usr/bin/sudo").exists()) {
        return;
    }
    let helper = binary().with_file_name("opal-target");
    if !needs::has("the target helper (`cargo build -p opal-target`)", helper.exists()) {
        return;
    }
    assert_eq!(opal.call(&["task"]).code(0).stdout, "nobody\n");
}

#[test]
fn another_user_starts_in_its_own_home_wherever_it_comes_from() {
    if !needs::has("sudo", std::path::Path::new("/usr/bin/sudo").exists()) {
        return;
    }
    let (Some(mut sshd), Some(account)) = (Sshd::start_for_root(), Account::new("/bin/sh")) else {
        return;
    };
    let user = &account.name;
    let home = account.home.to_str().unwrap();
    let port = sshd.port();
    sshd.configure(&format!("Host web1\nHostName 127.0.0.1\nPort {port}\nUser root\n"));
    let block = "pwd\n            id -un\n";
    let source = format!(
        "fun task() {{\n    @ssh.host(\"web1\") {{\n        @as(\"{user}\") {{\n            {block}        }}\n    }}\n    \
         @ssh.host(\"web1\", as=\"{user}\") {{\n            {block}    }}\n    \
         @as(\"{user}\") {{\n            {block}    }}\n    \
         @ssh.host(\"web1\", as=\"nobody\") {{\n            {block}    }}\n}}\n"
    );
    let opal = Opal::project(&source).env("PATH", sshd.path().to_str().unwrap());
    let ran = opal.call(&["task"]);
    // `nobody` has no home.
    let expected = [home, user, home, user, home, user, "/", "nobody"];
    assert_eq!(lines(ran.code(0)), expected);
}

#[test]
fn another_user_is_reached_from_a_target_that_is_this_machine() {
    if !needs::has("sudo", std::path::Path::new("/usr/bin/sudo").exists()) {
        return;
    }
    let block = "        @as(\"nobody\") {\n            id -un\n        }\n        id -un\n";
    let Some(opal) = crate::fleets::local(1, block, "") else { return };
    let ran = opal.call(&["task"]);
    assert_eq!(lines(ran.code(0)), ["nobody", "root"]);
}

#[test]
fn an_inventory_of_ansible_is_read_as_it_is() {
    let source = "fun task() {\n    @ssh.hosts(inventory=\"hosts.ini\", select=\"web:!web3\", max_concurrency=1) {\n        \
                  var port = @target.vars.http_port(default=\"80\")\n        \
                  if contains(@target.groups, \"prod\") {\n            echo \"@target.name @var.port\"\n        }\n    }\n}\n";
    let Some((_sshd, opal)) = servers(&["web1", "web2", "web3"], source) else { return };
    let opal = opal
        .file("hosts.ini", "[web]\nweb[1:3]\n[web:vars]\nhttp_port=8080\n[prod:children]\nweb\n");
    let ran = opal.call(&["task"]);
    assert_eq!(lines(ran.code(0)), ["web1 8080", "web2 8080"]);
    // The way that both take is in the plan once.
    let plan = opal.call(&["plan", "task"]);
    plan.code(0).says("@ssh.hosts(inventory=\"hosts.ini\", max_concurrency=1, select=\"web:!web3\") → web1 web2\n   └─ if");
}

#[test]
fn an_inventory_cannot_move_a_block_or_raise_its_rights() {
    let source = "fun task() {\n    @ssh.hosts(inventory=\"hosts.ini\") {\n        id\n    }\n}\n";
    for (line, said) in [
        ("web1 ansible_connection=local", "connections=[\"local\"]"),
        ("web1 ansible_become=yes", "as=\"root\""),
        ("web1 ansible_ssh_common_args='-o ProxyCommand=id'", "~/.ssh/config"),
        ("web1 ansible_host=-oProxyCommand=id", "host name"),
        ("../web1", "target name"),
    ] {
        let opal = Opal::project(source).file("hosts.ini", format!("{line}\n"));
        let ran = opal.call(&["plan", "task"]);
        ran.code(65).says("[E1501]: ").says(said);
    }
}

#[test]
fn a_lost_connection_is_69_and_a_retry_reaches_the_host_again() {
    let source = "fun task() {\n    @retry(attempts=2, delay=1ms) {\n        @ssh.host(\"web1\") {\n            \
                  test -e there || { touch there; kill -9 $PPID; }\n            echo again\n        }\n    }\n}\n";
    let Some((_sshd, opal)) = servers(&["web1"], source) else { return };
    let ran = opal.call(&["task"]);
    assert_eq!(lines(ran.code(0)), ["again"]);
    ran.says("the connection to `web1` was lost");
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        kill -9 $PPID\n    }\n}\n";
    let Some((_sshd, opal)) = servers(&["web1"], source) else { return };
    opal.call(&["task"]).code(69).says("the connection to `web1` was lost");
}

#[test]
fn no_value_is_in_the_arguments_or_the_environment_of_ssh() {
    let source = "var TOKEN = @secret.env.TOKEN\n\nfun task() {\n    @ssh.host(\"web1\", env={KEY: TOKEN}) {\n        \
                  cat > token <<< @var.TOKEN\n        test \"$KEY\" = \"$(cat token)\"\n        \
                  (cat /proc/[0-9]*/cmdline 2>/dev/null || true) | tr '\\0' ' ' > seen\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    let home = sshd.account().home.clone();
    let ran = opal.env("TOKEN", "canary-0123456789").call(&["task"]);
    ran.code(0).hides("canary-0123456789");
    let read = |name: &str| std::fs::read_to_string(home.join(name)).unwrap();
    assert_eq!(read("token"), "canary-0123456789\n");
    // A process that ends in the meantime is no failure; those that count are there.
    assert!(read("seen").contains("/usr/bin/ssh -F "), "{}", read("seen"));
    assert!(read("seen").contains("opal-target"), "{}", read("seen"));
    assert!(!read("seen").contains("canary"), "{}", read("seen"));
}

#[test]
fn a_connection_that_planning_opens_has_no_secret_in_its_environment_either() {
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        echo @shell.output(\"echo said\", public=true)\n    }\n    \
                  printf '%s' @secret.env.FIRST @env.DB_PASSWORD @env.PIN(secret=true) > /dev/null\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    let (ssh, log) = (opal.path().join("bin/ssh"), opal.path().join("log"));
    let inner = sshd.directory().join("bin/ssh");
    let opal = opal.file(
        "bin/ssh",
        format!("#!/bin/sh\nenv >> {}\nexec {} \"$@\"\n", log.display(), inner.display()),
    );
    std::fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", opal.path().join("bin").display(), sshd.path().display());
    let opal = ["FIRST", "DB_PASSWORD", "PIN"]
        .into_iter()
        .fold(opal.env("PATH", &path), |opal, name| opal.env(name, "canary-0123456789"));
    assert_eq!(opal.call(&["task"]).code(0).stdout, "said\n");
    let seen = std::fs::read_to_string(&log).unwrap();
    assert_eq!(
        seen.matches("\nPATH=").count() + usize::from(seen.starts_with("PATH=")),
        // One asks for its release.
        3,
        "{seen}"
    );
    assert!(!seen.contains("canary"), "{seen}");
}

#[test]
fn a_contract_of_a_fleet_runs_and_is_refused_where_a_value_of_a_host_has_changed() {
    let same = "echo @target.name @file.read(\"role\")";
    // Only on the first host, so that the plan has variants.
    let other = "if @target.index == 0 {\n            echo first @file.read(\"role\")\n        }";
    for block in [same, other] {
        let source = format!(
            "fun task() {{\n    @ssh.hosts([\"web1\", \"web2\"]) {{\n        {block}\n        true\n    }}\n}}\n"
        );
        let Some((sshd, opal)) = servers(&["web1", "web2"], &source) else { return };
        let role = sshd.account().home.join("role");
        std::fs::write(&role, "front\n").unwrap();
        opal.call(&["--root", "root", "plan", "task", "-o", "c.plan"]).code(0);
        let run = ["--root", "root", "run", "--plan", "c.plan"];
        opal.call(&run).code(0).says("web2    ok").hides("front");
        std::fs::write(&role, "back\n").unwrap();
        let refused = opal.call(&run);
        refused.code(76).says("web1/file.read(path=\"role\")").hides("back");
        assert_eq!(refused.stdout, "");
    }
}

#[test]
fn a_dry_run_says_on_which_host_something_would_change() {
    let source = "fun task() {\n    @ssh.hosts([\"web1\", \"web2\"]) {\n        \
                  @file.copy(\"a\", \"@target.name().conf\")\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1", "web2"], source) else { return };
    let home = sshd.account().home.clone();
    let opal = opal.file("a", "x\n");
    std::fs::write(home.join("web1.conf"), "x\n").unwrap();
    let ran = opal.call(&["task", "--dry-run"]);
    let said = &ran.code(0).stdout;
    let rows: Vec<Vec<&str>> = (said.lines())
        .skip_while(|line| !line.trim_start().starts_with("TARGET"))
        .take(3)
        .map(|line| line.split_whitespace().take(4).collect())
        .collect();
    let step = "task.ssh.hosts[0].file.copy[0]";
    let expected = [
        ["TARGET", "STEP", "WOULD", "WHY"],
        ["=", "web1", step, "skip"],
        ["+", "web2", step, "create"],
    ];
    assert_eq!(rows, expected, "{said}");
    assert!(said.contains(&format!("\n{step} on web2: missing")), "{said}");
}

#[test]
fn what_a_stopped_step_cannot_end_is_reported_by_its_number() {
    if !needs::has("sudo", std::path::Path::new("/usr/bin/sudo").exists()) {
        return;
    }
    // `sudo` passes the first signal on, and cannot pass on that it is killed.
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        @timeout(1s, grace=1s) {\n            \
                  sudo -n sh -c \"trap '' TERM; sleep 54321; :\"\n        }\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    let _rule = sshd.account().may_be_anyone();
    let ran = opal.call(&["task"]);
    ran.code(124).says("(`sleep`) still runs: it is another user's").says("use `@as`");
    let mut left = Vec::new();
    for part in ran.stderr.split("opal: process ").skip(1) {
        left.push(part.split(' ').next().unwrap().to_owned());
    }
    assert!(!left.is_empty(), "{ran:?}");
    // The test may end what the login user could not.
    for pid in left {
        opal_testing::processes::kill(&pid);
    }
}
