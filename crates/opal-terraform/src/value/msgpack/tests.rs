use super::*;

fn read(of: &str) -> Type {
    Type::read(of.as_bytes()).unwrap()
}

#[test]
fn every_kind_of_value_survives_a_round_trip() {
    let a = || Value::text("a");
    let long = Number::decimal("123456789012345678901234567890").unwrap();
    for (of, value) in [
        (r#""string""#, a()),
        (r#""string""#, Value::Null),
        (r#""string""#, Value::Unknown),
        (r#""bool""#, Value::Bool(true)),
        (r#""number""#, Value::int(-129)),
        (r#""number""#, Value::int(i64::MIN)),
        (r#""number""#, Value::Number(Number::float(0.1))),
        (r#""number""#, Value::Number(long)),
        (r#"["list","string"]"#, Value::List(vec![a(), Value::Unknown])),
        (r#"["set","number"]"#, Value::set(vec![Value::int(2), Value::int(1)])),
        (r#"["tuple",["bool","string"]]"#, Value::List(vec![Value::Bool(false), a()])),
        (r#"["map","string"]"#, Value::map([("k", a())])),
        (
            r#"["object",{"x":"number","y":"string"}]"#,
            Value::map([("x", Value::int(1)), ("y", Value::Null)]),
        ),
        (r#""dynamic""#, Value::Typed(Box::new((Type::Number, Value::int(7))))),
    ] {
        let of = read(of);
        let bytes = encode(&value, &of).unwrap();
        assert!(decode(&bytes, &of).unwrap() == value, "{of:?}");
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end], &of).is_err(), "{of:?} cut at {end}");
        }
    }
}

#[test]
fn an_attribute_that_is_left_out_is_null_for_the_provider() {
    let of = read(r#"["object",{"x":"number","y":"string"}]"#);
    let bytes = encode(&Value::map([("x", Value::int(1))]), &of).unwrap();
    assert_eq!(bytes[0], 0x82);
    assert!(decode(&bytes, &of).unwrap() == Value::map([("x", Value::int(1)), ("y", Value::Null)]));
    let other = Value::map([("z", Value::Null)]);
    assert_eq!(encode(&other, &of), Err(Malformed::Key));
}

#[test]
fn any_extension_is_an_unknown_value() {
    let refined = [0xc7, 3, 12, 0x81, 1, 0xc2];
    let plain = [0xd4, 0, 0];
    let long = [0xc8, 0, 2, 99, 1, 2];
    for bytes in [&refined[..], &plain, &long] {
        assert_eq!(decode(bytes, &Type::String), Ok(Value::Unknown));
    }
}

#[test]
fn a_value_of_a_type_that_is_open_carries_its_type() {
    let value = Value::map([("a", Value::List(vec![Value::Bool(true)]))]);
    let bytes = encode(&value, &Type::Dynamic).unwrap();
    let Value::Typed(typed) = decode(&bytes, &Type::Dynamic).unwrap() else { panic!() };
    assert_eq!(typed.0.json().to_string(), r#"["object",{"a":["tuple",["bool"]]}]"#);
    assert!(typed.1 == value);
}

#[test]
fn hostile_bytes_are_refused_before_they_cost_memory() {
    let list = read(r#"["list","string"]"#);
    let nested = (0..100).fold(Type::String, |of, _| Type::List(Box::new(of)));
    let deep = [&[0x91; 80][..], &[0xc0]].concat();
    let wide = [&[0xdd, 0, 1, 0x86, 0xa1][..], &[0xc0; 100_001]].concat();
    let big_map = [0xdf, 0xff, 0xff, 0xff, 0xff];
    let object = read(r#"["object",{"x":"bool","y":"bool"}]"#);
    for (bytes, of, why) in [
        (&[][..], &list, Malformed::Cut),
        (&[0xdd, 0xff, 0xff, 0xff, 0xff], &list, Malformed::Elements),
        (&[0xdd, 0, 0, 0xff, 0xff], &list, Malformed::Cut),
        (&big_map, &read(r#"["map","bool"]"#), Malformed::Elements),
        (&[0xdb, 0xff, 0xff, 0xff, 0xff], &Type::String, Malformed::Cut),
        (&[0xc9, 0xff, 0xff, 0xff, 0xff, 0], &Type::String, Malformed::Cut),
        (&deep, &nested, Malformed::Depth),
        (&wide, &list, Malformed::Elements),
        (&[0xa1, 0xff], &Type::String, Malformed::NotUtf8),
        (&[0xc0, 0xc0], &Type::String, Malformed::Rest),
        (&[0x01], &Type::String, Malformed::Other),
        (&[0xc1], &Type::String, Malformed::Other),
        (&[0xa1, b'x'], &Type::Number, Malformed::Other),
        (&[0x82, 0xa1, b'x', 0xc2, 0xa1, b'x', 0xc2], &object, Malformed::Key),
        (&[0x82, 0xa1, b'x', 0xc2, 0xa1, b'z', 0xc2], &object, Malformed::Key),
        (&[0x81, 0xa1, b'x', 0xc2], &object, Malformed::Key),
        (&[0x92, 0xc4, 1, b'x', 0xc0], &Type::Dynamic, Malformed::Other),
    ] {
        assert_eq!(decode(bytes, of), Err(why), "{:?}", &bytes[..bytes.len().min(8)]);
    }
}
