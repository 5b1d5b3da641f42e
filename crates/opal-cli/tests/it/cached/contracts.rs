//! Contracts run every block, unless they were made to permit skips.

use super::{project, runs, runs_block, skips_block};

#[test]
fn a_contract_runs_every_block_and_compares_none() {
    let opal = project();
    opal.call(&["plan", "build", "-o", "c.plan"]).code(0);
    runs_block(&opal, &["build"]);
    skips_block(&opal, &["build"]);
    runs_block(&opal, &["run", "--plan", "c.plan"]).hides("satisfied");
    opal.write("src/a.c", "other\n");
    runs_block(&opal, &["run", "--plan", "c.plan"]);
    std::fs::remove_dir_all(opal.path().join("dist")).unwrap();
    runs_block(&opal, &["run", "--plan", "c.plan"]);
}

#[test]
fn only_a_contract_that_says_so_skips_and_everybody_sees_it() {
    let opal = project();
    opal.call(&["plan", "build", "-o", "strict.plan"]).code(0);
    opal.call(&["plan", "build", "--cache", "-o", "lax.plan"]).code(0);
    let hash = |file: &str| {
        let shown = opal.call(&["plan", "show", file]).code(0).stdout.clone();
        shown.lines().find(|line| line.starts_with("Plan Hash")).unwrap().to_owned()
    };
    assert_ne!(hash("strict.plan"), hash("lax.plan"));
    opal.call(&["plan", "show", "lax.plan"]).code(0).says("may_skip=true");
    opal.call(&["plan", "show", "strict.plan"]).code(0).hides("may_skip");
    runs_block(&opal, &["run", "--plan", "lax.plan"]);
    skips_block(&opal, &["run", "--plan", "lax.plan"]).says("satisfied");
    let shown = opal.call(&["runs", "show", "--json"]).code(0).json();
    assert_eq!(shown["run"]["counts"]["skipped"], 3, "{shown:#}");
    runs_block(&opal, &["run", "--plan", "strict.plan"]);
    runs_block(&opal, &["run", "--plan", "lax.plan", "--no-cache"]);
    opal.write("src/a.c", "other\n");
    let ran = runs_block(&opal, &["run", "--plan", "lax.plan"]);
    ran.says("input `src/a.c` changed");
}

#[test]
fn the_mark_is_not_for_sources_and_a_new_contract_keeps_it() {
    let opal = project();
    let text = super::BUILD.replace("env=[\"MODE\"]", "env=[\"MODE\"], may_skip=true");
    opal.write("other.opl", text);
    opal.call(&["-f", "other.opl", "build"]).code(65).says("may_skip");
    opal.call(&["plan", "build", "--cache", "-o", "c.plan"]).code(0);
    opal.write("commands.opl", super::BUILD.replace("mkdir", "mkdir -m 755"));
    let refused = opal.call(&["run", "--plan", "c.plan"]);
    refused.code(76).says("opal plan -o c.plan --cache build");
    assert_eq!(runs(&opal), 0);
    opal.call(&["plan", "build", "--cache"]).code(2).says("`--cache` applies to a contract");
}
