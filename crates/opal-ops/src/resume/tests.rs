//! Records of runs that ended in every way, and which of them is continued.

use opal_core::hash::Algorithm;
use opal_core::view::PlanView;
use opal_testing::records::{self, plan};
use opal_vault::Vault;
use opal_vault::record::{Contract, Ending, Failed, Header, Writer};

use super::*;

/// A run of `deploy` in `/srv/shop`, which began in this second.
pub(crate) fn record(root: &Root, second: u64, contract: Option<Digest>, status: Status) -> Run {
    recorded(root, second, &plan("deploy"), ("/srv/shop", contract), Some(status))
}

fn recorded(
    root: &Root,
    second: u64,
    plan: &Plan,
    (directory, contract): (&str, Option<Digest>),
    status: Option<Status>,
) -> Run {
    let vault = Vault::new();
    let header = Header {
        algorithm: plan.algorithm,
        plan_hash: Some(plan_hash(plan)),
        contract: contract.map(|digest| Contract::new(digest, "c.plan")),
        directory: Some(directory.into()),
        place: None,
        ..records::header(&plan.target.name, second)
    };
    let id = header.id.clone();
    let view = PlanView::new(plan, plan.source_hash);
    let writer = Writer::create(root, header, &view, &vault, false).unwrap();
    let folder = writer.folder().to_owned();
    let failed = Failed { path: "deploy.shell[0]", code: 1, message: None };
    match status {
        Some(status) => writer
            .finish(&Ending {
                failed: (status == Status::Failed).then_some(failed),
                ..records::ending(status, 1)
            })
            .unwrap(),
        None => {
            let run = Run::load(&Found { id: id.clone(), folder: folder.clone() }).unwrap();
            assert_eq!(run.state, State::Running);
            return run;
        }
    }
    Run::load(&Found { id, folder }).unwrap()
}

fn whose(contract: Option<Digest>) -> Whose<'static> {
    let directory = ["/srv/shop".to_owned(), "/srv/shop".to_owned()];
    Whose { target: "deploy", directory, place: None, contract }
}

fn root() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::new(folder.path().join("opal"));
    (folder, root)
}

#[test]
fn the_last_run_is_the_newest_of_this_plan_here_that_has_done_something() {
    let (_folder, root) = root();
    let deploy = plan("deploy");
    let last = |whose: &Whose<'_>| earlier(&root, Which::Last, whose, &deploy).map(|run| run.id);
    let here = whose(None);
    assert!(matches!(last(&here), Err(NotResumed::NoEarlierRun { target }) if target == "deploy"));
    let other_plan = Plan { algorithm: Algorithm::Blake3, ..plan("deploy") };
    let other = recorded(&root, 1, &other_plan, ("/srv/shop", None), Some(Status::Failed));
    // The only one there is: it can be said to be of another plan.
    assert_eq!(last(&here).unwrap(), other.id);
    assert!(matches!(path(&other, &deploy), Err(NotResumed::OtherPlan(id)) if id == other.id));
    let failed = record(&root, 2, None, Status::Failed);
    for (second, status) in [(3, Status::Refused), (4, Status::Interrupted)] {
        record(&root, second, None, status);
    }
    recorded(&root, 5, &deploy, ("/srv/other", None), Some(Status::Failed));
    recorded(&root, 6, &plan("test"), ("/srv/shop", None), Some(Status::Failed));
    assert_eq!(last(&here).unwrap(), failed.id);
    let executed = record(&root, 7, None, Status::Executed);
    assert_eq!(last(&here).unwrap(), executed.id);
    assert!(matches!(path(&executed, &deploy), Err(NotResumed::NoFailedStep(_))));
}

#[test]
fn a_directory_is_known_by_its_name_and_by_its_place() {
    let (_folder, root) = root();
    let run = record(&root, 1, None, Status::Failed);
    for (directory, expected) in [("/srv/shop", true), ("/srv/other", false)] {
        let here = Whose { directory: [directory.into(), directory.into()], ..whose(None) };
        let found = earlier(&root, Which::Last, &here, &plan("deploy"));
        assert_eq!(found.is_ok_and(|found| found.id == run.id), expected, "{directory}");
    }
}

#[test]
fn a_run_is_named_by_the_beginning_of_its_id_wherever_it_ran() {
    let (_folder, root) = root();
    let deploy = plan("deploy");
    let run = recorded(&root, 1, &deploy, ("/srv/other", None), Some(Status::Failed));
    let named = |name| earlier(&root, Which::Named(name), &whose(None), &deploy);
    assert_eq!(named(run.id.as_str()).unwrap().id, run.id);
    let unclear = named("none").unwrap_err();
    assert!(
        matches!(&unclear, NotResumed::Unclear { name, why: Unclear::Unknown } if name == "none"),
        "{unclear}"
    );
}

#[test]
fn of_a_single_use_contract_only_its_own_runs_are_continued() {
    let (_folder, root) = root();
    let deploy = plan("deploy");
    let [contract, another] = [b"a", b"b"].map(|name| Algorithm::Sha256.digest(&[name]));
    let own = record(&root, 1, Some(contract), Status::Failed);
    record(&root, 2, Some(another), Status::Failed);
    let direct = record(&root, 3, None, Status::Failed);
    let here = whose(Some(contract));
    assert_eq!(earlier(&root, Which::Last, &here, &deploy).unwrap().id, own.id);
    let named = earlier(&root, Which::Named(direct.id.as_str()), &here, &deploy);
    assert!(matches!(named, Err(NotResumed::OtherContract(id)) if id == direct.id));
    assert_eq!(earlier(&root, Which::Last, &whose(None), &deploy).unwrap().id, direct.id);
}

#[test]
fn what_still_runs_is_not_continued() {
    let (_folder, root) = root();
    let deploy = plan("deploy");
    let run = recorded(&root, 1, &deploy, ("/srv/shop", None), None);
    assert!(matches!(path(&run, &deploy), Err(NotResumed::StillRunning(id)) if id == run.id));
}
