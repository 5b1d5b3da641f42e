use super::*;
use crate::tasks;

/// What `words` give the only task of `source`, or what clap says about them.
fn try_given(source: &str, words: &[&str]) -> Result<BTreeMap<String, Value>, String> {
    let registry = opal_runtime::decorators::registry();
    let parse = opal_syntax::parse(source, &opal_runtime::Words(&registry));
    let tasks = tasks::all(&opal_runtime::lower::outline(&parse, source), source);
    let command = tasks::command(&tasks[0]).no_binary_name(true);
    let matches = command.try_get_matches_from(words).map_err(|error| {
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    })?;
    Ok(given(&tasks[0], &matches))
}

/// As the language writes it.
fn shown(source: &str, words: &[&str]) -> String {
    let all = try_given(source, words).unwrap_or_else(|error| panic!("{error}"));
    let all: Vec<String> = all.iter().map(|(name, value)| format!("{name}={value}")).collect();
    all.join(" ")
}

#[test]
fn every_type_is_read_as_itself() {
    for (param, word, value) in [
        ("x: String", "3", "x=\"3\""),
        ("x", "3", "x=\"3\""),
        ("x: Int", "-9223372036854775808", "x=-9223372036854775808"),
        ("x: Float", "-2", "x=-2.0"),
        ("x: Bool", "false", "x=false"),
        ("x: Duration", "90s", "x=1m30s"),
        ("x: \"a\" | \"b\"", "b", "x=\"b\""),
        ("x: Array", "a,,b c", "x=[\"a\", \"\", \"b c\"]"),
        ("x: Array", "", "x=[]"),
        ("x: Array[Int]", "1,-2", "x=[1, -2]"),
        ("x: Array[String]", r"a\,b,c\\,\d", r#"x=["a,b", "c\\", "\\d"]"#),
        ("x: Map", "", "x={}"),
        ("x: Map", "b=1,a=x=y", "x={\"a\": \"x=y\", \"b\": \"1\"}"),
        ("x: Map", r"a\=b=c", "x={\"a=b\": \"c\"}"),
        ("x: Map[Int]", "n=3", "x={\"n\": 3}"),
    ] {
        let source = format!("fun a({param}) = echo\n");
        assert_eq!(shown(&source, &["--", word]), value, "{param} {word}");
    }
}

#[test]
fn only_what_was_given_is_there() {
    let source = "fun a(s: String, n = 2, on = false, off = true, d = @env.X) = echo\n";
    assert_eq!(shown(source, &["x"]), "s=\"x\"");
    assert_eq!(shown(source, &["x", "--n", "-3"]), "n=-3 s=\"x\"");
    assert_eq!(shown(source, &["x", "--on", "--no-off"]), "off=false on=true s=\"x\"");
    assert_eq!(shown(source, &["x", "--d=7"]), "d=\"7\" s=\"x\"");
}

#[test]
fn the_last_switch_counts() {
    let source = "fun a(wait = true) = echo\n";
    assert_eq!(shown(source, &["--wait", "--no-wait"]), "wait=false");
    assert_eq!(shown(source, &["--no-wait", "--wait"]), "wait=true");
}

#[test]
fn a_parameter_of_its_own_is_no_off_switch() {
    let source = "fun a(wait = true, no_wait = \"x\") = echo\n";
    assert_eq!(shown(source, &["--no-wait", "y"]), "no_wait=\"y\"");
}

#[test]
fn a_hidden_name_is_a_flag_of_its_own_where_another_has_the_short_one() {
    let source = "fun a(_a = 1, a = 2) = echo\n";
    assert_eq!(shown(source, &["--a", "5"]), "a=5");
    assert_eq!(shown(source, &["--_a", "5"]), "_a=5");
    let source = "fun a(_a = 1, __a = 2) = echo\n";
    assert_eq!(shown(source, &["--_a", "5", "--__a=6"]), "__a=6 _a=5");
    let source = "fun a(wait = true, _no_wait = 1) = echo\n";
    assert_eq!(shown(source, &["--no-wait", "--_no_wait=3"]), "_no_wait=3 wait=false");
    let source = "fun a(_x = true, x = false) = echo\n";
    assert_eq!(shown(source, &["--no-_x", "--x"]), "_x=false x=true");
    assert_eq!(shown("fun a(_help = 1) = echo\n", &["--help", "2"]), "_help=2");
    assert_eq!(shown("fun a(_quiet = 1) = echo\n", &["--quiet", "2"]), "_quiet=2");
}

#[test]
fn a_default_that_is_worked_out_from_constants_has_their_type() {
    for (default, word, value) in [
        ("1 + 2", "5", "5"),
        ("-(1 + 2)", "5", "5"),
        ("1 + 2.5", "5", "5.0"),
        ("2 * 3s", "5s", "5s"),
        ("\"a\" + \"b\"", "5", "\"5\""),
        ("1...3", "4,5", "[4, 5]"),
    ] {
        let source = format!("fun a(n = {default}) = echo\n");
        assert_eq!(shown(&source, &[&format!("--n={word}")]), format!("n={value}"), "{default}");
    }
    assert_eq!(shown("fun a(n = 1 < 2) = echo\n", &["--no-n"]), "n=false");
    assert_eq!(shown("fun a(n = !(1 < 2)) = echo\n", &["--n"]), "n=true");
    assert!(try_given("fun a(n = 1 + 2) = echo\n", &["--n=x"]).is_err());
}

#[test]
fn the_rest_is_an_array_of_words() {
    let source = "fun a(first, others...) = echo\n";
    assert_eq!(shown(source, &["1", "2", "a,b"]), "first=\"1\" others=[\"2\", \"a,b\"]");
    assert_eq!(shown(source, &["1"]), "first=\"1\" others=[]");
}

#[test]
fn a_wrong_type_names_the_parameter_the_type_and_the_word() {
    for (param, word, says) in [
        ("n: Int", "x", "an Int is wanted, as in `3`"),
        ("n: Int", "9223372036854775808", "no larger than 64 bits"),
        ("n: Float", "inf", "a Float is wanted"),
        ("n: Duration", "5", "a Duration is wanted, as in `1m30s`: a duration is whole numbers"),
        ("n: Bool", "yes", "true"),
        ("n: \"a\" | \"b\"", "c", "a, b"),
        ("n: Array[Int]", "1,x", "`x`: an Int is wanted"),
        ("n: Array", "[1,2]", "an Array is wanted, as in `a,b`, without brackets"),
        ("n: Map", "a", "`a` has no `=`"),
        ("n: Map", "a=1,a=2", "the key `a` is there twice"),
        ("n: Map", "{a: 1}", "without brackets"),
    ] {
        let source = format!("fun a({param}) = echo\n");
        let error = try_given(&source, &[word]).unwrap_err();
        assert!(error.contains(says), "{param} {word}: {error}");
        assert!(error.contains("<N>") && error.contains(word), "{param} {word}: {error}");
    }
}
