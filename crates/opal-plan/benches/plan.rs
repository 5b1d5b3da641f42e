//! How fast a plan is made, and whether that grows as the program does.
//!
//! `cargo xtask bench` prints a table; with `--bars` it also fails where a bar is missed. Inputs are
//! without errors. What must be linear is measured at a size and at twice the size.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use opal_core::hash::Algorithm;
use opal_core::selection::Selection;
use opal_plan::Words;
use opal_plan::check;
use opal_plan::plan::{Purpose, Request, Resolved, plan};
use opal_testing::MemoryWorld;
use opal_testing::planning::FixedKeys;

/// From text to plan, checks included, as `opal NAME --dry-run` does it.
fn planned(source: &str, world: &MemoryWorld) -> Resolved {
    let registry = opal_decorators::registry();
    let parse = opal_syntax::parse(source, &Words(&registry));
    let checked = check::check_parsed(&parse, source, &registry);
    assert!(!checked.diagnostics.iter().any(opal_core::Diagnostic::is_error));
    let request = Request {
        unit: checked.unit(),
        registry: &registry,
        text: Some((&parse, source)),
        function: Some("main"),
        arguments: &BTreeMap::new(),
        algorithm: Algorithm::Sha256,
        purpose: Purpose::Run,
        selection: Selection::default(),
    };
    plan(&request, world, &mut FixedKeys).expect("the program is sound")
}

/// The best of many: the one that the rest of the machine disturbed least.
fn best(rounds: usize, source: &str, world: &MemoryWorld) -> Duration {
    let once = || {
        let start = Instant::now();
        let resolved = black_box(planned(source, world));
        let took = start.elapsed();
        drop(resolved);
        took
    };
    (0..rounds).map(|_| once()).min().unwrap_or_default()
}

/// A program as people write them, of about a hundred lines.
fn typical() -> String {
    let mut text = String::from(
        "var REGISTRY = \"registry.example.com\"\nvar TAG = @env.TAG\nvar TOKEN = @env.API_TOKEN\n\n",
    );
    for service in ["api", "worker", "mail", "billing", "search"] {
        let _ = writeln!(
            text,
            "// Deploys {service}.\nfun deploy-{service}(replicas: Int = 2) {{\n    \
             docker build --tag @var.REGISTRY/{service}:@var.TAG .\n    \
             docker push @var.REGISTRY/{service}:@var.TAG\n    \
             if replicas > 1 {{\n        echo scaling {service}\n    }} else {{\n        echo one\n    }}\n    \
             kubectl scale deployment/{service} --replicas=@var.replicas\n    \
             @retry(3, delay=2s) {{\n        curl -H \"Authorization: @var.TOKEN\" -fsS https://{service}.example.com/health\n    }}\n    \
             try {{\n        kubectl rollout status deployment/{service}\n    }} catch {{\n        kubectl rollout undo deployment/{service}\n    }}\n}}\n"
        );
    }
    text.push_str("fun main() {\n");
    for service in ["api", "worker", "mail", "billing", "search"] {
        let _ = writeln!(text, "    @cmd.deploy-{service}(replicas=3)");
    }
    text.push_str("}\n");
    text
}

fn variables(count: usize) -> String {
    let mut text = String::from("var v0 = @env.TAG\n");
    for index in 1..count {
        let _ = writeln!(text, "var v{index} = \"@var.v0()-{index}\"");
    }
    text.push_str("fun main() {\n");
    for index in 0..count {
        let _ = writeln!(text, "    echo @var.v{index}");
    }
    text.push_str("}\n");
    text
}

fn steps(count: usize) -> String {
    format!("fun main() {{\n    for i in 1...{count} {{\n        echo @var.i\n    }}\n}}\n")
}

fn functions(count: usize) -> String {
    let mut text = String::from("fun main() {\n    echo hello\n}\n");
    for index in 0..count {
        let _ = writeln!(text, "fun task{index}(a = 1) {{\n    echo {index} @var.a\n    ls\n}}");
    }
    text
}

/// What grows, how it is made, and the smaller size.
type Growing = (&'static str, fn(usize) -> String, usize);

fn main() -> ExitCode {
    let bars = std::env::args().any(|argument| argument == "--bars");
    let world = MemoryWorld::default().env("TAG", "v1.2.3").env("API_TOKEN", "token-0123456789");
    let mut missed = Vec::new();
    let mut out = std::io::stdout();
    let source = typical();
    let took = best(300, &source, &world);
    let lines = source.lines().count();
    let _ = writeln!(out, "a typical program ({lines} lines)   {:>9.3} ms", ms(took));
    if ms(took) >= 1.0 {
        missed.push(format!("a typical program takes {:.3} ms", ms(took)));
    }
    let growing: [Growing; 3] = [
        ("variables and uses", variables, 4_000),
        ("steps of a loop", steps, 50_000),
        ("functions, one target", functions, 10_000),
    ];
    for (what, make, count) in growing {
        let [small, large] = [count, 2 * count].map(|count| best(5, &make(count), &world));
        let ratio = large.as_secs_f64() / small.as_secs_f64();
        let _ = writeln!(
            out,
            "{count} {what:<24} {:>9.3} ms   twice as many {:>9.3} ms   × {ratio:.2}",
            ms(small),
            ms(large)
        );
        if ratio > 2.6 {
            missed.push(format!("{what}: twice the size takes {ratio:.2} times as long"));
        }
    }
    if bars && !missed.is_empty() {
        let _ = writeln!(out, "missed: {}", missed.join("; "));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}
