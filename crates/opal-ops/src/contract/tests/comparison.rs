//! What the plan of now has to be, and what may differ from it.

use super::*;

#[test]
fn a_contract_runs_where_nothing_differs() {
    let machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    assert_eq!(machine.how(&bytes, SOURCE), How::Same);
    assert_eq!(machine.how(&bytes, OTHER_TEXT), How::SourceMoved);
}

#[test]
fn a_contract_without_a_plan_now_is_refused_with_what_is_gone() {
    let unreachable = || {
        let trouble = Trouble::new(TroubleKind::Unreachable, "nobody answers", "try again");
        MemoryWorld::default().failing_page("https://example.org/v", trouble)
    };
    let with_page = "fun deploy() {\n    echo @http.get(\"https://example.org/v\")\n}\n";
    let with_file = "fun deploy() {\n    echo @file.read(\"VERSION\")\n}\n";
    let broken = "fun deploy() {\n    @file.symlink(wrong=1)\n}\n";
    let gone = "fun other() {\n    echo hi\n}\n";
    let empty = MemoryWorld::default;
    let table = [
        (SOURCE, empty(), Drift::EnvChanged),
        (with_file, empty(), Drift::InfraMissing),
        (with_page, unreachable(), Drift::InfraMissing),
        (broken, empty(), Drift::SourceChanged),
        (gone, empty(), Drift::SourceChanged),
    ];
    for (source, world, expected) in table {
        let mut machine = Machine::new();
        let bytes = machine.contract(SOURCE, Terms::default());
        machine.world = world;
        let refusal = machine.refusal(&bytes, source);
        let Refusal::NotPlannable { errors, code } = &refusal else { panic!("{refusal}") };
        assert!(!errors.is_empty());
        assert_eq!(*code, expected, "{source}");
        assert_eq!(refusal.reason(), Reason::NotPlannable);
    }
}

#[test]
fn other_steps_are_refused_and_cannot_be_forced() {
    let mut machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    for force in [false, true] {
        machine.tolerance = Tolerance { force, ..Tolerance::default() };
        let refusal = machine.refusal(&bytes, OTHER_STEP);
        let Refusal::Differs(compared) = &refusal else { panic!("{refusal}") };
        assert_eq!(codes(compared), [(Change::Changed, Drift::SourceChanged)]);
        assert_eq!(refusal.reason(), Reason::Drifted);
    }
}

#[test]
fn other_values_are_refused_unless_forced() {
    let mut machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    machine.world = MemoryWorld::default().env("REGION", "us-east-1");
    let refusal = machine.refusal(&bytes, SOURCE);
    let Refusal::Differs(compared) = &refusal else { panic!("{refusal}") };
    assert_eq!(codes(compared), [(Change::Value, Drift::EnvChanged)]);
    let words = "the plan is not the plan of the contract: 1 difference (env_changed)";
    assert_eq!(refusal.to_string(), words);
    assert!(!format!("{refusal:?}").contains("us-east-1"));
    assert_eq!(refusal.reason(), Reason::Drifted);
    machine.tolerance = Tolerance { force: true, ..Tolerance::default() };
    assert_eq!(machine.how(&bytes, SOURCE), How::Forced);
}

#[test]
fn another_text_of_the_source_is_refused_where_it_counts() {
    let mut machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    for force in [false, true] {
        machine.tolerance = Tolerance { force, strict_source: true };
        assert_eq!(machine.how(&bytes, SOURCE), How::Same);
        let refusal = machine.refusal(&bytes, OTHER_TEXT);
        assert!(matches!(refusal, Refusal::SourceChanged(_)), "{refusal}");
        assert_eq!(refusal.reason(), Reason::Drifted);
    }
    // Forced values do not make it the same text.
    machine.world = MemoryWorld::default().env("REGION", "us-east-1");
    let refusal = machine.refusal(&bytes, OTHER_TEXT);
    assert!(matches!(refusal, Refusal::SourceChanged(_)), "{refusal}");
}

#[test]
fn other_resources_are_refused_unless_they_are_in_the_desired_state() {
    let machine = Machine::new();
    let bytes = machine.contract(WITH_LINK, Terms::default());
    let opened = open(&bytes, &machine.runner()).unwrap();
    assert_eq!(opened.contract.provenance().resources[0].status, Status::Missing);
    let run = |files| machine.run_at(&bytes, WITH_LINK, (files, &Stop::new()), &|_| {});
    assert_eq!(run(MemoryWorld::default()).unwrap().how, How::Same);
    assert_eq!(run(MemoryWorld::default().link("current", "v2")).unwrap().how, How::Same);
    let refusal = refusal(run(MemoryWorld::default().link("current", "v1")));
    let Refusal::Differs(compared) = &refusal else { panic!("{refusal}") };
    assert_eq!(compared.verdict.differences[0].change, Change::Resource);
    assert_eq!(refusal.reason(), Reason::Drifted);
}

#[test]
fn nothing_is_decided_where_it_is_stopped() {
    let mut machine = Machine::new();
    let table = [(SOURCE, Part::Planning), (WITH_LINK, Part::Resources)];
    let contracts = table.map(|(source, _)| machine.contract(source, Terms::default()));
    machine.world = MemoryWorld::default();
    let stop = Stop::new();
    stop.ask(opal_core::action::Why::Cancelled);
    for ((source, expected), bytes) in table.into_iter().zip(contracts) {
        let decided = machine.run_at(&bytes, source, (MemoryWorld::default(), &stop), &|_| {});
        let Err(Stopped::Undecided(Undecided::CutOff(part))) = decided else {
            panic!("{decided:?}")
        };
        assert_eq!(part, expected);
    }
}

#[test]
fn resources_that_an_unknown_run_may_have_changed_are_not_refused_and_that_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let machine = Machine::new();
    let bytes = machine.contract(WITH_LINK, Terms::default());
    let heard = RefCell::new(0);
    let tell = |news: News<'_>| {
        if matches!(news, News::InterruptedRun) {
            *heard.borrow_mut() += 1;
        }
    };
    // Records that others could have changed cannot be asked.
    let runs = machine.root.path().join("logs/run");
    std::fs::create_dir_all(&runs).unwrap();
    std::fs::set_permissions(&runs, PermissionsExt::from_mode(0o777)).unwrap();
    let files = MemoryWorld::default().link("current", "v1");
    let decided = machine.run_at(&bytes, WITH_LINK, (files, &Stop::new()), &tell);
    assert_eq!(decided.unwrap().how, How::Same);
    assert_eq!(*heard.borrow(), 1);
}

#[test]
fn the_caller_hears_of_errors_elsewhere_and_of_the_plan() {
    let machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    let source = format!("{SOURCE}\nfun other() {{\n    @file.symlink(wrong=1)\n}}\n");
    let heard = RefCell::new(Vec::new());
    let tell = |news: News<'_>| {
        heard.borrow_mut().push(match news {
            News::Elsewhere(errors, subject) => format!("{errors} beside {}", subject.target()),
            News::Planned(resolved) => format!("planned {}", resolved.plan.target.name),
            News::InterruptedRun => "interrupted".to_owned(),
        });
    };
    let here = (MemoryWorld::default(), &Stop::new());
    assert_eq!(machine.run_at(&bytes, &source, here, &tell).unwrap().how, How::SourceMoved);
    assert_eq!(*heard.borrow(), ["1 beside deploy", "planned deploy"]);
}
