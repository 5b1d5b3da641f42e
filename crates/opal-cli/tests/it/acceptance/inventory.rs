//! An inventory as people have them, with most of what Ansible allows, is used as it is.

use std::fs;
use std::path::Path;

use crate::fleets::table;
use crate::servers::servers;
use crate::support::repository;

const SOURCE: &str = r#"fun site(select: String = "all") {
    @ssh.hosts(inventory="inventory/production", select=select, max_concurrency=1, tolerate=9) {
        var PORT = @target.vars.http_port(default="-")
        var REGION = @target.vars.region(default="-")
        var ROLE = @target.vars.role(default="-")
        echo "@target.name @var.PORT @var.REGION @var.ROLE"
    }
}
"#;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Hosts and their order are those that Ansible has.
#[test]
fn an_inventory_of_ansible_is_used_unchanged() {
    let names = [
        "10.20.0.11",
        "10.20.0.12",
        "app-a.example.com",
        "app-b.example.com",
        "db1",
        "db2",
        "cache1",
    ];
    let Some((_sshd, opal)) = servers(&names, SOURCE) else { return };
    copy(&repository().join("crates/opal-cli/test_data/inventory"), &opal.path().join("inventory"));
    let ran = opal.call(&["site"]);
    assert_eq!(
        ran.code(0).stdout,
        "cache1 - - -\napp-a.example.com 9000 eu -\napp-b.example.com 9000 us -\nweb01 8080 eu front\n\
         web02 8081 eu front\ndb1 - eu primary\ndb2 - eu replica\n"
    );
    assert_eq!(table(&ran.stderr).len(), 7);
    for (pattern, expected) in [
        ("web:&europe", "web01 web02"),
        ("app", "app-a.example.com app-b.example.com"),
        ("production:!db", "app-a.example.com app-b.example.com web01 web02"),
        ("db[0]", "db1"),
        ("~app-[b-z]\\..*", "app-b.example.com"),
    ] {
        let plan = opal.call(&["site", pattern, "--dry-run"]);
        let shown = plan.code(0).stdout.lines().nth(1).unwrap().to_owned();
        assert!(shown.ends_with(&format!("→ {expected}")), "{pattern}: {shown}");
    }
}
