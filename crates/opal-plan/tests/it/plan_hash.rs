//! What is in the PlanHash and what is not: two sources each, and whether they give the same hash.
//!
//! Sources begin with the directives of the plan fixtures, where they need a world.

use opal_testing::planning;

mod different;
mod same;
mod schema;

use std::time::{Duration, SystemTime};

use opal_core::contract::{Contract, Provenance, Source, plan_hash};
use opal_core::hash::{Algorithm, Digest};
use opal_core::resolver::Host;
use opal_plan::plan::Purpose;

use planning::Project;

/// What it is about, and two sources.
type Row = (&'static str, &'static str, &'static str);

fn hash(project: &Project) -> Digest {
    match project.plan() {
        Ok(resolved) => plan_hash(&resolved.plan),
        Err(errors) => panic!("{}\n{errors:#?}", project.source),
    }
}

/// The hash in every mode and by both algorithms; sources without a target are scripts.
fn hashes(source: &str) -> Vec<Digest> {
    let mut found = Vec::new();
    for purpose in [Purpose::Quick, Purpose::Run, Purpose::Contract] {
        for algorithm in [Algorithm::Sha256, Algorithm::Blake3] {
            let mut project = Project::read(source).purpose(purpose);
            project.algorithm = algorithm;
            found.push(hash(&project));
        }
    }
    found
}

#[test]
fn what_does_not_change_the_plan_does_not_change_its_hash() {
    let mut wrong = Vec::new();
    for (name, a, b) in same::ROWS {
        assert_ne!(a, b, "{name}: nothing is compared");
        if hashes(a) != hashes(b) {
            wrong.push(*name);
        }
    }
    assert!(wrong.is_empty(), "different: {wrong:?}");
}

#[test]
fn what_changes_the_plan_changes_its_hash() {
    let mut wrong = Vec::new();
    for (name, a, b) in different::ROWS {
        let pairs = hashes(a).into_iter().zip(hashes(b));
        if pairs.into_iter().any(|(a, b)| a == b) {
            wrong.push(*name);
        }
    }
    assert!(wrong.is_empty(), "the same: {wrong:?}");
}

#[test]
fn another_day_machine_path_and_user_give_the_same_hash() {
    let source = "//@ env A 1\necho @env.A @os.hostname @os.arch @time.now\n";
    let contract = |day: u64, name: &str| {
        let host = Host { os: "linux".into(), arch: format!("{name}64"), name: name.to_owned() };
        let clock = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * day);
        let project = Project::read(source).world(|world| world.at(clock).on(host));
        let provenance = Provenance {
            compiler: format!("0.{day}.0"),
            source: Some(Source { path: name.into(), absolute: format!("/home/{name}/a.opl") }),
            generated_by: Some(name.to_owned()),
            host: Some(name.to_owned()),
            project: Some(name.to_owned()),
            ..Provenance::default()
        };
        Contract::new(project.plan().unwrap().plan, day as i64, provenance).unwrap()
    };
    let (here, there) = (contract(1, "ann"), contract(20_000, "bob"));
    assert_eq!(here.plan_hash(), there.plan_hash());
    assert_ne!(here.plan().values, there.plan().values);
}

#[test]
fn formatting_changes_no_hash() {
    let rows = same::ROWS.iter().chain(different::ROWS);
    for source in rows.flat_map(|(_, a, b)| [a, b]) {
        let registry = opal_decorators::registry();
        let formatted = opal_syntax::format(
            source,
            &opal_plan::Words(&registry),
            opal_syntax::Style::default(),
        );
        let formatted = formatted.unwrap();
        assert_eq!(hashes(source), hashes(&formatted), "{source}\n{formatted}");
    }
}
