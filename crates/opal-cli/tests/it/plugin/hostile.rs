//! Hostile plugins: each is contained, with the right exit code, what it opened is closed, and no process is left.
//! The table of attacks names the tests of each.

mod table;

use std::fs;

use opal_testing::processes::eventually;

use super::added;
use super::wasm::{decorator, project};

/// What was checked is what is used: files that a step exchanges count from the next run on.
#[test]
fn files_that_are_swapped_during_a_run_are_not_used() {
    let opal =
        added().file("evil.opl", "fun house.greet(who: String, times: Int = 1) = echo evil\n");
    let swap = "fun swap() {\n    cp evil.opl plugins/house/decorators/greet.opl\n    \
                @house.greet(\"world\")\n}\n";
    opal.write("swap.opl", swap);
    opal.call(&["-f", "swap.opl", "swap"]).code(0).stdout("hello world\n");
    opal.call(&["-f", "swap.opl", "swap"]).code(0).stdout("evil\n");
    let opal = project();
    let swap = "fun swap() {\n    rm -r .opal/plugins/compiled; echo evil > guest/plugins/guest.wasm\n    \
                @guest.text(subject=\"data/out\") {\n        content\n    }\n}\n";
    opal.write("swap.opl", swap);
    opal.call(&["-f", "swap.opl", "swap"]).code(0);
    assert_eq!(opal.read("data/out").trim(), "content");
    opal.call(&["-f", "swap.opl", "swap"]).code(69);
}

/// Helpers that nobody waits for any more.
fn orphans() -> Vec<String> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let states = all.filter_map(|it| fs::read_to_string(it.path().join("stat")).ok());
    let is_orphan = |stat: &String| {
        let is_helper = stat.contains("(opal-plugin-hos") || stat.contains("(opal-plugin)");
        is_helper
            && stat.rsplit(") ").next().is_some_and(|rest| rest.split(' ').nth(1) == Some("1"))
    };
    states.filter(is_orphan).collect()
}

#[test]
fn a_hostile_plugin_is_contained() {
    let opal = project();
    let value = "  returns: {version: 1.0.0, type: string}\n";
    let names = ["memory", "large", "calls", "exit", "print", "fetch", "ask"];
    let more: String = names.iter().map(|name| decorator(name, value)).collect();
    let clock = "  x-opal-capabilities: [\"clock\"]\n";
    let manifest = opal.read("guest/dim.yaml").replace("- name: guest.now", "- name: guest.never");
    opal.write(
        "guest/dim.yaml",
        format!("{manifest}{more}").replacen(
            &decorator("calls", value),
            &decorator("calls", &format!("{value}{clock}")),
            1,
        ),
    );
    let all = names.iter().chain(&["loop", "panic"]);
    let tasks: String = all
        .map(|name| format!("fun {name}(what: String = \"x\") = echo @guest.{name}(what)\n"))
        .collect();
    opal.write("commands.opl", tasks);
    opal.call(&["plugin", "install"]).code(0);
    for (task, what, said) in [
        ("loop", "x", "it ran longer than 10 s"),
        ("memory", "x", "memory"),
        ("panic", "x", "failed in `@guest.panic`"),
        ("exit", "x", "failed in `@guest.exit`"),
        ("large", "x", "larger than 8 MiB"),
        ("calls", "x", "more than 10000 times"),
        ("fetch", "GET https://a.example/", "not granted `net:a.example`"),
        ("ask", "id", "not granted `ask:id`"),
    ] {
        let ran = opal.call(&[task, what]);
        assert!(ran.stderr.contains(said), "{task}: {}", ran.stderr);
        ran.code(65).says("acme/guest").stdout("");
    }
    // What it prints is nobody's output.
    let printed = opal.call(&["print", "over all"]);
    assert!(!printed.stdout.contains("over all") && !printed.stderr.contains("over all"));
    eventually("no helper is left", || orphans().is_empty());
}

/// What a step calls fails with the code of a step: 124 for the time limit, 69 for everything else that the engine
/// ends.
#[test]
fn a_hostile_plugin_is_contained_in_a_step_too() {
    let opal = project();
    let block = "  x-opal-block: required\n  x-opal-effect: act\n";
    let more = [
        decorator("acts", "  x-opal-effect: act\n"),
        decorator("begins", block),
        decorator("judges", &format!("{block}  x-opal-attempts: 3\n")),
    ];
    let manifest = opal.read("guest/dim.yaml") + &more.concat();
    opal.write("guest/dim.yaml", manifest);
    let in_block = |name: &str| {
        format!(
            "fun {name}(how: String) {{\n    @guest.{name}(how) {{\n        echo inside\n    }}\n}}\n"
        )
    };
    let state =
        "fun text(how: String) {\n    @guest.text(subject=how) {\n        content\n    }\n}\n";
    let acts = "fun acts(how: String) {\n    @guest.acts(how)\n}\n";
    opal.write("commands.opl", [acts, &in_block("begins"), &in_block("judges"), state].concat());
    opal.call(&["plugin", "install"]).code(0);
    let ways = [
        ("loop", 124, "longer than 10 s"),
        ("memory", 69, ""),
        ("panic", 69, ""),
        ("exit", 69, ""),
    ];
    std::thread::scope(|scope| {
        for task in ["acts", "begins", "judges", "text"] {
            for (how, code, said) in ways {
                let opal = &opal;
                scope.spawn(move || {
                    let ran = opal.call(&[task, how]);
                    assert_eq!(ran.code, code, "{task} {how}: {}", ran.stderr);
                    assert!(ran.stderr.contains("acme/guest"), "{task} {how}: {}", ran.stderr);
                    assert!(ran.stderr.contains(said), "{task} {how}: {}", ran.stderr);
                    assert_eq!(ran.stdout, "", "{task} {how}");
                });
            }
        }
    });
    eventually("no helper is left", || orphans().is_empty());
}

#[test]
fn an_end_that_hangs_is_124_and_named() {
    let opal = project();
    opal.write(
        "commands.opl",
        "fun hangs() {\n    @guest.hang(subject=\"data/token\") {\n        echo inside\n    }\n}\n",
    );
    let ran = opal.call(&["hangs"]);
    ran.code(124)
        .says("it ran longer than 10 s")
        .says("not closed: `@guest.hang`")
        .stdout("inside\n");
    eventually("no helper is left", || orphans().is_empty());
}

#[test]
fn a_secret_that_a_call_read_is_in_nothing_that_it_says() {
    let opal = project();
    let rest = "  returns: {version: 1.0.0, type: string}\n  \
                x-opal-capabilities: [\"env:API_TOKEN\", \"env:PLACE\", \"secrets\"]\n";
    let manifest = opal.read("guest/dim.yaml") + &decorator("env", rest);
    opal.write("guest/dim.yaml", manifest);
    opal.write("commands.opl", "fun read(name: String) = echo @guest.env(name)\n");
    opal.call(&["plugin", "install"]).code(0);
    let opal = opal.env("API_TOKEN", "k9-Zq7-swordfish").env("PLACE", "here and there");
    opal.call(&["read", "PLACE"]).code(0).stdout("here and there\n");
    let ran = opal.call(&["read", "API_TOKEN"]);
    assert!(!ran.stdout.contains("swordfish") && !ran.stderr.contains("swordfish"));
    let plan = opal.call(&["plan", "read", "API_TOKEN", "--resolve"]);
    assert!(!plan.stdout.contains("swordfish") && !plan.stderr.contains("swordfish"));
}
