use super::*;
use crate::Code;
use crate::decorator::Presence;
use crate::types::Choices;

const PARAMS: [Param; 3] = [
    Param { name: "path", alias: Some("file"), ..Param::BASE },
    Param { name: "count", ty: Type::Int, range: Some((1, 9)), ..Param::BASE },
    Param { name: "mode", presence: Presence::Optional, pattern: Some("a|bb"), ..Param::BASE },
];

struct Rest(&'static str, bool);

impl Parameter for Rest {
    fn name(&self) -> &str {
        self.0
    }

    fn is_required(&self) -> bool {
        true
    }

    fn is_rest(&self) -> bool {
        self.1
    }
}

#[test]
fn an_argument_by_position_goes_to_the_first_parameter_without_a_value() {
    let mut binding = Binding::new(&PARAMS);
    assert_eq!(binding.by_name("count", 1), Ok(1));
    assert_eq!(binding.by_position(2), Ok(0));
    assert_eq!(binding.by_position(3), Ok(2));
    assert_eq!(binding.by_position(4), Err(BindError::TooMany));
    assert_eq!(binding.given("path"), Some(2));
}

#[test]
fn a_parameter_gets_one_argument_under_either_name() {
    let mut binding = Binding::new(&PARAMS);
    assert_eq!(binding.by_position("here"), Ok(0));
    let again = BindError::Repeated { index: 0, first: "here" };
    assert_eq!(binding.by_name("file", "there"), Err(again));
    assert_eq!(binding.by_name("fil", "there"), Err(BindError::Unknown));
    assert_eq!(binding.missing().map(|param| param.name).collect::<Vec<_>>(), ["count"]);
}

#[test]
fn a_rest_takes_all_that_follows_and_is_never_missing() {
    let params = [Rest("first", false), Rest("others", true)];
    let mut binding = Binding::new(&params);
    assert_eq!(binding.missing().map(|param| param.0).collect::<Vec<_>>(), ["first"]);
    let bound: Vec<_> = (0..4).map(|at| binding.by_position(at)).collect();
    assert_eq!(bound, [Ok(0), Ok(1), Ok(1), Ok(1)]);
}

#[test]
fn exactly_one_of_some_is_given() {
    let given = |names: &'static [&'static str]| {
        exactly_one(&["a", "b", "c"], move |name| names.contains(&name).then_some(()))
    };
    assert_eq!(given(&["b"]), Ok(()));
    assert_eq!(given(&[]), Err(ExactlyOneError::None));
    let two = ExactlyOneError::Two { first: ("a", ()), second: ("c", ()) };
    assert_eq!(given(&["c", "a"]), Err(two));
    assert_eq!(exactly_one(&[], |_| None::<()>), Ok(()));
}

#[test]
fn every_rule_of_a_parameter_is_checked() {
    let one_of = Param { ty: Type::OneOf(Choices::Static(&["x", "y"])), ..Param::BASE };
    let ints = Param { ty: Type::array(Type::Int), ..Param::BASE };
    let regex = Param { ty: Type::Regex, ..Param::BASE };
    let list = |item: Value| Value::Array(vec![Value::Int(1), item]);
    for (param, value, expected) in [
        (&PARAMS[1], Value::Int(9), None),
        (&PARAMS[1], Value::Int(10), Some(Code::OutOfRange)),
        (&PARAMS[1], Value::text("9"), Some(Code::WrongType)),
        (&PARAMS[2], Value::text("bb"), None),
        (&PARAMS[2], Value::text("bb\n"), Some(Code::PatternMismatch)),
        (&one_of, Value::text("y"), None),
        (&one_of, Value::text("z"), Some(Code::NotAChoice)),
        (&one_of, Value::Int(1), Some(Code::WrongType)),
        (&ints, list(Value::Int(2)), None),
        (&ints, list(Value::text("2")), Some(Code::WrongType)),
        (&regex, Value::text("a+"), Some(Code::WrongType)),
    ] {
        let found = check(param, &value).err().map(|mismatch| mismatch.code());
        assert_eq!(found, expected, "{} {value}", param.ty);
        // At run time the same rules hold, but a regex is its text.
        let found = check(param, &Data::from(&value)).err().map(|mismatch| mismatch.code());
        let expected = expected.filter(|_| param.ty != Type::Regex);
        assert_eq!(found, expected, "{} {value} as data", param.ty);
    }
}

#[test]
fn a_hidden_value_is_not_in_the_message() {
    for mismatch in [
        Mismatch::Type { wanted: Type::Int, given: Type::String },
        Mismatch::Choice(Choices::Static(&["canary-a"])),
        Mismatch::Range { low: 1, high: 2 },
        Mismatch::Pattern { pattern: "a", docs: "" },
    ] {
        let literal = mismatch.message("x", Origin::Literal("canary"));
        let hidden = mismatch.message("x", Origin::Hidden);
        assert!(!hidden.contains("canary") && hidden.contains("`x`"), "{hidden}");
        let is_type = matches!(mismatch, Mismatch::Type { .. });
        assert!(literal.contains("`canary`") || is_type, "{literal}");
        assert!(!mismatch.help(Origin::Hidden).concat().contains("did you mean"));
    }
}
