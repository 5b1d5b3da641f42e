use super::*;

fn jinja(source: &str) -> String {
    to_jinja(source).unwrap().text
}

fn fault(source: &str) -> (usize, String) {
    match to_jinja(source).unwrap_err() {
        Fault { line: Some(line), reason: opal_core::template::Reason::Other(message), .. } => {
            (line, message)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn jinja_stays_as_it_is() {
    for source in [
        "",
        "plain { text } }} %}",
        "{{ name }} {{- name -}}",
        "{% for x in items %}{{ x.y }}{% endfor %}",
        "{# {{.x}} #}",
        "{% raw %}{{.x}}{% if %}{% endraw %}",
        "{%- raw -%}{{.x}}{%- endraw -%}{{ x }}",
        "{{ '{{.x}}' }} {{ \"}} .x\" }}",
        "{{ {'a': {'b': 1}}.a.b }}",
        "{{ end }} {{ else }} {{ range }} {{ range(3) }}",
        "{{ not x }} {{ not (x) }} {{ x and y }} {{ x | default('.') }}",
        "{{ 1.5 }} {{ x[0].y }}",
        "{{ unfinished",
        "{{ .unfinished",
    ] {
        assert_eq!(jinja(source), source);
        assert_eq!(demand_jinja(source), Ok(()), "{source}");
    }
}

#[test]
fn values_and_conditions_are_translated() {
    for (go, expected) in [
        ("{{.name}}", "{{ name }}"),
        ("{{ .a.b }}", "{{ a.b }}"),
        ("{{- .a -}}", "{{- a -}}"),
        ("{{$.a}}", "{{ a }}"),
        (
            "{{if .x}}1{{else if .y}}2{{else}}3{{end}}",
            "{% if x %}1{% elif y %}2{% else %}3{% endif %}",
        ),
        ("{{- if .x -}}1{{- end -}}", "{%- if x -%}1{%- endif -%}"),
        ("{{if eq .a \"b\" `c\\`}}{{end}}", r#"{% if (a == "b" or a == "c\\") %}{% endif %}"#),
        ("{{if not (ne .a -1)}}{{end}}", "{% if (not ((a != (-1)))) %}{% endif %}"),
        (
            "{{if and .a (or .b true) nil}}{{end}}",
            "{% if (a and ((b or true)) and none) %}{% endif %}",
        ),
        ("{{eq .a 1.5}}", "{{ \"true\" if (a == (1.5)) else \"false\" }}"),
        ("{{/* a }} comment */}}x", "{# a }} comment #}x"),
        ("{{- /* a #} b */ -}}", "{#- a # } b -#}"),
    ] {
        assert_eq!(jinja(go), expected, "{go}");
    }
}

#[test]
fn ranges_nest_and_know_what_is_around_them() {
    assert_eq!(
        jinja("{{range .l}}{{.}}{{.a}}{{$.b}}{{end}}"),
        "{% for item in l %}{{ item }}{{ item.a }}{{ b }}{% endfor %}"
    );
    assert_eq!(
        jinja("{{range $i, $x := .l}}{{range $x.m}}{{$i}}{{$x}}{{.}}{{else}}{{.n}}{{end}}{{end}}"),
        "{% for x in l %}{% set i = loop.index0 %}{% for item in x.m %}{{ i }}{{ x }}{{ item }}\
         {% else %}{{ x.n }}{% endfor %}{% endfor %}"
    );
    assert_eq!(
        jinja("{{range .l}}{{.item}}{{range $loop := .m}}{{$loop}}{{end}}{{end}}"),
        "{% for item2 in l %}{{ item2.item }}{% for loop2 in item2.m %}{{ loop2 }}{% endfor %}\
         {% endfor %}"
    );
}

#[test]
fn what_may_not_mean_the_same_is_noted_once() {
    let converted = to_jinja("{{.a}}{{.b}}\n{{range $k, $v := .m}}{{$v}}{{end}}").unwrap();
    let notes: Vec<_> = converted.notes.iter().map(|it| (it.line, it.help.as_str())).collect();
    assert_eq!(
        notes,
        [
            (1, "if the value is a Bool, write `{{ name|tojson }}`"),
            (2, "if it is a map, write `{% for k, v in m.items() %}`"),
        ]
    );
}

#[test]
fn lines_stay_where_they_are() {
    let go = "a\n{{if\n  .x\n}}\nb{{/*\n\n*/}}{{end}}\n{{.y}}";
    let found = jinja(go);
    assert_eq!(newlines(&found), newlines(go));
    assert!(found.ends_with("\n{{ y }}"), "{found}");
}

#[test]
fn both_spellings_may_be_mixed() {
    assert_eq!(
        jinja("{% if x %}{{.y}}{% endif %}{{ z|upper }}"),
        "{% if x %}{{ y }}{% endif %}{{ z|upper }}"
    );
}

#[test]
fn what_is_not_supported_is_named_with_its_line() {
    let not =
        |what: &str| format!("`{what}` of Go templates cannot be converted; write it as Jinja");
    let no_dollar =
        |what: &str| format!("`{what}` cannot be used in a template: its names have no `$`");
    for (go, line, message) in [
        ("a\n{{with .x}}{{end}}", 2, not("with")),
        ("\n\n{{ printf \"%s\" .x }}", 3, not("printf")),
        ("{{.x | upper}}", 1, not("|")),
        ("{{$x := .y}}", 1, "`$x` is not set by a `range` around it".into()),
        ("{{template \"x\" .}}", 1, not("template")),
        ("\n{{ ${x} }}", 2, no_dollar("${x}")),
        ("{% if $x.y %}", 1, no_dollar("$x")),
        ("{{range .l}}{{break}}{{end}}", 1, not("break")),
        ("{{range .l}}\n{{.}}", 1, "`range` has no `end`".into()),
        ("{{.x}}\n{{end}}", 2, "`end` without a block".into()),
        ("{{.x}}{{else}}", 1, "`else` without `if` or `range`".into()),
        ("{{if .x}}{{else}}{{else}}{{end}}", 1, "`else` after an `else`".into()),
        ("{{.}}", 1, "`.` alone is allowed only inside `range`".into()),
        ("{{.not}}", 1, "`.not` is a reserved word of Jinja; rename the value".into()),
        ("{{.a..b}}", 1, "invalid name `.a..b`".into()),
        ("{{if eq .a}}{{end}}", 1, "wrong number of arguments for `eq`".into()),
        ("{{if .a \"\\x41\"}}{{end}}", 1, "unexpected `\"` in `.a \"\\x41\"`".into()),
        ("{{if eq .a \"\\x41\"}}{{end}}", 1, not("\\x")),
        ("{{if (eq .a .b}}{{end}}", 1, "`(eq .a .b` is incomplete".into()),
        (
            "{{range $a, $b, $c := .l}}{{end}}",
            1,
            "`range` takes `$item := …` or `$key, $item := …`".into(),
        ),
    ] {
        assert_eq!(fault(go), (line, message), "{go}");
    }
}

#[test]
fn depth_is_bounded() {
    let deep = format!("{{{{if {}.x{}}}}}{{{{end}}}}", "(".repeat(99), ")".repeat(99));
    assert_eq!(fault(&deep).1, "brackets are nested more than 32 levels deep");
    assert_eq!(fault(&"{{if .x}}".repeat(99)).1, "blocks are nested more than 64 levels deep");
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_strange(source in "(\\{\\{|\\}\\}|\\{%|%\\}|[-.$ \"'`(){}a|:=,/*#\n\\\\]|if |range |end|else|eq |é){0,40}") {
        if let Ok(found) = to_jinja(&source) {
            assert_eq!(newlines(&found.text), newlines(&source));
        }
    }
}
