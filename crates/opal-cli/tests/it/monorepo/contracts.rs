//! Contracts and policies over several projects.

use super::{commit, ran, repository};
use crate::formats::git;
use crate::support::Opal;

#[test]
fn a_contract_runs_all_projects_and_is_refused_where_the_selection_has_changed() {
    let opal = repository();
    opal.call(&["plan", "apps/...:test", "-o", "all.plan"]).code(0);
    assert_eq!(ran(&opal, &["run", "--plan", "all.plan"]), "api inner web");
    let opal = opal.file("apps/new/commands.opl", "fun test() = echo new\n");
    // It is not tracked, so it does not count.
    assert_eq!(ran(&opal, &["run", "--plan", "all.plan"]), "api inner web");
    git(&opal, &["add", "apps/new"]);
    let refused = opal.call(&["run", "--plan", "all.plan"]);
    refused.code(76).says("source_changed").says("new/commands.opl (newly selected)");
    refused.says("opal plan -o all.plan apps/...:test").stdout("");
    git(&opal, &["rm", "-q", "--cached", "apps/new/commands.opl", "apps/api/commands.opl"]);
    let refused = opal.call(&["run", "--plan", "all.plan"]);
    refused.code(76).says("api/commands.opl (no longer selected)").stdout("");
}

#[test]
fn a_contract_keeps_the_commit_and_not_the_name() {
    let opal = repository();
    git(&opal, &["tag", "base"]);
    opal.write("apps/web/src/main.js", "changed");
    let make = ["plan", "apps/...:test", "--changed-since", "base", "-o", "c.plan"];
    opal.call(&make).code(0).says("omitted: apps/api: nothing has changed since");
    commit(&opal);
    // With the name, nothing would be left.
    git(&opal, &["tag", "-f", "base"]);
    assert_eq!(ran(&opal, &["run", "--plan", "c.plan"]), "web");
    opal.write("apps/api/file", "now it has changed too");
    let refused = opal.call(&["run", "--plan", "c.plan"]);
    refused.code(76).says("api/commands.opl (newly selected: changed since ").stdout("");
    let shown = opal.call(&["plan", "show", "c.plan"]);
    shown.code(0).says("Options: --changed-since ").hides("--changed-since base");
    // The command that the refusal names makes one that runs.
    let again = refused.stderr.split('`').find(|text| text.starts_with("opal plan -o")).unwrap();
    let words: Vec<&str> = again.split(' ').skip(1).collect();
    opal.call(&words).code(0);
    assert_eq!(ran(&opal, &["run", "--plan", "c.plan"]), "api web");
}

#[test]
fn a_change_in_one_project_is_refused_and_named() {
    let opal = repository();
    opal.call(&["plan", "apps/...:test", "-o", "all.plan"]).code(0);
    opal.write("apps/api/commands.opl", "fun test() = echo other\n");
    opal.call(&["run", "--plan", "all.plan"]).code(76).says("api/commands.opl").stdout("");
}

fn with_policy(policy: &str) -> Opal {
    let opal =
        repository().file("apps/web/opal.mod", format!("name = \"web\"\n[policy]\n{policy}"));
    commit(&opal);
    opal
}

#[test]
fn the_policy_of_every_project_applies() {
    let opal = with_policy("direct = \"refuse\"\n");
    opal.call(&["apps/...:test"]).code(77).says("the policy requires a contract").stdout("");
    opal.call(&["apps/web:test"]).code(77).stdout("");
    assert_eq!(ran(&opal, &["apps/api:test"]), "api");
    assert_eq!(ran(&opal, &["test"]), "root");
    opal.call(&["plan", "apps/...:test", "-o", "all.plan"]).code(0);
    assert_eq!(ran(&opal, &["run", "--plan", "all.plan"]), "api inner web");
    // The same for a project that is imported.
    opal.write("commands.opl", "import \"apps/web\" as web\nfun all() {\n    @cmd.web.test()\n}\n");
    opal.call(&["all"]).code(77).says("the policy requires a contract").stdout("");
}

#[test]
fn the_strictest_policy_of_several_projects_decides_about_a_contract() {
    let opal = with_policy("require_signature = true\n");
    opal.call(&["plan", "apps/...:test", "-o", "all.plan"]).code(0);
    opal.call(&["run", "--plan", "all.plan"]).code(77).says("sign").stdout("");
    opal.call(&["plan", "verify", "all.plan"]).code(77).says("sign");
    opal.call(&["plan", "libs/...:test", "-o", "libs.plan"]).code(0);
    assert_eq!(ran(&opal, &["run", "--plan", "libs.plan"]), "ui");
}
