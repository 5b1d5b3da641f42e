use opal_core::Secret;

use super::*;

fn data() -> Data {
    let text = |text: &str| Data::text(text);
    let map = |fields: Vec<(&str, Data)>| {
        Data::Map(fields.into_iter().map(|(name, data)| (name.to_owned(), data)).collect())
    };
    map(vec![
        ("name", text("web")),
        ("port", Data::Int(8080)),
        ("on", Data::Bool(true)),
        ("off", Data::Bool(false)),
        ("ratio", Data::Float(0.5)),
        ("nothing", Data::Null),
        ("wait", Data::Duration(opal_core::Duration::parse("90s").unwrap())),
        ("list", Data::Array(vec![text("a"), text("b")])),
        ("map", map(vec![("x", text("1")), ("y", text("2"))])),
        ("html", text("<&>\"")),
    ])
}

fn fields(data: &Data) -> impl Iterator<Item = (&str, &Data)> + Clone {
    let Data::Map(fields) = data else { panic!("a map is given") };
    fields.iter().map(|(name, data)| (name.as_str(), data))
}

fn render_with(source: &str, allow_missing: bool) -> Result<String, Fault> {
    let bytes = Template::new(source, allow_missing)?.render(fields(&data()))?;
    Ok(String::from_utf8(bytes.to_vec()).unwrap())
}

fn render(source: &str) -> Result<String, Fault> {
    render_with(source, false)
}

#[test]
fn values_render_as_people_write_them() {
    for (source, expected) in [
        ("{{ name }}:{{ port }}", "web:8080"),
        ("{{ on }} {{ ratio }} {{ wait }}", "True 0.5 1m30s"),
        ("{{ html }}", "<&>\""),
        ("{{ list|join(',') }} {{ map.x }}", "a,b 1"),
        ("{% if off %}x{% else %}y{% endif %}", "y"),
        ("{{ missing|default('d') }} {{ missing is defined }}", "d False"),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}", "<1>"),
        ("line\n", "line\n"),
        ("line\n\n", "line\n\n"),
        ("a\r\nb\r\n", "a\r\nb\r\n"),
        ("", ""),
    ] {
        assert_eq!(render(source).as_deref(), Ok(expected), "{source}");
    }
}

#[test]
fn a_converted_template_renders_as_go_would() {
    for (source, expected) in [
        ("{{.name}}:{{ .port }} {{.map.x}}", "web:8080 1"),
        ("{{eq .name \"db\"}} {{(not .off)}} {{ on }}", "false true True"),
        ("{{if .off}}a{{else if eq .port 8080}}b{{else}}c{{end}}", "b"),
        ("{{if and .on (not .off)}}yes{{end}}", "yes"),
        ("{{range .list}}[{{.}}]{{end}}", "[a][b]"),
        ("{{range $i, $x := .list}}{{$i}}={{$x}} {{end}}", "0=a 1=b "),
        (
            "{{range $i, $x := .list}}{{range $.list}}{{$i}}{{.}}{{$x}} {{end}}{{end}}",
            "0aa 0ba 1ab 1bb ",
        ),
        ("{{range .nothing}}x{{else}}none{{end}}", "none"),
        ("a \n {{- if .on }} b {{ end -}} \n c", "a b c"),
        ("a {{- range $i, $x := .list -}} \n {{$i}} {{- end -}} \n c", "a01c"),
        ("{% for x in list %}{{.name}}{{ x }}{% endfor %}", "webawebb"),
    ] {
        let converted = go::convert_template(source).unwrap().text;
        assert_eq!(render(&converted).as_deref(), Ok(expected), "{source} -> {converted}");
    }
}

#[test]
fn the_go_spelling_is_refused_and_the_converter_named() {
    for (source, line, tag) in [
        ("a\n{{.name}}", 2, "{{ .name }}"),
        ("{{if .on}}x{{end}}", 1, "{{ if .on }}"),
        ("{{range $i, $x := .list}}{{end}}", 1, "{{ range $i, $x := .list }}"),
        ("{{ printf \"%s\" .name }}", 1, "{{ printf \"%s\" .name }}"),
    ] {
        let fault = render(source).unwrap_err();
        let message = format!("`{tag}` is a tag of a Go template");
        assert_eq!((fault.line, fault.reason), (Some(line), Reason::Other(message)));
        assert!(fault.help.unwrap().contains("opal convert"), "{source}");
    }
}

#[test]
fn a_name_without_a_value_is_named_with_its_line() {
    for (source, line, name) in [
        ("a\n{{ prot }}", 2, "prot"),
        ("{{ map.z }}", 1, "map.z"),
        ("\n\n{{ nowhere.z }}", 3, "nowhere"),
        ("{% if prot %}{% endif %}", 1, "prot"),
        ("{% for x in prot %}{% endfor %}", 1, "prot"),
        ("{{ prot|upper }}", 1, "prot"),
        ("{{ prot + 1 }}", 1, "prot"),
        ("{{ prot.upper() }}", 1, "prot"),
    ] {
        let reason = Reason::Missing { name: name.to_owned(), is_method: false, near: None };
        let expected = Fault { line: Some(line), reason, help: None };
        assert_eq!(render(source), Err(expected), "{source}");
    }
}

#[test]
fn a_value_that_says_it_is_undefined_is_not_taken_for_a_name() {
    let value = "canary-5150` is undefined";
    for source in
        ["{{ v + 1 }}", "{{ v|int }}", "{{ v() }}", "{{ v.nope() }}", "{{ 1 in 5 }}{{ v }}"]
    {
        let data = Data::text(format!("(`{value}"));
        let values = [("v", &data)];
        let rendered = Template::new(source, false).and_then(|it| it.render(values.into_iter()));
        if let Err(fault) = rendered {
            assert!(matches!(fault.reason, Reason::Other(_)), "{source}: {fault:?}");
            assert!(!format!("{fault:?}").contains("5150"), "{source}: {fault:?}");
        }
    }
}

#[test]
fn names_may_be_missing_where_that_is_allowed() {
    let source = "[{{ a }}{{ a.b.c }}{% if e %}x{% endif %}{% for x in f %}x{% endfor %}]";
    assert_eq!(render_with(source, true).as_deref(), Ok("[]"));
    assert!(render(source).is_err(), "what is kept of one does not serve the other");
}

#[test]
fn what_is_wrong_is_said_without_values() {
    for (source, line, message) in [
        (
            "{{ name + port }}",
            1,
            "invalid operation in `name + port`: tried to use + operator on unsupported types \
             string and number",
        ),
        (
            "{{ range(100000000) }}",
            1,
            "invalid operation in `range(100000000)`: range has too many elements",
        ),
        (
            "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
            1,
            "invalid operation in `m()`: recursion limit exceeded",
        ),
        ("{{ name|int }}", 1, "invalid operation in `int`"),
        ("{{ name|nope }}", 1, "unknown filter `nope`"),
        ("{% include 'x' %}", 1, "a template cannot include another one"),
        ("\n{% import 'template' as x %}{{ x }}", 2, "a template cannot include another one"),
    ] {
        let fault = render(source).unwrap_err();
        assert_eq!(fault.line, Some(line), "{source}: {fault:?}");
        assert_eq!(fault.reason, Reason::Other(message.to_owned()), "{source}");
    }
    let fault = render("a\n{% if %}").unwrap_err();
    assert_eq!(fault.line, Some(2));
}

#[test]
fn work_and_output_are_bounded() {
    let message = |source| match render(source).unwrap_err().reason {
        Reason::Other(message) => message,
        Reason::Missing { name, .. } => panic!("{name}"),
    };
    let endless = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}";
    assert_eq!(message(endless), "rendering takes too many steps");
    let large = "{% for a in range(99) %}{{ 'x' * 1000000 }}{% endfor %}";
    assert_eq!(message(large), "the result is larger than 64 MiB");
    let turning = "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}";
    assert!(render(turning).is_err());
}

#[test]
fn the_names_that_are_asked_for_are_those_of_others() {
    let source = "{% set own = 1 %}{{ own }}{{ HOME }}{{ range(2) }}{{ a.b }}\
                  {% for x in list %}{{ x }}{% endfor %}";
    let template = Template::new(source, false).unwrap();
    let names: Vec<&str> = template.names().iter().map(String::as_str).collect();
    assert_eq!(names, ["HOME", "a", "list"]);
}

#[test]
fn a_fault_shows_nothing_of_a_value() {
    let secret = Data::Map([("s".to_owned(), Data::Text(Secret::new("canary-5150")))].into());
    for source in [
        "{{ s + 1 }}",
        "{{ s|int }}",
        "{{ s.x }}",
        "{{ s() }}",
        "{{ -s }}",
        "{{ s.x() }}",
        "{{ range(s) }}",
        "{{ s < 1 }}{{ [s]|sum }}",
    ] {
        let template = Template::new(source, false).unwrap();
        if let Err(fault) = template.render(fields(&secret)) {
            assert!(!format!("{fault:?}").contains("5150"), "{fault:?}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_template_is_too_strange(
        parts in proptest::collection::vec(
            proptest::sample::select(&[
                "{{", "}}", "{%", "%}", "{#", "#}", "-", " ", "\n", ".", "$", "|", "(", ")", "[", "]",
                "name", ".name", "list", "$x", "if ", "else", "end", "range ", "eq ", "not ", "for x in ",
                "endfor", "endif", "set y = ", "raw", "endraw", "macro m()", "endmacro", "\"", "'", "`",
                "/*", "*/", ":=", ",", "1", "é", "\\",
            ][..]),
            0..30,
        ),
    ) {
        let source: String = parts.concat();
        if let Err(fault) = render(&source) {
            let lines = 1 + source.matches('\n').count();
            proptest::prop_assert!(fault.line.is_none_or(|line| line <= lines), "{source:?} {fault:?}");
        }
    }
}
