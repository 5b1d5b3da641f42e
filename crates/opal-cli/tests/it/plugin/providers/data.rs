//! Data sources: values that a provider reads.

use std::fs;

use super::{accepted, ended};
use crate::support::Opal;

const COMMANDS: &str = r#"
fun net() {
    @box.provider(directory="cloud") {
        @box.net(name="net", mark="net")
    }
}

fun nets() {
    @box.provider(directory="cloud") {
        var owner = @box.data.owner().account_id
        echo owned by @var.owner
        var nets = @box.data.nets(tag="shop/net")
        echo first @var.nets.ids[0] of @var.nets.ids.length
        for id in @var.nets.ids {
            echo found @var.id
        }
    }
}

fun sealed() {
    @box.provider(directory="cloud") {
        var nets = @box.data.nets(tag="shop/net")
        var named = "key-" + @var.nets.key
        echo key @var.nets.key and @var.named
        @box.thing(name="safe", secret=@var.nets.key)
        echo net @var.nets.ids[0]
    }
}

fun painted() {
    @box.provider(directory="cloud") {
        @box.thing(name="web", color=@box.data.shell_script().output)
    }
}

fun serial() {
    @box.provider(directory="cloud") {
        var serial = @box.data.owner().serial
        echo @var.serial
    }
}
"#;

fn made() -> Option<Opal> {
    let opal = accepted(COMMANDS)?;
    ended(&opal, &["net"], 0);
    Some(opal)
}

#[test]
fn a_data_source_is_a_value_and_a_quick_plan_does_not_ask_it() {
    let Some(opal) = made() else { return };
    let ran = ended(&opal, &["nets"], 0);
    assert_eq!(ran.stdout, "owned by alice\nfirst net-1 of 1\nfound net-1\n");
    let ran = ended(&opal, &["nets", "--dry-run"], 0);
    assert!(!ran.stdout.contains("alice") && !ran.stdout.contains("net-1"), "{ran:?}");
    fs::remove_file(opal.path().join("bin/box")).unwrap();
    let ran = ended(&opal, &["nets"], 69);
    assert!(ran.stderr.contains("does not exist"), "{ran:?}");
}

#[test]
fn of_a_data_source_only_sensitive_attributes_and_what_derives_from_them_are_secret() {
    let Some(opal) = made() else { return };
    let run = |args: &[&str]| {
        let ran = ended(&opal, args, 0);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!all.contains("canary"), "{all}");
        all
    };
    let said = run(&["sealed"]);
    assert!(said.contains("net net-1"), "{said}");
    run(&["sealed", "--dry-run", "--resolve"]);
    run(&["verify", "sealed"]);
    run(&["plan", "sealed", "-o", "own.plan"]);
    run(&["plan", "show", "own.plan", "--json"]);
    run(&["run", "--plan", "own.plan"]);
    run(&["runs", "show", "--events"]);
}

#[test]
fn a_data_source_that_acts_is_not_read_by_quick_plans_and_verify() {
    let Some(opal) = accepted(COMMANDS) else { return };
    let acted = opal.path().join("cloud/acted");
    ended(&opal, &["check"], 0);
    ended(&opal, &["painted", "--dry-run"], 0);
    let ran = ended(&opal, &["verify", "painted"], 3);
    assert!(ran.stderr.contains("`@box.data.shell_script` may change something"), "{ran:?}");
    let ran = ended(&opal, &["explain", "@box.data.shell_script"], 0);
    assert!(ran.stdout.contains("`opal verify` does not read it"), "{ran:?}");
    assert!(!acted.exists());
    ended(&opal, &["painted"], 0);
    assert!(acted.exists());
}

#[test]
fn a_number_that_opal_has_no_type_for_is_refused_and_not_rounded() {
    let Some(opal) = accepted(COMMANDS) else { return };
    let opal = opal.file("cloud/serial", "42\n");
    assert_eq!(ended(&opal, &["serial"], 0).stdout, "42\n");
    let opal = opal.file("cloud/serial", "123456789012345678901234567890\n");
    let ran = opal.call(&["serial"]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("E1404") && !ran.stderr.contains("1234567"), "{ran:?}");
    let page = ended(&opal, &["explain", "E1404"], 0);
    assert!(page.stdout.contains("number out of range"), "{page:?}");
}
