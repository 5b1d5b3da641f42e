//! Files between opal's machine and targets: `@file.fetch`, `files=`, and what crosses.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use opal_testing::proxy::Proxy;
use opal_testing::sshd::Sshd;

use crate::servers::servers;
use crate::support::Opal;

/// A file in the home of the account.
fn put(sshd: &Sshd, name: &str, text: &str) {
    let path = sshd.account().home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_directory_of_a_host_is_copied_beneath_a_directory_of_the_project() {
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        \
                  @file.fetch(\"app\", to=\"out/logs\")\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    put(&sshd, "app/a.log", "one\n");
    put(&sshd, "app/deep/er/b.log", "two\n");
    let tool = sshd.account().home.join("app/tool");
    fs::write(&tool, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o6755)).unwrap();
    symlink("/etc/passwd", sshd.account().home.join("app/link")).unwrap();
    opal.call(&["verify", "task"]).code(1).says("missing");
    opal.call(&["task"]).code(0);
    let copy = opal.path().join("out/logs/app");
    assert_eq!(fs::read_to_string(copy.join("a.log")).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(copy.join("deep/er/b.log")).unwrap(), "two\n");
    let mode = fs::metadata(copy.join("tool")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755, "set-id bits do not cross");
    assert!(fs::symlink_metadata(copy.join("link")).is_err(), "symlinks do not cross");
    opal.call(&["verify", "task"]).code(0).says("without 1 symlink or special file");
    // What changes on the host is drift, and what is only here stays.
    fs::write(copy.join("mine"), "mine").unwrap();
    put(&sshd, "app/a.log", "three\n");
    opal.call(&["verify", "task"]).code(1).says("drifted").says("differs in 1 place");
    opal.call(&["task"]).code(0);
    assert_eq!(fs::read_to_string(copy.join("a.log")).unwrap(), "three\n");
    assert_eq!(fs::read_to_string(copy.join("mine")).unwrap(), "mine");
}

#[test]
fn the_name_of_a_file_on_a_host_is_never_a_line_of_its_own() {
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        \
                  @file.fetch(\"app\", to=\"out\")\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    put(&sshd, "app/a\nerror: forged\nb", "one\n");
    put(&sshd, "app/c\u{1b}[2Kd", "two\n");
    for words in [&["verify", "task", "--verbose"][..], &["task", "--dry-run"], &["task"]] {
        let ran = opal.call(words);
        for text in [&ran.stdout, &ran.stderr] {
            let is_forged = |line: &str| line.trim_start().starts_with("error: forged");
            assert!(!text.lines().any(is_forged) && !text.contains('\u{1b}'), "{words:?}: {text}");
        }
    }
    let shown = opal.call(&["runs", "show"]);
    assert!(!shown.stdout.lines().any(|line| line.trim_start().starts_with("error: forged")));
    assert!(opal.path().join("out/app/a\nerror: forged\nb").exists());
}

#[test]
fn hosts_of_a_fleet_that_fetch_one_file_do_not_write_one_file() {
    let source = "fun task() {\n    @ssh.hosts([\"web1\", \"web2\"]) {\n        \
                  echo @target.name > name-@target.name\n        \
                  @file.fetch(\"name-@target.name\", to=\"names\")\n        @file.fetch(\"same\", to=\"names\")\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1", "web2"], source) else { return };
    put(&sshd, "same", "same\n");
    opal.call(&["task"]).code(0);
    for name in ["web1", "web2"] {
        let folder = opal.path().join("names").join(name);
        assert_eq!(
            fs::read_to_string(folder.join(format!("name-{name}"))).unwrap(),
            format!("{name}\n")
        );
        assert_eq!(fs::read_to_string(folder.join("same")).unwrap(), "same\n");
    }
}

#[test]
fn two_hosts_that_fetch_one_file_to_one_place_are_refused() {
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        @file.fetch(\"/etc/app\", to=\"out\")\n    }\n    \
                  @ssh.host(\"web2\") {\n        @file.fetch(\"/srv/app\", to=\"./out\")\n    }\n}\n";
    let ran = Opal::project(source).call(&["plan", "task"]);
    ran.code(65).says("one copy from two targets");
    // Each for itself is fine, and so are other things at the same path of two hosts.
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        @file.fetch(\"/etc/app\", to=\"one\")\n        \
                  @file.copy(destination=\"/etc/x\", content=\"a\")\n    }\n    \
                  @ssh.host(\"web2\") {\n        @file.fetch(\"/etc/app\", to=\"two\")\n        \
                  @file.copy(destination=\"/etc/x\", content=\"b\")\n    }\n}\n";
    Opal::project(source).call(&["plan", "task"]).code(0);
}

#[test]
fn a_directory_that_leads_out_of_the_project_is_not_written_to() {
    let outside = tempfile::tempdir().unwrap();
    for to in ["out", "out/inner", "..", "../x", "fine/../../x"] {
        let source = format!(
            "fun task() {{\n    @ssh.host(\"web1\") {{\n        @file.fetch(\"name\", to=\"{to}\")\n    }}\n}}\n"
        );
        let Some((sshd, opal)) = servers(&["web1"], &source) else { return };
        put(&sshd, "name", "x\n");
        symlink(outside.path(), opal.path().join("out")).unwrap();
        let ran = opal.call(&["task"]);
        ran.code(1).says(if to.starts_with("out") {
            "is a symlink"
        } else {
            "outside the project"
        });
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "{to}");
    }
    // So is a link that is in the way of a part.
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        @file.fetch(\"app\", to=\"out\")\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    put(&sshd, "app/sub/name", "x\n");
    fs::create_dir_all(opal.path().join("out/app")).unwrap();
    symlink(outside.path(), opal.path().join("out/app/sub")).unwrap();
    opal.call(&["task"]).code(1).says("is a symlink where the target has a directory");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn what_is_larger_than_the_limits_is_not_fetched() {
    for (limit, said) in
        [("max_entries=3", "more than 3 entries"), ("max_bytes=7", "more than 7 bytes")]
    {
        let source = format!(
            "fun task() {{\n    @ssh.host(\"web1\") {{\n        @file.fetch(\"app\", to=\"out\", {limit})\n    }}\n}}\n"
        );
        let Some((sshd, opal)) = servers(&["web1"], &source) else { return };
        for name in ["a", "b", "c"] {
            put(&sshd, &format!("app/{name}"), "xxxx");
        }
        opal.call(&["task"]).code(1).says(said);
        assert!(!opal.path().join("out").exists());
    }
}

#[test]
fn fetching_without_a_target_says_what_to_use() {
    let opal = Opal::project("fun task() {\n    @file.fetch(\"a\", to=\"b\")\n}\n");
    opal.call(&["task"]).code(65).says("E1504").says("outside a block that runs on a target");
}

#[test]
fn files_are_sent_for_a_block_and_gone_after_it() {
    let source = "fun task() {\n    @ssh.host(\"web1\", files={\"app.conf\": \"conf/app.conf\", \"tool\": \"tool.sh\"}) {\n        \
                  cat \"$OPAL_FILES/app.conf\"\n        \"$OPAL_FILES/tool\"\n        \
                  stat -c '%a' \"$OPAL_FILES\" \"$OPAL_FILES/app.conf\"\n        echo \"$OPAL_FILES\" > where\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    let opal = opal.file("conf/app.conf", "port = 80\n").file("tool.sh", "#!/bin/sh\necho tool\n");
    fs::set_permissions(opal.path().join("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let ran = opal.call(&["task"]);
    assert_eq!(ran.code(0).stdout, "port = 80\ntool\n700\n600\n");
    let place = fs::read_to_string(sshd.account().home.join("where")).unwrap();
    assert!(place.starts_with('/') && !Path::new(place.trim_end()).exists(), "{place}");
    // A name is one part of a path, and a file that is not there says so.
    let wrong = source.replace("\"tool\"", "\"../tool\"");
    Opal::project(&wrong).call(&["plan", "task"]).code(65).says("E1501").says("../tool");
    let Some((_sshd, opal)) = servers(&["web1"], source) else { return };
    opal.call(&["task"]).code(1).says("conf/app.conf");
}

#[test]
fn files_of_a_block_are_gone_after_the_connection_is_lost() {
    let source = "fun task() {\n    @ssh.host(\"web1\", files={\"a\": \"a\"}) {\n        \
                  echo \"$OPAL_FILES\" > where\n        kill -9 $PPID\n        sleep 60\n    }\n}\n";
    let source = source.replace("kill -9 $PPID", "pkill -9 -u \"$(id -u)\" -x sshd || true");
    let Some((sshd, opal)) = servers(&["web1"], &source) else { return };
    let opal = opal.file("a", "x");
    opal.call(&["task"]).code(69);
    let place = fs::read_to_string(sshd.account().home.join("where")).unwrap();
    opal_testing::processes::eventually("its files are gone", || {
        !Path::new(place.trim_end()).exists()
    });
}

#[test]
fn the_content_of_a_file_that_is_the_same_on_both_sides_does_not_cross() {
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        \
                  @file.copy(\"big\", \"big\", overwrite=true)\n        \
                  @file.template(\"big.j2\", \"text\")\n        @file.fetch(\"fetched\", to=\"out\")\n    }\n}\n";
    let Some((mut sshd, opal)) = servers(&["web1"], source) else { return };
    let proxy = Proxy::start(sshd.port());
    let port = proxy.port();
    sshd.configure(&format!("Host web1\n  Port {port}\n  StrictHostKeyChecking no\n"));
    // Nothing that a compression could make small.
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"[(state >> 58) as usize]
    };
    let text = String::from_utf8((0..3_000_000).map(|_| next()).collect()).unwrap();
    put(&sshd, "fetched", &text);
    let opal = opal.file("big", &text).file("big.j2", &text);
    opal.call(&["task"]).code(0);
    let before = proxy.passed();
    opal.call(&["verify", "task"]).code(0);
    let crossed = proxy.passed() - before;
    assert!(crossed < 500_000, "{crossed} bytes have crossed");
    // A difference is shown, so its content crosses.
    put(&sshd, "text", &text.replace('0', "1"));
    opal.call(&["verify", "task"]).code(1);
    assert!(proxy.passed() - before > 1_000_000);
}

#[test]
fn functions_of_an_imported_project_find_their_own_sources_on_a_target() {
    let source = "import \"lib\"\n\nfun task() {\n    @ssh.host(\"web1\") {\n        @cmd.lib.install()\n    }\n    @cmd.lib.whole()\n}\n";
    let library = "fun install() {\n    @file.copy(\"own.conf\", \"own.conf\")\n    \
                   @file.template(\"own.j2\", \"own.txt\", vars={a: \"b\"})\n}\n\n\
                   fun whole() {\n    @ssh.host(\"web1\", files={\"f\": \"own.conf\"}) {\n        \
                   cat \"$OPAL_FILES/f\"\n        @file.fetch(\"own.txt\", to=\"got\")\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1"], source) else { return };
    let opal = opal
        .file("lib/commands.opl", library)
        .file("lib/own.conf", "of the library\n")
        .file("lib/own.j2", "{{ a }} of the library\n")
        .file("own.conf", "of the caller\n")
        .file("own.j2", "of the caller\n");
    opal.call(&["verify", "task"]).code(1);
    assert_eq!(opal.call(&["task"]).code(0).stdout, "of the library\n");
    let home = &sshd.account().home;
    assert_eq!(fs::read_to_string(home.join("own.conf")).unwrap(), "of the library\n");
    assert_eq!(fs::read_to_string(home.join("own.txt")).unwrap(), "b of the library\n");
    assert_eq!(
        fs::read_to_string(opal.path().join("lib/got/own.txt")).unwrap(),
        "b of the library\n"
    );
    opal.call(&["verify", "task"]).code(0).says("everything is in the desired state");
}
