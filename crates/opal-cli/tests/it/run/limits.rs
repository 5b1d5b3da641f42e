//! `@limits`, with real processes.

use crate::needs;
use crate::support::Opal;

fn run(text: &str) -> crate::support::Ran {
    Opal::machine(&format!("fun up() {{\n{text}\n}}\n")).args(["up"]).run()
}

/// As much as the number says, in one process.
fn allocates(megabytes: u32) -> String {
    format!("python3 -c 'x = bytearray({megabytes} * 1024 * 1024); print(len(x))'")
}

#[test]
fn a_process_is_refused_more_memory_than_its_limit() {
    if !needs::program("python3") {
        return;
    }
    for step in [
        allocates(200),
        format!("{} | cat", allocates(200)),
        format!("@shell({:?}, shell=\"sh\")", allocates(200)),
        "@shell(\"x = bytearray(200 * 1024 * 1024)\", shell=\"python3\")".to_owned(),
        format!("echo $$ > /dev/null; {}", allocates(200)),
    ] {
        let ran = run(&format!("    @limits(memory=\"64M\") {{\n        {step}\n    }}"));
        assert_ne!(ran.code, 0, "{step} {ran:#?}");
        ran.says("MemoryError").says("@limits(memory=\"64M\")").hides("209715200");
    }
    let fits = format!("    @limits(memory=\"512M\") {{\n        {}\n    }}", allocates(200));
    run(&fits).code(0).stdout("209715200\n");
    let bytes = format!("    @limits(memory=67108864) {{\n        {}\n    }}", allocates(200));
    run(&bytes).code(1).says("MemoryError");
    let outside =
        format!("    @limits(memory=\"64M\") {{\n        true\n    }}\n    {}", allocates(200));
    run(&outside).code(0).stdout("209715200\n");
}

#[test]
fn an_inner_limit_only_tightens() {
    if !needs::program("python3") {
        return;
    }
    for (outer, inner) in [("64M", "4G"), ("4G", "64M")] {
        let ran = run(&format!(
            "    @limits(memory=\"{outer}\") {{\n        @limits(memory=\"{inner}\", cpu=1m) {{\n            \
             {}\n        }}\n    }}",
            allocates(200)
        ));
        ran.code(1).says("MemoryError").says("@limits(memory=\"64M\", cpu=1m)");
    }
}

#[test]
fn a_process_that_computes_too_long_is_ended_and_it_is_said_why() {
    for burner in [
        "( while :; do :; done )",
        "sh -c 'while :; do :; done'",
        "@shell(\"while :; do :; done\", shell=\"dash\")",
        "@parallel { sh -c 'while :; do :; done' }",
    ] {
        let ran = run(&format!("    @limits(cpu=1s) {{\n        {burner}\n    }}"));
        ran.code(152).says("exceeded its CPU time").says("`@limits(cpu=1s)`");
    }
    // Time that only passes is not counted.
    run("    @limits(cpu=1s) {\n        sleep 1.2\n    }").code(0);
}

/// Starts processes until it cannot, and says how many there were.
const BOMB: &str = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 \
                    30; do sleep 5 & done; jobs -p | wc -l; kill $(jobs -p); wait";

#[test]
fn a_fork_bomb_is_bounded() {
    let text =
        format!("fun up() {{\n    @limits(processes=10) {{\n        ( {BOMB} )\n    }}\n}}\n");
    let opal = Opal::machine(&text);
    let own = opal.call(&["up"]);
    // Root without a control group is told so.
    if !own.stderr.contains("no cgroup can be created") {
        assert!(own.stderr.contains("esource temporarily unavailable"), "{own:#?}");
        assert_ne!(own.code, 0, "{own:#?}");
        own.says("@limits(processes=10)");
    }
    // Another user has other records.
    let opal = Opal::machine(&text);
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(opal.path(), open).unwrap();
    let Some(ran) = opal.as_nobody(&["up"]) else { return };
    assert!(ran.stderr.contains("esource temporarily unavailable"), "{ran:#?}");
    assert_ne!(ran.code, 0, "{ran:#?}");
}

#[test]
fn limits_are_part_of_the_plan_and_of_its_hash() {
    let hash = |limit: &str| {
        let opal = Opal::machine(&format!(
            "fun up() {{\n    @limits({limit}) {{\n        true\n    }}\n}}\n"
        ));
        opal.call(&["plan", "up"]).code(0).says("@limits");
        opal.call(&["plan", "up", "--json"]).json()["header"]["plan_hash"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let all = [hash("memory=\"64M\""), hash("memory=\"65M\""), hash("processes=5"), hash("cpu=5s")];
    for (index, one) in all.iter().enumerate() {
        assert!(!all[..index].contains(one), "{all:?}");
    }
}

#[test]
fn a_limit_that_is_none_is_an_error_before_anything_runs() {
    for (limit, code) in [
        ("memory=\"lots\"", "E0508"),
        ("memory=\"0\"", "E0508"),
        ("memory=\"1.5G\"", "E0508"),
        ("processes=0", "E0507"),
        ("processes=\"5\"", "E0505"),
        ("cpu=5", "E0505"),
    ] {
        let text = format!(
            "fun up() {{\n    echo first\n    @limits({limit}) {{\n        true\n    }}\n}}\n"
        );
        Opal::machine(&text).args(["up"]).run().code(65).says(code).hides("first\n");
    }
}
