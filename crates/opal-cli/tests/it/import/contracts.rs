//! Contracts of several files: what is in their hashes, and what a refusal names.

use super::{DB, ROOT, WEB, shop};

#[test]
fn a_change_of_an_imported_file_is_refused_and_the_refusal_names_it() {
    let opal = shop();
    opal.call(&["plan", "release", "-o", "c.plan"]).code(0);
    opal.call(&["run", "--plan", "c.plan"]).code(0);
    opal.write("tasks/db.opl", DB.replace("echo \"@var", "echo \"evil @var"));
    let ran = opal.call(&["run", "--plan", "c.plan"]);
    ran.code(76).says("source_changed").says("(tasks/db.opl:10)");
    ran.says("note: changed since the contract: `tasks/db.opl`").hides("▸");
    opal.call(&["run", "--plan", "c.plan", "--force"]).code(76);
    let document = opal.call(&["run", "--plan", "c.plan", "--json"]).json();
    assert_eq!(document["changed_files"], serde_json::json!(["tasks/db.opl"]));
    // A comment changes the hash of the source and not the plan.
    opal.write("tasks/db.opl", format!("{DB}// more\n"));
    let ran = opal.call(&["run", "--plan", "c.plan"]);
    ran.code(0).says("the source has changed in `tasks/db.opl`, but gives the same plan");
    opal.call(&["run", "--plan", "c.plan", "--strict-source"]).code(76).says("`tasks/db.opl`");
}

#[test]
fn a_contract_lists_every_file_that_was_read_with_its_digest() {
    let opal = shop();
    opal.call(&["plan", "release", "-o", "all.plan"]).code(0);
    opal.call(&["plan", "db.migrate", "-o", "db.plan"]).code(0);
    let sources = |file: &str| {
        let shown = opal.call(&["plan", "show", file, "--json"]).json();
        let sources = shown["provenance"]["sources"].clone();
        sources.as_array().unwrap().clone()
    };
    let paths: Vec<String> =
        sources("all.plan").iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect();
    assert_eq!(paths, ["apps/web/commands.opl", "commands.opl", "tasks/db.opl"]);
    assert!(sources("all.plan").iter().all(|it| it["digest"].as_str().unwrap().len() > 60));
    // Only what the target uses.
    assert_eq!(sources("db.plan").len(), 2);
}

#[test]
fn text_that_moves_from_one_file_to_another_is_another_source() {
    let opal = shop();
    opal.call(&["plan", "release", "-o", "c.plan"]).code(0);
    // The texts one after the other are the same as before.
    let last = DB.find("fun _helper").unwrap();
    opal.write("tasks/db.opl", &DB[..last]);
    opal.write("commands.opl", ROOT);
    opal.write("apps/web/commands.opl", format!("{}{WEB}", &DB[last..]));
    opal.call(&["run", "--plan", "c.plan"]).code(76);
}

#[test]
fn the_directory_of_a_project_is_in_the_plan_seen_from_the_source() {
    let hash = |opal: &crate::support::Opal, target: &str| {
        let shown = opal.call(&["plan", target, "--json"]).json();
        shown["header"]["plan_hash"].as_str().unwrap().to_owned()
    };
    let (one, other) = (shop(), shop());
    // Another checkout has the same plan.
    for target in ["release", "front.build", "db.migrate"] {
        assert_eq!(hash(&one, target), hash(&other, target), "{target}");
    }
    for target in ["release", "front.build"] {
        one.call(&["plan", target, "-o", "c.plan"]).code(0);
        let moved = ROOT.replace("apps/web", "apps/site");
        std::fs::rename(one.path().join("apps/web"), one.path().join("apps/site")).unwrap();
        one.write("commands.opl", moved);
        assert_ne!(hash(&one, target), hash(&other, target), "{target}");
        one.call(&["run", "--plan", "c.plan"]).code(76).says("source_changed");
        one.write("commands.opl", ROOT);
        std::fs::rename(one.path().join("apps/site"), one.path().join("apps/web")).unwrap();
        one.call(&["run", "--plan", "c.plan"]).code(0);
    }
    // The name of a function is, too.
    one.write(
        "commands.opl",
        ROOT.replace(".db.", ".base.").replace("db.opl\"", "db.opl\" as base"),
    );
    assert_ne!(hash(&one, "release"), hash(&other, "release"));
}

#[test]
fn an_import_that_others_can_write_or_that_is_gone_refuses_the_contract() {
    use std::os::unix::fs::PermissionsExt;
    let opal = shop();
    opal.call(&["plan", "release", "-o", "c.plan"]).code(0);
    let db = opal.path().join("tasks/db.opl");
    std::fs::set_permissions(&db, std::fs::Permissions::from_mode(0o666)).unwrap();
    opal.call(&["run", "--plan", "c.plan"]).code(77).hides("▸");
    std::fs::remove_file(&db).unwrap();
    opal.call(&["run", "--plan", "c.plan"]).code(76).says("E1203").hides("▸");
}
