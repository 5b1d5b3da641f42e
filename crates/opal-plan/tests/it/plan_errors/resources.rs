//! Resources that do not go together.

use opal_plan::plan::Purpose;

use super::{check, found};
use opal_testing::planning::Project;

fn message(source: &str) -> String {
    let errors = Project::read(source).plan().expect_err("it can be planned");
    format!("{} ({})", errors[0].message, errors[0].help.join("; "))
}

#[test]
fn one_thing_has_one_description() {
    check(
        &[
            ("@file.directory(\"/a\", mode=\"0750\")\n@file.directory(\"/a\")\n", &["2:1 E0815"]),
            (
                "@file.directory(\"/a\", mode=\"0750\")\n@file.directory(\"/a\", mode=\"0750\")\n",
                &[],
            ),
            ("@file.directory(\"a\", mode=\"0750\")\n@file.directory(\"./a/\")\n", &["2:1 E0815"]),
            (
                "@file.directory(\"/a\", id=\"x\")\n@file.directory(\"/a\", depends_on=[\"x\"])\n",
                &[],
            ),
            // What says the default says the same.
            ("@pkg.install([\"a\"], update=false)\n@pkg.install([\"a\"], manager=\"auto\")\n", &[]),
            ("@pkg.install([\"a\"], update=true)\n@pkg.install([\"a\"])\n", &["2:1 E0815"]),
            (
                "@service.running(\"a\")\n@service.running(\"a.service\", enabled=true)\n",
                &["2:1 E0815"],
            ),
            ("@service.running(\"a\")\n@service.running(\"a.timer\", enabled=true)\n", &[]),
        ],
        Purpose::Run,
    );
}

#[test]
fn paths_are_compared_whole() {
    check(
        &[
            ("@file.directory(\"x\", mode=\"0750\")\n@file.directory(\"/p/x\")\n", &["2:1 E0815"]),
            (
                "@file.directory(\"a/../x\", mode=\"0750\")\n@file.directory(\"x\")\n",
                &["2:1 E0815"],
            ),
            (
                "@file.directory(\"~/x\", mode=\"0750\")\n@file.directory(\"/home/op/x\")\n",
                &["2:1 E0815"],
            ),
            ("@file.directory(\"~/x\", mode=\"0750\")\n@file.directory(\"./x\")\n", &[]),
            ("@file.copy(\"a\", \"/d\")\n@file.copy(\"./a\", \"/d\")\n", &[]),
            ("@file.copy(\"/p/a\", \"d\")\n@file.copy(\"a\", \"./d\")\n", &[]),
            ("@file.copy(\"/a\", \"/d\")\n@file.copy(\"a\", \"/d\")\n", &["2:1 E0815"]),
            (
                "//@ env D conf\n@file.copy(\"conf/a\", \"/d\")\n@file.copy(\"@env.D/a\", \"/d\")\n",
                &[],
            ),
            // What is beside another, below it or in it is another thing.
            ("@file.directory(\"x\", mode=\"0750\")\n@file.directory(\"x/y\")\n", &[]),
            ("@file.line(\"x\", \"a\")\n@file.line(\"./x\", \"b\")\n", &[]),
            ("@file.template(\"t\", \"x\")\n@file.line(\"./x\", \"b\")\n", &[]),
        ],
        Purpose::Run,
    );
}

#[test]
fn something_and_nothing_at_one_path_are_opposites_in_parallel() {
    let beside =
        |one: &str, other: &str| format!("@parallel {{\n    @file.{one}\n    {other}\n}}\n");
    let opposites = [
        ("absent(\"x\")", "@file.directory(\"./x/\")"),
        ("directory(\"/p/x\")", "@file.absent(\"x\")"),
        ("copy(\"a\", \"x\")", "@file.absent(\"x\")"),
        ("template(\"a\", \"x\")", "@file.absent(\"x\")"),
        ("symlink(\"a\", \"x\")", "@file.absent(\"x\")"),
        ("line(\"x\", \"a\")", "@file.absent(\"x\")"),
        ("absent(\"x\")", "@git.repo(\"https://a.example\", \"x\")"),
    ];
    for (one, other) in opposites {
        assert_eq!(found(&Project::read(&beside(one, other))), ["3:5 E0815"], "{one} {other}");
    }
    let fine = [
        ("line(\"x\", \"a\", state=\"absent\")", "@file.absent(\"x\")"),
        ("copy(\"x\", \"y\")", "@file.absent(\"x\")"),
        ("symlink(\"x\", \"y\")", "@file.absent(\"x\")"),
        ("directory(\"x\")", "@file.absent(\"x/y\")"),
        ("absent(\"x\")", "@file.absent(\"./x\")"),
    ];
    for (one, other) in fine {
        assert_eq!(found(&Project::read(&beside(one, other))), [""; 0], "{one} {other}");
    }
    assert_eq!(
        message(&beside("absent(\"x\")", "@file.directory(\"./x\")")),
        "conflicting resources: `script.parallel[0].file.absent[0]` and `script.parallel[0].file.directory[0]` describe one path differently: `absent:x` and `directory:x` (keep one of them, with everything that both need)"
    );
}

#[test]
fn starting_afresh_and_cleaning_up_are_not_a_contradiction() {
    check(
        &[
            ("@file.absent(\"x\")\n@file.directory(\"x\")\n", &[]),
            ("try { @file.copy(\"a\", \"x\") } finally { @file.absent(\"x\") }\n", &[]),
            (
                "@parallel {\n    @timeout(5s) {\n        @file.absent(\"x\")\n        \
                 @file.directory(\"x\")\n    }\n}\n",
                &[],
            ),
        ],
        Purpose::Run,
    );
}

#[test]
fn a_package_has_one_version() {
    check(
        &[
            ("@pkg.install([\"a=1\", \"b\"])\n@pkg.install([\"c\", \"a=2\"])\n", &["2:1 E0815"]),
            ("@pkg.install([\"a=1\", \"b\"])\n@pkg.install([\"c\", \"a=1\"])\n", &[]),
            // A name alone takes any version.
            ("@pkg.install([\"a=1\", \"b\"])\n@pkg.install([\"a\"])\n", &[]),
            (
                "@pkg.install([\"a=1\"], manager=\"apt\")\n@pkg.install([\"a=2\"], manager=\"brew\")\n",
                &[],
            ),
        ],
        Purpose::Run,
    );
    let said = message("@pkg.install([\"nginx=1\"])\n@pkg.install([\"vim\", \"nginx=2\"])\n");
    assert!(said.contains("describe the package `nginx` differently"), "{said}");
    let hidden = "//@ env P canary=2\n@pkg.install([\"canary=1\"])\n@pkg.install([@env.P])\n";
    assert!(!message(hidden).contains("canary"), "{}", message(hidden));
}

#[test]
fn values_from_the_world_are_compared_and_not_shown() {
    let same = "//@ env A /srv/canary-dir\n//@ env B 0700\n//@ env C 0750\n\
                @file.directory(@env.A, mode=@env.B)\n@file.directory(\"/srv/canary-dir\", \
                    mode=MODE)\n";
    assert_eq!(found(&Project::read(&same.replace("MODE", "\"0700\""))), [""; 0]);
    let other = same.replace("MODE", "@env.C");
    assert_eq!(found(&Project::read(&other)), ["5:1 E0815"]);
    let hidden = "//@ env A /srv/canary-dir\n//@ env B 0700\n//@ env C 0750\n\
                  @file.directory(@env.A, mode=@env.B)\n@file.directory(@env.A, mode=@env.C)\n";
    let message = message(hidden);
    assert!(message.contains("they differ in `mode`"), "{message}");
    assert!(!message.contains("canary") && !message.contains("0700"), "{message}");
}

#[test]
fn commands_are_compared_only_where_something_describes_them() {
    check(
        &[
            ("@shell(\"a\", id=\"x\")\n@shell(\"a\", id=\"y\")\n", &[]),
            ("a\na\n", &[]),
            ("@shell(\"a\", check=\"b\")\n@shell(\"a\", check=\"b\")\n", &[]),
            ("@shell(\"a\", check=\"b\")\n@shell(\"a\", check=\"c\")\n", &[]),
            (
                "@shell(\"a\", check=\"b\")\n@shell(\"a\", check=\"b\", allow_failure=true)\n",
                &["2:1 E0815"],
            ),
            ("@shell(\"a\", check=\"b\")\n@shell(\"a\", workdir=\"b\", check=\"c\")\n", &[]),
            (
                "@shell(\"a\", check=\"b\", workdir=\"x\")\n@shell(\"a\", check=\"c\", workdir=\"y\")\n",
                &[],
            ),
            (
                "@workdir(\"x\") { @shell(\"a\", check=\"b\") }\n@workdir(\"y\") { @shell(\"a\", check=\"c\") }\n",
                &[],
            ),
        ],
        Purpose::Run,
    );
}

#[test]
fn ids_are_known_and_unique() {
    check(
        &[
            ("@file.absent(\"/a\", id=\"x\")\n@file.absent(\"/b\", id=\"x\")\n", &["2:1 E0816"]),
            (
                "//@ env A x\n@file.absent(\"/a\", id=\"x\")\n@file.absent(\"/b\", id=@env.A)\n",
                &["3:1 E0816"],
            ),
            ("for i in [\"a\", \"b\"] { @file.absent(\"/\" + i, id=i) }\n", &[]),
            ("let.x = @shell(\"a\")\n@file.absent(\"/a\", id=@let.x)\n", &["2:1 E0601"]),
            ("let.x = @shell(\"a\")\n@file.absent(\"/a\", depends_on=[@let.x])\n", &["2:1 E0601"]),
        ],
        Purpose::Run,
    );
    let said = message("@file.absent(\"/a\", id=\"x\")\n@file.absent(\"/b\", id=\"x\")\n");
    assert!(
        said.starts_with(
            "duplicate resource id `x`: `script.file.absent[0]` and `script.file.absent[1]`"
        ),
        "{said}"
    );
}

#[test]
fn dependencies_exist_and_come_first() {
    check(
        &[
            ("@file.absent(\"/a\", depends_on=[\"x\"])\n", &["1:1 E0817"]),
            ("@file.absent(\"/a\", id=\"a\", depends_on=[\"a\"])\n", &["1:1 E0819"]),
            (
                "@file.absent(\"/a\", depends_on=[\"b\"])\n@file.absent(\"/b\", id=\"b\")\n",
                &["1:1 E0818"],
            ),
            (
                "@file.absent(\"/b\", id=\"b\")\n@parallel { @file.absent(\"/a\", depends_on=[\"b\"]) }\n",
                &[],
            ),
            (
                "@parallel {\n{\n@file.absent(\"/a\", depends_on=[\"b\"])\n@file.absent(\"/b\", id=\"b\")\n}\n}\n",
                &["3:1 E0818"],
            ),
            (
                "@parallel {\n@file.absent(\"/a\", depends_on=[\"b\"])\n{\n@file.absent(\"/b\", id=\"b\")\n}\n}\n",
                &[],
            ),
        ],
        Purpose::Run,
    );
    let said = message(
        "@file.absent(\"/a\", id=\"nginx\")\n@file.absent(\"/b\", depends_on=[\"ngnix\"])\n",
    );
    assert_eq!(said, "unknown dependency: no resource has the id `ngnix` (did you mean `nginx`?)");
}

#[test]
fn cycles_are_printed_as_a_whole_and_once() {
    let cycle = |edges: &[(&str, &str)]| -> String {
        let steps = edges.iter().map(|(id, on)| {
            format!("@file.absent(\"/{id}\", id=\"{id}\", depends_on=[\"{on}\"])\n")
        });
        format!("@parallel {{\n{}}}\n", steps.collect::<String>())
    };
    let two = cycle(&[("a", "b"), ("b", "a")]);
    assert_eq!(found(&Project::new(&two)), ["2:1 E0819"]);
    assert!(message(&two).starts_with("dependency cycle between resources: a -> b -> a ("));
    let three = cycle(&[("x", "a"), ("a", "b"), ("b", "c"), ("c", "a")]);
    assert_eq!(found(&Project::new(&three)).len(), 1);
    assert!(message(&three).contains(": a -> b -> c -> a ("), "{}", message(&three));
    let branches = "@parallel {\n\
                    {\n@file.absent(\"/a\", id=\"a\", depends_on=[\"d\"])\n@file.absent(\"/b\", id=\"b\")\n}\n\
                    {\n@file.absent(\"/c\", id=\"c\", depends_on=[\"b\"])\n@file.absent(\"/d\", \
                        id=\"d\")\n}\n}\n";
    assert!(message(branches).contains(": a -> c -> a ("), "{}", message(branches));
}

#[test]
fn what_a_quick_plan_leaves_open_is_not_judged() {
    check(
        &[
            (
                "if @shell.output(\"x\") == \"y\" { @file.absent(\"/a\", id=\"a\") } \
                 else { @file.absent(\"/b\", id=\"a\") }\n",
                &[],
            ),
            (
                "@file.directory(@shell.output(\"x\"), mode=\"0700\")\n\
                 @file.directory(@shell.output(\"x\"), mode=\"0750\")\n",
                &[],
            ),
            ("@file.absent(\"/a\", depends_on=[\"x\"])\n", &["1:1 E0817"]),
        ],
        Purpose::Quick,
    );
}
