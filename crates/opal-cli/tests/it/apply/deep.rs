//! Templates that nest without end, in one step of many and in a single one.

use crate::support::Opal;

const ENDLESS: &str = "{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}";

fn config(others: usize) -> String {
    let step = |n| format!("  - {{id: o{n}, type: directory, path: o{n}}}\n");
    let others: String = (0..others).map(step).collect();
    format!(
        "version: 1\nsteps:\n  - {{id: deep, type: template, source: deep.j2, destination: \
         made}}\n{others}"
    )
}

#[test]
fn what_nests_too_deeply_is_a_failure_and_never_the_end_of_opal() {
    let brackets = format!("{{{{ {}1{} }}}}", "(".repeat(150), ")".repeat(150));
    let blocks = format!("{}{}", "{% if 1 %}".repeat(150), "{% endif %}".repeat(150));
    let chain = format!("{{{{ 1{} }}}}", " + 1".repeat(50_000));
    for template in [ENDLESS, &brackets, &blocks, &chain] {
        let opal = Opal::machine("").file("deep.j2", template);
        let opal = opal.file("one.yaml", config(0)).file("many.yaml", config(3));
        for file in ["one.yaml", "many.yaml"] {
            for call in [&["verify", file][..], &["apply", file], &["apply", file, "--dry-run"]] {
                opal.call(call).code(1).says("deep.j2` cannot be rendered: line 1: ");
            }
        }
    }
}

#[test]
fn a_macro_that_calls_itself_renders_beside_other_steps_as_it_does_alone() {
    let template =
        "{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}.{% endif %}{% endmacro %}{{ m(80) }}";
    for others in [0, 3] {
        let opal = Opal::machine("").file("deep.j2", template).file("a.yaml", config(others));
        opal.call(&["apply", "a.yaml", "--jobs", "4"]).code(0);
        assert_eq!(opal.read("made"), ".".repeat(80));
    }
}
