//! What is verified before what, and what a prerequisite does to those that depend on it.

use opal_core::resource::Status;

use crate::verify::things::{is_there, log, most_at_once};
use crate::verify::verifying::{Verifying, lines};

#[test]
fn every_status_is_reported_in_the_order_of_the_plan() {
    is_there("every/a");
    let source = "@test.thing(\"every/a\", id=\"a\")\n@test.thing(\"every/b\", id=\"b\")\n\
                  @test.thing(\"every/c\", id=\"c\", is=\"drifted\")\n\
                  @test.thing(\"every/d\", id=\"d\", is=\"blocked\")\n\
                  @test.thing(\"every/e\", is=\"unknown\")\nmake\n@shell(\"make\")\n";
    assert_eq!(
        lines(source),
        [
            "a satisfied: there",
            "b missing: `every/b` does not exist",
            "c drifted: different",
            "d blocked: `every/d` cannot be read",
            "script.test.thing[4] unknown: nobody can tell",
        ]
    );
}

#[test]
fn every_status_of_a_prerequisite_leaves_the_own_status_and_the_two_that_matter_are_noted() {
    for (is, note) in [
        ("there", ""),
        ("drifted", ""),
        ("unknown", ""),
        ("missing", "; depends on a (missing)"),
        ("blocked", "; depends on a (blocked)"),
    ] {
        is_there(&format!("own-{is}/c"));
        if is == "there" {
            is_there("own-there/a");
        }
        let of_a = if matches!(is, "there" | "missing") { "found" } else { is };
        let source = format!(
            "@test.thing(\"own-{is}/a\", id=\"a\", is=\"{of_a}\")\n\
             @test.thing(\"own-{is}/b\", id=\"b\", is=\"drifted\", depends_on=[\"a\"])\n\
             @test.thing(\"own-{is}/c\", id=\"c\", depends_on=[\"a\"])\n\
             @test.thing(\"own-{is}/d\", id=\"d\", depends_on=[\"a\"])\n"
        );
        let expected = [
            format!("b drifted: different{note}"),
            format!("c satisfied: there{note}"),
            format!("d missing: `own-{is}/d` does not exist{note}"),
        ];
        assert_eq!(lines(&source)[1..], expected, "{is}");
    }
}

#[test]
fn what_cannot_be_verified_is_blocked_by_a_missing_or_blocked_prerequisite_transitively() {
    let source = "@test.thing(\"chain/a\", id=\"a\")\n\
                  @test.thing(\"chain/b\", id=\"b\", is=\"blocked\", depends_on=[\"a\"])\n\
                  @test.thing(\"chain/c\", id=\"c\", is=\"unknown\", depends_on=[\"b\"])\n\
                  @test.thing(\"chain/d\", id=\"d\")\n";
    let looked = Verifying::new(source).look();
    assert_eq!(
        looked.lines(),
        [
            "a missing: `chain/a` does not exist",
            "b blocked: dependencies not satisfied: a (missing)",
            "c blocked: dependencies not satisfied: b (blocked)",
            "d missing: `chain/d` does not exist",
        ]
    );
    let blocked = looked.of("b").blocked.as_ref().unwrap();
    assert!(blocked.by_prerequisite);
    let help: Vec<_> = blocked.help.iter().map(|line| line.text().into_owned()).collect();
    assert_eq!(help[1], "verification reports: `chain/b` cannot be read");
}

#[test]
fn a_diamond_is_verified_from_its_top_once_each() {
    for name in ["diamond/a", "diamond/b", "diamond/c", "diamond/d"] {
        is_there(name);
    }
    let source = "@parallel {\n\
                  @test.thing(\"diamond/d\", id=\"d\", depends_on=[\"b\", \"c\"])\n\
                  @test.thing(\"diamond/c\", id=\"c\", depends_on=[\"a\"])\n\
                  @test.thing(\"diamond/b\", id=\"b\", depends_on=[\"a\"])\n\
                  @test.thing(\"diamond/a\", id=\"a\")\n}\n";
    let looked = Verifying::new(source).look();
    let ids: Vec<&str> = looked.report.verifications.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["d", "c", "b", "a"], "in the order of the plan");
    assert!(looked.report.verifications.iter().all(|it| it.status == Status::Satisfied));
    let looks = log("diamond");
    assert_eq!((looks.len(), looks[0].as_str(), looks[3].as_str()), (4, "look a", "look d"));
    assert_eq!(looked.reported.first().unwrap(), "a");
    assert_eq!(looked.reported.last().unwrap(), "d");
}

#[test]
fn as_many_are_verified_in_parallel_as_allowed() {
    for (jobs, most) in [(16, 16), (3, 3), (1, 1), (0, 1), (1000, 32)] {
        // As many as that wait for each other; the rest shows that there are never more.
        let source = format!(
            "for i in 1...{} {{ @test.thing(\"beside{jobs}/\" + str(i), meets={most}) }}\n",
            most + 18
        );
        let looking = Verifying { jobs, ..Verifying::new(&source) };
        let looked = looking.look();
        assert!(looked.report.verifications.iter().all(|it| it.status == Status::Missing));
        assert_eq!(most_at_once(&format!("beside{jobs}")), most, "{jobs} at a time");
    }
}

#[test]
fn only_what_was_selected_is_reported_and_what_it_depends_on_is_verified_before_it() {
    is_there("only/a");
    let source = "@test.thing(\"only/a\", id=\"a\")\n\
                  @test.thing(\"only/b\", id=\"b\", depends_on=[\"a\"])\n\
                  @test.thing(\"only/c\", id=\"c\", depends_on=[\"a\"])\n@test.thing(\"only/d\")\n";
    let looking = Verifying { only: vec!["b".into()], ..Verifying::new(source) };
    let looked = looking.look();
    assert_eq!(looked.lines(), ["b missing: `only/b` does not exist"]);
    assert_eq!(looked.reported, ["a", "b"], "a waiting resource names all of them");
    assert_eq!(log("only"), ["look a", "look b"]);
    let by_path = Verifying { only: vec!["script.test.thing[3]".into()], ..Verifying::new(source) };
    assert_eq!(by_path.look().report.verifications.len(), 1);
}

#[test]
fn an_id_that_is_not_there_is_an_error_with_the_nearest() {
    let source = "@test.thing(\"unasked/a\", id=\"nginx\")\n";
    let looking = Verifying { only: vec!["ngnix".into()], ..Verifying::new(source) };
    let trouble = looking.try_look().err().unwrap().trouble;
    assert_eq!(trouble.message, "the plan has no resource `ngnix`");
    assert_eq!(trouble.help, ["did you mean `nginx`?"]);
    assert!(log("unasked").is_empty());
}

#[test]
fn what_is_skipped_is_not_reported_and_an_empty_selection_is_an_error() {
    is_there("skip/a");
    let source = "@test.thing(\"skip/a\", id=\"a\")\n@test.thing(\"skip/b\", id=\"b\")\n\
                  @test.thing(\"skip/c\", id=\"c\")\n";
    let select = |only: &[&str], skip: &[&str]| {
        let [only, skip] = [only, skip].map(|ids| ids.iter().map(|id| (*id).into()).collect());
        Verifying { only, skip, ..Verifying::new(source) }.try_look()
    };
    assert_eq!(select(&[], &["b"]).ok().unwrap().reported.len(), 2);
    assert_eq!(select(&["a", "b"], &["b"]).ok().unwrap().reported, ["a"]);
    let trouble = select(&["a"], &["a"]).err().unwrap().trouble;
    assert_eq!(trouble.message, "no step is selected");
    let trouble = select(&[], &["z"]).err().unwrap().trouble;
    assert_eq!(trouble.help, ["expected one of: `a`, `b`, `c`"]);
}

#[test]
fn a_thousand_small_resources_need_no_thousand_threads() {
    let source = "for i in 1...1000 { @test.thing(\"thousand/\" + str(i)) }\n";
    let looked = Verifying::new(source).look();
    assert_eq!(looked.report.verifications.len(), 1000);
    assert!(most_at_once("thousand") <= 16);
}
