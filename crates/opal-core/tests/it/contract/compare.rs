//! Whether a fresh plan is the same plan, and what is said where it is not.

use std::borrow::Cow;

use opal_core::contract::{Change, Contract, Drift, Provenance, Verdict, compare, diff, plan_hash};
use opal_core::decorator::{Descriptor, Param, Presence};
use opal_core::hash::{Algorithm, Digest};
use opal_core::plan::{Arg, Key, Node, Plan, Read, Step};
use opal_core::{Registry, Value};

use crate::contract::golden::golden;
use crate::contract::support::{
    self, VARIANTS, accept, around, empty_plan, int, old_plan, provenance, shell, step, target,
    text, texts, value, with,
};

const ALGORITHM: Algorithm = Algorithm::Sha256;

fn contract(plan: Plan) -> Contract {
    Contract::new(plan, 0, provenance()).unwrap()
}

fn after(change: impl FnOnce(&mut Plan)) -> Verdict {
    let mut fresh = plan(ALGORITHM);
    change(&mut fresh);
    compare(&contract(plan(ALGORITHM)), &fresh)
}

/// `change, code, path or key` of every difference.
fn outline(verdict: &Verdict) -> Vec<String> {
    let line = |one: &opal_core::contract::Difference| {
        let place = one.path.as_deref().or(one.key.as_deref()).unwrap_or_default();
        format!("{:?} {} {place}", one.change, one.code)
    };
    verdict.differences.iter().map(line).collect()
}

/// A plan of plain steps, each with its number of the row as its path.
fn row(commands: &[&str]) -> Plan {
    let mut plan = empty_plan(ALGORITHM);
    plan.steps = commands
        .iter()
        .enumerate()
        .map(|(index, command)| shell(&format!("deploy.shell[{index}]"), command, None))
        .collect();
    plan
}

fn set(plan: &mut Plan, key: &str, content: &str) {
    let fresh = value(ALGORITHM, key, content).1.placeholder;
    if let Some(value) = plan.values.get_mut(key) {
        value.placeholder = fresh.clone();
    }
    for read in plan.reads.iter_mut().filter(|read| *read.key == *key) {
        read.placeholder = Some(fresh.clone());
    }
}

#[test]
fn planning_twice_is_the_same() {
    let verdict = after(|_| {});
    assert!(verdict.is_same() && verdict.may_be_forced() && !verdict.source_moved);
    assert_eq!(verdict.code(), None);
}

#[test]
fn a_source_that_gives_the_same_plan_is_noted() {
    let verdict = after(|plan| plan.source_hash = Digest([1; 32]));
    assert!(verdict.is_same() && verdict.source_moved);
}

#[test]
fn a_changed_variable_is_env_changed() {
    let verdict = after(|plan| set(plan, "env.REPLICAS", "5"));
    assert_eq!(outline(&verdict), ["Value env_changed env.REPLICAS"]);
    assert!(verdict.may_be_forced() && !verdict.is_same());
    let one = &verdict.differences[0];
    let (before, now) = (one.before.clone().unwrap(), one.after.clone().unwrap());
    assert_ne!(before.placeholder.digest, now.placeholder.digest);
    assert_eq!(one.words, format!("env.REPLICAS: {before} in the contract, {now} now"));
}

#[test]
fn a_derived_value_names_the_root_that_changed() {
    let derived = "\"v\" + file.read(path=\"VERSION\")";
    let verdict = after(|plan| {
        set(plan, derived, "v2");
        set(plan, "file.read(path=\"VERSION\")", "2");
    });
    let lines = outline(&verdict);
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line.starts_with("Value value_changed")), "{lines:?}");
    let one = &verdict.differences[0];
    assert_eq!(one.key.as_deref(), Some(derived));
    assert_eq!(&*one.causes[0].key, "file.read(path=\"VERSION\")");
    assert!(
        one.words.ends_with(", because `file.read(path=\"VERSION\")` changed"),
        "{}",
        one.words
    );
}

#[test]
fn no_words_hold_a_value() {
    let verdict = after(|plan| set(plan, "env.TOKEN", "canary-5151"));
    assert!(!format!("{verdict:?}").contains("canary"));
}

#[test]
fn another_source_with_another_structure_cannot_be_forced() {
    let verdict = after(|plan| {
        plan.source_hash = Digest([1; 32]);
        plan.steps.pop();
    });
    assert_eq!(outline(&verdict), ["Removed source_changed deploy.store.put[0]"]);
    assert!(!verdict.may_be_forced() && !verdict.source_moved);
}

#[test]
fn an_added_step_is_the_only_difference_though_all_paths_after_it_move() {
    let before = row(&["a", "b", "c", "d"]);
    for (commands, expected) in [
        (&["x", "a", "b", "c", "d"][..], &["Added value_changed deploy.shell[0]"][..]),
        (&["a", "b", "x", "c", "d"], &["Added value_changed deploy.shell[2]"]),
        (&["a", "b", "c", "d", "x"], &["Added value_changed deploy.shell[4]"]),
        (&["b", "c", "d"], &["Removed value_changed deploy.shell[0]"]),
        (
            &["a", "d"],
            &["Removed value_changed deploy.shell[1]", "Removed value_changed deploy.shell[2]"],
        ),
        (&["a", "x", "c", "d"], &["Changed value_changed deploy.shell[1]"]),
        (
            &["a", "x", "c", "y", "d"],
            &["Changed value_changed deploy.shell[1]", "Added value_changed deploy.shell[3]"],
        ),
        (
            &[],
            &[
                "Removed value_changed deploy.shell[0]",
                "Removed value_changed deploy.shell[1]",
                "Removed value_changed deploy.shell[2]",
                "Removed value_changed deploy.shell[3]",
            ],
        ),
    ] {
        let verdict = compare(&contract(before.clone()), &row(commands));
        assert_eq!(outline(&verdict), expected, "{commands:?}");
        assert!(!verdict.may_be_forced());
    }
}

#[test]
fn steps_that_only_have_other_paths_are_a_difference() {
    let mut fresh = row(&["a"]);
    fresh.steps[0].path = "deploy.region[0].shell[0]".into();
    let verdict = compare(&contract(row(&["a"])), &fresh);
    assert_eq!(outline(&verdict), ["Changed value_changed deploy.region[0].shell[0]"]);
}

#[test]
fn a_changed_step_says_where_it_was() {
    let before = row(&["a", "b", "c"]);
    let verdict = compare(&contract(before.clone()), &row(&["x", "y", "a", "B", "c"]));
    let changed = verdict.differences.iter().find(|one| one.change == Change::Changed).unwrap();
    assert_eq!(changed.path.as_deref(), Some("deploy.shell[3]"));
    assert_eq!(changed.was.as_deref(), Some("deploy.shell[1]"));
    let words = "step `deploy.shell[3]` has changed; it was `deploy.shell[1]` in the contract";
    assert!(changed.words.starts_with(words), "{}", changed.words);
    let was: Vec<Option<String>> = (0..5)
        .map(|index| verdict.was(&format!("deploy.shell[{index}]")).map(str::to_owned))
        .collect();
    let then = |index: usize| Some(format!("deploy.shell[{index}]"));
    assert_eq!(was, [None, None, then(0), then(1), then(2)]);
    let same = compare(&contract(before.clone()), &before);
    assert_eq!(same.was("deploy.shell[1]"), Some("deploy.shell[1]"));
}

#[test]
fn another_target_is_a_difference() {
    let mut fresh = row(&["a"]);
    fresh.target.name = "other".into();
    let verdict = compare(&contract(row(&["a"])), &fresh);
    assert_eq!(verdict.differences[0].change, Change::Target);
    assert!(!verdict.may_be_forced());
}

/// A read as planning makes it: with the path of its decorator.
fn read(key: &str, content: &str) -> Read {
    let ends = [".SIZE", ".OTHER", ".EXTRA", ".VERSION"];
    let decorator = ends.iter().find_map(|end| key.strip_suffix(end)).unwrap_or(key);
    let decorator = Cow::Owned(decorator.to_owned());
    Read { decorator, ..support::read(ALGORITHM, key, content) }
}

fn plan(algorithm: Algorithm) -> Plan {
    let mut plan = support::plan(algorithm);
    for read in &mut plan.reads {
        read.decorator = Cow::Owned(read.decorator.trim_start_matches('@').to_owned());
    }
    plan
}

/// An `if` that `root` steered, with the branch of the number `taken`.
fn decision(root: &'static str, taken: i64, block: Vec<Step>) -> Step {
    let mut one = with(step("if", "deploy.if[0]"), "condition", text("…"));
    one = with(one, "roots", texts(&[root]));
    around(with(one, "taken", int(taken)), block)
}

fn steered(root: &'static str, taken: i64, content: &str) -> Plan {
    let mut plan = empty_plan(ALGORITHM);
    let command = if taken == 0 { "small" } else { "large" };
    let inner = shell("deploy.if[0].shell[0]", command, None);
    plan.steps = vec![decision(root, taken, vec![inner])];
    plan.reads = vec![read(root, content), read("env.OTHER", "same")];
    plan
}

#[test]
fn a_branch_that_went_another_way_has_the_code_of_what_steered_it() {
    for (root, code) in [
        ("env.SIZE", Drift::EnvChanged),
        ("secret.env.SIZE", Drift::EnvChanged),
        ("git.branch", Drift::ValueChanged),
    ] {
        let verdict = compare(&contract(steered(root, 0, "few")), &steered(root, 1, "many"));
        assert_eq!(
            outline(&verdict),
            [
                format!("Changed {code} deploy.if[0]"),
                format!("Changed {code} deploy.if[0].shell[0]")
            ]
        );
        for one in &verdict.differences {
            let causes: Vec<&str> = one.causes.iter().map(|cause| &*cause.key).collect();
            assert_eq!(causes, [root]);
            assert!(one.words.ends_with(&format!(", because `{root}` changed")), "{}", one.words);
        }
        assert!(!verdict.may_be_forced());
    }
}

#[test]
fn the_outer_construct_is_blamed_where_the_inner_ones_reads_did_not_change() {
    let nested = |taken: i64, size: &str| {
        let mut plan = steered("env.SIZE", taken, size);
        let inner = std::mem::take(&mut plan.steps[0].block);
        plan.steps[0].block = vec![decision("env.OTHER", taken, inner)];
        plan
    };
    let verdict = compare(&contract(nested(0, "few")), &nested(1, "many"));
    assert!(verdict.differences.len() >= 2);
    for one in &verdict.differences {
        assert_eq!(&*one.causes[0].key, "env.SIZE", "{one:?}");
    }
}

#[test]
fn a_read_that_did_not_change_gives_the_code_and_is_not_a_cause() {
    for (root, code) in [
        ("env.SIZE", Drift::EnvChanged),
        // Only what reads it says where a value comes from, and not how its key begins.
        ("secret.environment", Drift::ValueChanged),
    ] {
        let verdict = compare(&contract(steered(root, 0, "few")), &steered(root, 1, "few"));
        assert_eq!(verdict.code(), Some(code), "{root}");
        assert!(verdict.differences[0].causes.is_empty());
    }
}

#[test]
fn large_rows_are_compared_in_bounded_work() {
    let commands = |salt: &str| -> Vec<String> {
        (0..5_000).map(|index| format!("{salt}{}", index * 7 % 1000)).collect()
    };
    let (a, b) = (commands("a"), commands("b"));
    let of = |commands: &[String]| row(&commands.iter().map(String::as_str).collect::<Vec<_>>());
    let verdict = compare(&contract(of(&a)), &of(&b));
    assert_eq!(verdict.differences.len(), 5_000);
}

#[test]
fn what_is_gone_has_a_code() {
    assert_eq!(Drift::of_missing("env"), Drift::EnvChanged);
    assert_eq!(Drift::of_missing("file.read"), Drift::InfraMissing);
}

#[test]
fn two_contracts_are_compared_by_values_only_under_one_key() {
    let first = contract(plan(ALGORITHM));
    let mut changed = plan(ALGORITHM);
    set(&mut changed, "env.TOKEN", "other");
    changed.steps.truncate(3);
    let second = contract(changed.clone());
    let verdict = diff(&first, &second, &registry());
    assert!(verdict.values_compared);
    assert_eq!(outline(&verdict)[1], "Value env_changed env.TOKEN");
    assert!(verdict.differences[0].words.contains("only in the first"));

    let made = Provenance { placeholder_key_id: "another".into(), ..provenance() };
    let third = Contract::new(changed, 0, made).unwrap();
    let verdict = diff(&first, &third, &registry());
    assert!(!verdict.values_compared);
    assert_eq!(verdict.differences.len(), 1);
}

#[test]
fn a_value_that_only_one_plan_has_is_named() {
    let mut fresh = plan(ALGORITHM);
    let (key, extra) = value(ALGORITHM, "env.EXTRA", "1");
    let after = extra.placeholder.clone();
    fresh.values.insert(Key::clone(&key), extra);
    fresh.reads.push(read("env.EXTRA", "1"));
    let verdict = compare(&contract(plan(ALGORITHM)), &fresh);
    assert_eq!(outline(&verdict), ["Value env_changed env.EXTRA"]);
    assert_eq!(
        verdict.differences[0].words,
        format!("env.EXTRA: {after} now, not used in the contract")
    );
}

#[test]
fn random_values_are_not_news_where_the_structure_is_another() {
    let drawn = |commands: &[&str], content: &str| {
        let mut plan = row(commands);
        plan.values.extend([value(ALGORITHM, "random.password(length=8)#0", content)]);
        plan
    };
    let before = contract(drawn(&["a"], "first"));
    let mut fresh = drawn(&["b"], "second");
    fresh.source_hash = Digest([9; 32]);
    assert_eq!(outline(&compare(&before, &fresh)), ["Changed source_changed deploy.shell[0]"]);
    let same = compare(&before, &drawn(&["a"], "second"));
    assert_eq!(outline(&same), ["Value value_changed random.password(length=8)#0"]);
}

#[test]
fn public_values_are_shown_in_clear_and_others_never() {
    const VERSION: &str = "env.VERSION(public=true)";
    let with = |content: &'static str, public: bool| {
        let mut plan = row(&["a"]);
        let (key, mut version) = value(ALGORITHM, VERSION, content);
        version.public = public.then(|| Value::text(content));
        version.roots = [Key::from("env.VERSION")].into();
        let cause = read("env.VERSION", content);
        plan.reads = vec![Read { public: version.public.clone(), ..cause }];
        plan.values.insert(key, version);
        plan
    };
    let words =
        |before: Plan, fresh: Plan| compare(&contract(before), &fresh).differences[0].words.clone();
    assert_eq!(
        words(with("1.4.0", true), with("1.4.1", true)),
        "env.VERSION: 1.4.0 in the contract, 1.4.1 now"
    );
    assert_eq!(
        words(with("1.4.0", true), with("two words", true)),
        "env.VERSION: 1.4.0 in the contract, \"two words\" now"
    );
    let hidden = words(with("1.4.0", true), with("1.4.1", false));
    assert!(hidden.starts_with("env.VERSION: 1.4.0 in the contract, <5:sha256:"), "{hidden}");
}

static SHELL: Descriptor = Descriptor {
    path: "shell",
    params: &[Param {
        name: "allow_failure",
        presence: Presence::Default(Value::Bool(false)),
        ..Param::BASE
    }],
    ..Descriptor::BASE
};

fn registry() -> Registry {
    Registry::new(&[&SHELL]).unwrap()
}

/// The fixture as format 1.1 has it: with a default that nobody wrote.
fn filled(allow_failure: bool) -> Plan {
    fn fill(step: &mut Step, allow_failure: bool) {
        if step.node == Node::Shell {
            let arg = Arg::Const(Value::Bool(allow_failure));
            step.args.insert(0, ("allow_failure".into(), arg));
        }
        step.block.iter_mut().for_each(|inner| fill(inner, allow_failure));
    }
    let mut plan = old_plan(ALGORITHM);
    plan.steps.iter_mut().for_each(|step| fill(step, allow_failure));
    plan
}

#[test]
fn defaults_that_an_old_contract_leaves_out_are_not_a_difference() {
    let old = accept(&golden("1.0", VARIANTS[0])).unwrap();
    let verdict = diff(&old, &contract(filled(false)), &registry());
    assert!(verdict.is_same(), "{:?}", outline(&verdict));
    let verdict = diff(&contract(filled(true)), &old, &registry());
    assert_eq!(outline(&verdict).len(), 2, "{:?}", outline(&verdict));
}

#[test]
fn another_default_is_another_plan() {
    let (before, after) = (contract(filled(false)), filled(true));
    assert_ne!(before.plan_hash(), plan_hash(&after));
    let verdict = compare(&before, &after);
    assert_eq!(verdict.differences.len(), 2, "{:?}", outline(&verdict));
    assert!(!verdict.may_be_forced());
}

/// A fleet with these targets, each with its address, and a step in variants where there are several.
fn fleet(targets: &[(&str, &str)], variants: &[&[&str]]) -> Plan {
    let entry = |(name, address): &(&str, &str)| {
        let pairs = [("name", *name), ("connection", "ssh"), ("address", *address)];
        Value::Map(
            pairs.map(|(key, text)| (key.to_owned(), Value::String(text.to_owned().into()))).into(),
        )
    };
    let mut hosts = step("@ssh.hosts", "deploy.ssh.hosts[0]");
    hosts = with(hosts, "inventory", text("hosts.ini"));
    hosts = with(hosts, "targets", Arg::Const(Value::Array(targets.iter().map(entry).collect())));
    let block = variants.iter().enumerate().map(|(index, names)| {
        let names = names.iter().map(|name| Value::String((*name).to_owned().into()));
        let mut variant = step("variant", &format!("deploy.ssh.hosts[0].variant[{index}]"));
        variant = with(variant, "targets", Arg::Const(Value::Array(names.collect())));
        let path = format!("deploy.ssh.hosts[0].variant[{index}].shell[0]");
        around(variant, vec![shell(&path, &format!("run {index}"), None)])
    });
    let mut plan = empty_plan(ALGORITHM);
    plan.steps = vec![around(hosts, block.collect())];
    plan
}

#[test]
fn another_selection_of_an_inventory_names_the_targets() {
    let [a, b, c] = [("web1", "a"), ("web2", "b"), ("web3", "c")];
    let before = contract(fleet(&[a, b], &[&["web1"], &["web2"]]));
    let labels = |fresh: &Plan| -> Vec<String> {
        let verdict = compare(&before, fresh);
        assert!(verdict.may_be_forced());
        verdict.differences.iter().map(|one| one.label()).collect()
    };
    assert!(labels(&fleet(&[a, b], &[&["web1"], &["web2"]])).is_empty());
    let gone = fleet(&[a], &[&["web1"]]);
    assert_eq!(labels(&gone), ["infra_missing:web2"]);
    let new = fleet(&[a, b, c], &[&["web1"], &["web2"], &["web3"]]);
    assert_eq!(labels(&new), ["infra_mutated:web3"]);
    let both = fleet(&[a, c], &[&["web1"], &["web3"]]);
    assert_eq!(labels(&both), ["infra_missing:web2", "infra_mutated:web3"]);
    // Their values are not news either.
    let mut with_value = new;
    with_value.values.extend([value(ALGORITHM, "web3/env.A", "x")]);
    assert_eq!(labels(&with_value), ["infra_mutated:web3"]);
    // Another address, another order and another step are other steps.
    for other in [
        fleet(&[a, ("web2", "x")], &[&["web1"], &["web2"]]),
        fleet(&[b, a], &[&["web1"], &["web2"]]),
        fleet(&[a, b], &[&["web2"], &["web1"]]),
    ] {
        assert!(!compare(&before, &other).may_be_forced());
    }
}

#[test]
fn targets_of_two_contracts_are_compared_and_machines_only_under_one_key() {
    let made = |targets, id: &str| {
        let placeholder_key_id = id.to_owned();
        let made = Provenance { targets, placeholder_key_id, ..provenance() };
        Contract::new(plan(ALGORITHM), 0, made).unwrap()
    };
    let first = made(vec![target("web1", "ssh-ed25519 SHA256:a", "m")], "1");
    let words = |other: &Contract| -> Vec<String> {
        let verdict = diff(&first, other, &registry());
        verdict.differences.iter().map(|one| format!("{}: {}", one.label(), one.words)).collect()
    };
    let other = || vec![target("web1", "ssh-ed25519 SHA256:b", "n")];
    let key = "infra_mutated:web1: host key is SHA256:a in the first, SHA256:b in the second";
    let machine = "another machine or image answers in the second than in the first";
    assert_eq!(words(&made(other(), "1")), [format!("{key}; {machine}")]);
    assert_eq!(words(&made(other(), "2")), [key]);
    assert!(words(&made(vec![target("web9", "", "n")], "1")).is_empty());
}
