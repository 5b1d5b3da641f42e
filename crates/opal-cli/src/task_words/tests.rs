use std::collections::BTreeMap;
use std::ffi::OsString;

use opal_core::Value;

use crate::failure::Exit;
use crate::options::Behind;
use crate::task_words::{Others, Typed, sort};
use crate::tasks;

/// What `words` give the only task of `source`, or what is said about them.
fn try_given(source: &str, words: &[&str]) -> Result<BTreeMap<String, Value>, String> {
    let registry = opal_decorators::registry();
    let parse = opal_syntax::parse(source, &opal_plan::Words(&registry));
    let tasks = tasks::all(
        &opal_plan::lower::outline(&parse, source, &opal_plan::unit::Links::default()),
        source,
    );
    tasks::command(&tasks[0], "opal").debug_assert();
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let names = || vec!["a".to_owned(), "test".to_owned()];
    let others = Others { names: &names, opal: &|| "opal".to_owned() };
    match sort(&tasks[0], &words, Behind::Work, &others) {
        Ok(Typed::Work(found)) => {
            let mut all = found.arguments;
            if !found.options.is_empty() {
                let options = found.options.iter().map(|it| it.to_string_lossy().into_owned());
                let options = options.map(|it| Value::String(it.into())).collect();
                all.insert("~".into(), Value::Array(options));
            }
            Ok(all)
        }
        Ok(Typed::Missing(missing)) => {
            let failure = missing.failure;
            Err(format!("{}; {}", failure.message, failure.help.join("; ")))
        }
        Ok(help) => Err(format!("{help:?}")),
        Err(failure) => {
            assert_eq!(failure.exit, Exit::Usage);
            Err(format!("{}; {}", failure.message, failure.help.join("; ")))
        }
    }
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
fn every_parameter_is_given_by_position_or_as_a_flag() {
    let source = "fun a(env, replicas = 3, wait = true) = echo\n";
    for words in [
        &["prod", "5", "false"][..],
        &["--env=prod", "--replicas=5", "--no-wait"],
        &["--env", "prod", "--replicas", "5", "--wait=false"],
        &["--replicas=5", "prod", "false"],
        &["prod", "--no-wait", "5"],
    ] {
        let given = shown(source, words);
        assert_eq!(given, "env=\"prod\" replicas=5 wait=false", "{words:?}");
    }
    assert_eq!(shown(source, &["--env", "-x"]), "env=\"-x\"");
    assert_eq!(shown("fun a(long_name) = echo\n", &["--long_name=x"]), "long_name=\"x\"");
    assert_eq!(shown("fun a(long_name) = echo\n", &["--long-name", "x"]), "long_name=\"x\"");
    let twice = try_given(source, &["prod", "--env=x"]).unwrap_err();
    assert!(twice.contains("`env` of `a` is given twice"), "{twice}");
}

#[test]
fn a_rest_takes_every_word_from_its_first_on() {
    let source = "fun a(kind, others...) = echo\n";
    for (words, rest) in [
        (&["css", "--foo"][..], r#"["--foo"]"#),
        (&["css", "x", "--dry-run", "--", "-h"], r#"["x", "--dry-run", "--", "-h"]"#),
        (&["css", "--", "--dry-run"], r#"["--dry-run"]"#),
        (&["--kind=css", "x", "--kind=y"], r#"["x", "--kind=y"]"#),
    ] {
        assert_eq!(shown(source, words), format!("kind=\"css\" others={rest}"), "{words:?}");
    }
    let options = shown(source, &["css", "--dry-run", "-v", "x"]);
    assert_eq!(options, r#"kind="css" others=["x"] ~=["--dry-run", "-v"]"#);
    let source = "fun a(filter = \"\", others...) = echo\n";
    assert_eq!(shown(source, &["--filter", "x", "--", "b"]), r#"filter="x" others=["b"]"#);
    // A flag that is nearly one of opal's is more likely a typo than meant for the rest.
    let typo = try_given("fun a(others...) = echo\n", &["--dry-rum"]).unwrap_err();
    assert!(typo.contains("did you mean `--dry-run`?") && typo.contains("-- --dry-rum"), "{typo}");
}

#[test]
fn what_is_not_for_the_task_is_said() {
    for (source, words, says) in [
        (
            "fun a() = echo\n",
            &["tset"][..],
            "`a` takes no arguments, but got `tset` too; to run two tasks, write `opal a && opal test`",
        ),
        ("fun a(x) = echo\n", &["1", "2"], "takes one argument"),
        ("fun a(x, y) = echo\n", &["1"], "`a` needs `y`; usage: opal a X Y"),
        (
            "fun a(loud = false) = echo\n",
            &["--lout"],
            "unknown option `--lout` of `a`; did you mean `--loud`?",
        ),
        ("fun a(x) = echo\n", &["-h"], "ShortHelp"),
        ("fun a(x) = echo\n", &["--help"], "LongHelp"),
        ("fun a(x) = echo\n", &["--x"], "`--x` of `a` needs a value"),
    ] {
        let said = try_given(source, words).unwrap_err();
        assert!(said.contains(says), "{source} {words:?}: {said}");
    }
}

#[test]
fn a_wrong_type_names_the_parameter_the_type_and_the_word() {
    for (param, word, says) in [
        ("n: Int", "x", "expects an Int, as in `3`"),
        ("n: Int", "9223372036854775808", "at most 64 bits"),
        ("n: Float", "inf", "expects a Float"),
        (
            "n: Duration",
            "5",
            "expects a Duration, as in `1m30s`: a duration consists of whole numbers",
        ),
        ("n: Bool", "yes", "true"),
        ("n: \"a\" | \"b\"", "c", "expects one of \"a\" | \"b\""),
        ("n: Array[Int]", "1,x", "expects an Int, as in `3` for each item"),
        ("n: Array", "[1,2]", "expects an Array, as in `a,b`, without brackets"),
        ("n: Map", "a", "`a` has no `=`"),
        ("n: Map", "a=1,a=2", "has a duplicate key `a`"),
        ("n: Map", "{a: 1}", "without brackets"),
    ] {
        let source = format!("fun a({param}) = echo\n");
        let error = try_given(&source, &[word]).unwrap_err();
        assert!(error.contains(says), "{param} {word}: {error}");
        assert!(error.contains("`n` of `a`") && error.contains(word), "{param} {word}: {error}");
    }
}

#[test]
fn what_is_written_for_arguments_gives_the_same_arguments() {
    let source = "fun a(x, y: Int = 2, z, b: Bool, more...) = echo @var.x\n";
    for words in [
        &["1", "3", "z", "--b"][..],
        &["1", "--z=z z", "--no-b"],
        &["1", "3", "-", "--b", "--", "-m", "--z"],
        &["--z", "-z", "--x", "$(x)", "--b"],
    ] {
        let given = try_given(source, words).unwrap();
        let registry = opal_decorators::registry();
        let parse = opal_syntax::parse(source, &opal_plan::Words(&registry));
        let links = opal_plan::unit::Links::default();
        let tasks = tasks::all(&opal_plan::lower::outline(&parse, source, &links), source);
        let written = tasks::words_with(&tasks[0], &given, &str::to_owned);
        let again: Vec<&str> = written.iter().skip(1).map(String::as_str).collect();
        assert_eq!(try_given(source, &again), Ok(given), "{words:?} is written as {again:?}");
    }
}
