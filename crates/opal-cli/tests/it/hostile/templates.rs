//! A template has so much memory and time, whatever it asks for.

use crate::support::Opal;

fn project(template: &str) -> Opal {
    let config = "version: 1\nsteps:\n  - {id: t, type: template, source: t.j2, destination: out, \
                  vars: {name: \"ann\", list: \"a\"}}\n";
    Opal::machine("").file("a.yaml", config).file("t.j2", template)
}

#[test]
fn a_template_that_asks_for_any_amount_of_memory_is_refused() {
    for template in [
        "{{ [1]|batch(1000000000, 'x')|list }}",
        "{{ 'a' * 100000000 * 100000000 }}",
        "{{ ('a' * 60000000)|replace('a', 'b' * 60000000) }}",
        "{{ 'a'|indent(100000000000) }}",
        "{{ '%100000000000d' % 1 }}",
        "{% set ns = namespace(s='0123456789') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}\
         {% endfor %}{{ ns.s }}",
        "{% macro f(s, n) %}{% if n %}{{ f(s ~ s, n - 1) }}{% endif %}{% endmacro %}{{ f('abcdefgh', 60) }}",
        "{{ range(100000)|map('string')|join('x' * 10000000) }}",
    ] {
        let opal = project(template);
        for args in [&["verify", "a.yaml"][..], &["apply", "a.yaml", "--dry-run"]] {
            let ran = opal.call(args);
            assert!(matches!(ran.code, 1..=3 | 65), "{template} {args:?} {ran:#?}");
        }
        assert!(!opal.path().join("out").exists(), "{template}");
    }
}

#[test]
fn a_template_that_computes_within_bounds_is_rendered_as_ever() {
    let template =
        "{% set who = name ~ '!' %}{{ who|upper }} {{ 'ab' * 3 }} {{ [1, 2]|join('-') }}\n";
    let opal = project(template);
    opal.call(&["apply", "a.yaml", "-y"]).code(0);
    assert_eq!(opal.read("out"), "ANN! ababab 1-2\n");
    opal.call(&["verify", "a.yaml"]).code(0);
    let missing = project("{{ nobody ~ 'x' }}\n");
    missing.call(&["verify", "a.yaml"]).says("nobody");
}
