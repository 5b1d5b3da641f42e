use minijinja::{Environment, context};

/// What Python gives for each.
#[test]
fn methods_give_what_python_gives() {
    let mut environment = Environment::new();
    environment.set_unknown_method_callback(super::call);
    let values =
        context! { d => context! { a => 1, items => 2 }, t => " a,b ,c\n", l => [1, 2, 1] };
    for (expression, expected) in [
        ("d.items()|list", "[['a', 1], ['items', 2]]"),
        ("d.keys()|join(' ')", "a items"),
        ("d.values()|join(' ')", "1 2"),
        ("d.get('a')", "1"),
        ("d.get('z', 5)", "5"),
        ("d.get('z') is none", "True"),
        ("t.strip()", "a,b ,c"),
        ("t.strip().split(',')|length", "3"),
        ("t.strip().split(',', 1)|last", "b ,c"),
        ("' a  b c '.split()|join('-')", "a-b-c"),
        ("' a  b c '.split(none, 1)|join('-')", "a-b c "),
        ("'xxaxx'.lstrip('x') ~ 'xxaxx'.rstrip('x')", "axxxxa"),
        ("'abc'.startswith('ab')", "True"),
        ("'abc'.endswith(['x', 'bc'])", "True"),
        ("'aaa'.replace('a', 'b', 2)", "bba"),
        ("'aaa'.replace('a', 'b')", "bbb"),
        ("'abcab'.count('ab')", "2"),
        ("l.count(1)", "2"),
        ("'äb'.find('b')", "1"),
        ("'äb'.find('z')", "-1"),
        ("'12'.isdigit() and 'ab'.isalpha() and not ''.isdigit()", "True"),
        ("'a\\nb'.splitlines()|join('-')", "a-b"),
        ("'-'.join(['a', 'b'])", "a-b"),
        ("'aB'.upper() ~ 'aB'.lower() ~ 'aB'.capitalize()", "ABabAb"),
        ("'v1.2'.removeprefix('v').removesuffix('.2')", "1"),
    ] {
        let found = environment.render_str(&format!("{{{{ {expression} }}}}"), &values);
        assert_eq!(found.as_deref().ok(), Some(expected), "{expression}: {found:?}");
    }
    for wrong in ["''.split('')", "d.get()", "d.keys(1)", "t.nope()", "l.upper()"] {
        assert!(environment.render_str(&format!("{{{{ {wrong} }}}}"), &values).is_err(), "{wrong}");
    }
}
