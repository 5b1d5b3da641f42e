//! Attacks on files: each must be refused, with a reason.

use opal_core::contract::{Encoding, Frame, encode};

use crate::contract::raw::{PROVENANCE, Raw, STEP};
use crate::contract::support::{AUTH_KEY, VARIANTS, accept, decode};

#[track_caller]
fn refused(raw: &Raw, reason: &str) {
    let error = decode(&raw.bytes()).map(|_| ()).unwrap_err();
    assert!(error.contains(reason), "`{error}` does not say `{reason}`");
}

#[test]
fn every_changed_bit_is_refused() {
    for variant in VARIANTS {
        let whole = variant.bytes();
        assert!(variant.compress || whole.len() > 4_000, "{} bytes", whole.len());
        accept(&whole).unwrap();
        let mut bytes = whole.clone();
        for index in 0..bytes.len() {
            for bit in 0..8 {
                bytes[index] ^= 1 << bit;
                assert!(accept(&bytes).is_err(), "{}: bit {bit} of byte {index}", variant.name);
                bytes[index] ^= 1 << bit;
            }
        }
    }
}

#[test]
fn what_is_decoded_from_changed_bytes_gives_them_back() {
    let mut bytes = VARIANTS[0].bytes();
    let code = bytes.len() - 40;
    let mut decoded = 0;
    for index in 0..bytes.len() {
        let bit = 1 << (index % 8);
        bytes[index] ^= bit;
        if let Ok(contract) = decode(&bytes) {
            let envelope = Frame::read(&bytes).unwrap().envelope();
            let encoding =
                Encoding { envelope, auth_key: &AUTH_KEY, compress: false, signer: None };
            let again = encode(&contract, &encoding).unwrap();
            assert!(again[..code] == bytes[..code], "byte {index}");
            decoded += 1;
        }
        bytes[index] ^= bit;
    }
    assert!(decoded > 1_000, "digests, texts and the envelope can say anything: {decoded}");
}

#[test]
fn a_cut_file_is_refused_at_every_length() {
    for variant in VARIANTS {
        let whole = variant.bytes();
        for length in 0..whole.len() {
            assert!(accept(&whole[..length]).is_err(), "{}: {length}", variant.name);
        }
    }
}

#[test]
fn another_key_is_refused() {
    let bytes = VARIANTS[0].bytes();
    let frame = Frame::read(&bytes).unwrap();
    assert!(frame.authenticate(&[0; 32]).is_err());
}

#[test]
fn every_field_of_the_header_out_of_range_is_refused() {
    decode(&Raw::default().bytes()).unwrap();
    let raw = Raw::default;
    refused(&Raw { major: 2, ..raw() }, "HEADER at offset 4: unsupported format version 2");
    refused(&Raw { major: 0, ..raw() }, "HEADER at offset 4: unsupported format version 0");
    for bit in 3..16 {
        let flags = 0b100 | 1 << bit;
        refused(&Raw { flags, ..raw() }, "HEADER at offset 8: unknown flag");
    }
    refused(&Raw { flags: 0, ..raw() }, "HEADER at offset 8: missing authentication record");
    refused(&Raw { flags: 0b110, ..raw() }, "SIGNATURE at offset");
    refused(&Raw { mode: 0, ..raw() }, "HEADER at offset 10: a quick plan is not a contract");
    refused(&Raw { mode: 2, ..raw() }, "HEADER at offset 10: unknown mode 2");
    refused(&Raw { hash: 2, ..raw() }, "HEADER at offset 11: unknown hash algorithm 2");
    for created in [-1, i64::MIN, i64::MAX] {
        refused(&Raw { created, ..raw() }, "HEADER at offset 24: the time");
    }
    for count in [0, 2, u32::MAX] {
        assert!(decode(&Raw { step_count: Some(count), ..raw() }.bytes()).is_err());
        refused(&Raw { provenance_bytes: Some(count), ..raw() }, "PROVENANCE at offset");
    }
    for count in [1, u32::MAX] {
        assert!(decode(&Raw { value_count: Some(count), ..raw() }.bytes()).is_err());
    }
    let mut bytes = raw().bytes();
    bytes[0] = b'o';
    assert!(decode(&bytes).unwrap_err().contains("`OPAL`"));
}

#[test]
fn wrong_counts_in_packed_sections_are_refused() {
    let values = vec![(b"env.A".to_vec(), 0)];
    let raw = Raw { values, ..Raw::default() }.compressed();
    decode(&raw.bytes()).unwrap();
    refused(&Raw { step_count: Some(0), ..raw.clone() }, "more steps than the header says");
    refused(&Raw { step_count: Some(2), ..raw.clone() }, "STEPS, unpacked, at offset");
    refused(&Raw { value_count: Some(0), ..raw.clone() }, "more values than the header says");
    refused(&Raw { value_count: Some(9), ..raw }, "VALUES, unpacked, at offset");
}

#[test]
fn bytes_after_the_end_are_refused() {
    for trailing in [vec![0], vec![0; 8], vec![1, 0, 0, 0, 0, 0, 0, 0]] {
        refused(&Raw { trailing, ..Raw::default() }, "unexpected bytes after the end of the file");
    }
}

#[test]
fn unknown_and_misplaced_records_are_refused() {
    for (algorithm, length) in [(2, 16), (1, 31), (1, 33), (0, 64)] {
        let records = vec![(algorithm, vec![0; length])];
        refused(&Raw { records, ..Raw::default() }, "SIGNATURE at offset");
    }
}

#[test]
fn padding_that_is_not_zero_is_refused() {
    let whole = Raw::default().bytes();
    // TARGET is two bytes and six, so its padding is none; that of ENVELOPE is known.
    let end = 104 + 4 + crate::contract::support::ENVELOPE.len();
    assert_ne!(end % 8, 0);
    for index in end..end.next_multiple_of(8) {
        let mut bytes = whole.clone();
        bytes[index] = 1;
        let error = decode(&bytes).unwrap_err();
        assert_eq!(error, format!("ENVELOPE at offset {index}: the padding is not zero"));
    }
}

#[test]
fn unsorted_duplicate_and_foreign_values_are_refused() {
    let values = |keys: &[&str]| {
        let values = keys.iter().map(|key| (key.as_bytes().to_vec(), 0)).collect();
        Raw { values, ..Raw::default() }
    };
    decode(&values(&["env.A", "env.B"]).bytes()).unwrap();
    refused(&values(&["env.B", "env.A"]), "unsorted");
    refused(&values(&["env.A", "env.A"]), "duplicated");
    refused(
        &Raw { values: vec![(b"env.A".to_vec(), 1)], ..Raw::default() },
        "differs from the one in the",
    );
    refused(
        &Raw { values: vec![(b"env.A".to_vec(), 7)], ..Raw::default() },
        "unknown hash algorithm 7",
    );
    refused(&Raw { values: vec![(b"\xff".to_vec(), 0)], ..Raw::default() }, "not UTF-8");
    let uses = r#"{"args":{"a":{"value":"env.A"}},"decorator":"@log","path":"p"}"#;
    refused(&Raw::with_step(uses), "`env.A` is not in VALUES");
    refused(&Raw { target: b"\xff".to_vec(), ..Raw::default() }, "TARGET at offset 98");
}

#[test]
fn every_other_spelling_of_an_argument_is_refused() {
    let step = |args: &str| format!(r#"{{"args":{{"a":{args}}},"decorator":"@log","path":"p"}}"#);
    let accepted = [
        "0",
        "null",
        "true",
        "\"\"",
        "[]",
        r#"{"map":{}}"#,
        r#"{"float":"1.5"}"#,
        r#"{"float":"-0.0"}"#,
        r#"{"duration":"1m30s"}"#,
        r#"{"duration":"-1s"}"#,
        r#"{"text":[]}"#,
        r#"{"shell":["a",{"raw":"b"}]}"#,
        r#"{"let":"x","name":"y"}"#,
        r#"{"access":[1,"b",null],"let":"x","name":"y"}"#,
    ];
    for args in accepted {
        decode(&Raw::with_step(&step(args)).bytes())
            .unwrap_or_else(|error| panic!("{args}: {error}"));
    }
    let refused = [
        " 0",
        "00",
        "1.5",
        "1e5",
        "9223372036854775808",
        "\"\\u000a\"",
        "\"\\/\"",
        "[0,]",
        "{}",
        r#"{"map":{"b":1,"a":2}}"#,
        r#"{"map":{"a":1,"a":2}}"#,
        r#"{"float":"1.50"}"#,
        r#"{"float":"NaN"}"#,
        r#"{"float":"inf"}"#,
        r#"{"float":"1"}"#,
        r#"{"float":1}"#,
        r#"{"duration":"90s"}"#,
        r#"{"duration":"-0s"}"#,
        r#"{"deferred":"env.A"}"#,
        r#"{"float":"1.5","text":[]}"#,
        r#"{"name":"y"}"#,
        r#"{"let":"x"}"#,
        r#"{"access":[],"let":"x","name":"y"}"#,
        r#"{"text":[0]}"#,
        r#"{"text":[{}]}"#,
        r#"{"text":[{"data":1,"raw":1}]}"#,
        r#"{"new":1}"#,
        r#"{"float":"1.5","new":1}"#,
    ];
    for args in refused {
        assert!(decode(&Raw::with_step(&step(args)).bytes()).is_err(), "{args}");
    }
}

#[test]
fn every_other_spelling_of_a_step_is_refused() {
    for json in [
        "",
        "0",
        "{}",
        "[]",
        r#"{"decorator":"@log"}"#,
        r#"{"path":"p"}"#,
        r#"{"path":"p","decorator":"@log"}"#,
        r#"{"args":{},"decorator":"@log","path":"p"}"#,
        r#"{"block":[],"decorator":"@log","path":"p"}"#,
        r#"{"decorator":"@log","path":"p","redirects":[]}"#,
        r#"{"decorator":"@log","path":"p","schema":"AB"}"#,
        r#"{"decorator":"@log","new":1,"path":"p"}"#,
        r#"{"decorator":"@log","decorator":"@log","path":"p"}"#,
        r#"{"decorator":"@log","path":"p"} "#,
        "\u{feff}{\"decorator\":\"@log\",\"path\":\"p\"}",
    ] {
        assert!(decode(&Raw::with_step(json).bytes()).is_err(), "{json}");
    }
    let not_utf8 = Raw { steps: vec![b"{\"decorator\":\"\xff\"}".to_vec()], ..Raw::default() };
    let offset = not_utf8.bytes().iter().position(|byte| *byte == 0xff).unwrap();
    refused(&not_utf8, &format!("STEPS at offset {offset}: it is not UTF-8"));
}

#[test]
fn a_construct_or_operator_that_does_not_exist_is_refused() {
    let named = |name: &str| Raw::with_step(&format!(r#"{{"decorator":"{name}","path":"p"}}"#));
    for name in ["unless", "", "If", "shell"] {
        refused(&named(name), "a step with an unknown construct");
    }
    let redirected = |operator: &str| {
        Raw::with_step(&format!(
            r#"{{"decorator":"@log","path":"p","redirects":[{{"operator":"{operator}","shell":["x"]}}]}}"#
        ))
    };
    for operator in [">!", "=>", "01>"] {
        refused(&redirected(operator), "a redirection with an unknown operator");
    }
    let chain = |operators: &str| {
        Raw::with_step(&format!(
            r#"{{"args":{{"operators":{operators}}},"block":[{STEP},{STEP}],"decorator":"chain","path":"p"}}"#
        ))
    };
    for operator in ["&&", "||", "|", ";"] {
        decode(&chain(&format!(r#"["{operator}"]"#)).bytes()).unwrap();
    }
    for operators in [r#"["&"]"#, r#"[""]"#, "[]", r#"[";",";"]"#, "[1]", r#"";""#, "null"] {
        refused(&chain(operators), "a chain with unknown operators");
    }
    let bare = format!(r#"{{"block":[{STEP},{STEP}],"decorator":"chain","path":"p"}}"#);
    refused(&Raw::with_step(&bare), "a chain with unknown operators");
}

#[test]
fn one_value_with_two_schemas_is_refused() {
    let schema = "ab".repeat(32);
    let json = format!(
        r#"{{"args":{{"a":{{"schema":"{schema}","value":"env.A"}},"b":{{"value":"env.A"}}}},"decorator":"@log","path":"p"}}"#
    );
    let values = vec![(b"env.A".to_vec(), 0)];
    refused(&Raw { values, ..Raw::with_step(&json) }, "`env.A` has two schemas");
}

#[test]
fn every_other_spelling_of_the_provenance_is_refused() {
    let provenance = |json: &str| Raw { provenance: json.into(), ..Raw::default() };
    decode(&provenance(PROVENANCE).bytes()).unwrap();
    for json in [
        "",
        "{}",
        "[]",
        r#"{"compiler":"0.1.0"}"#,
        r#"{"placeholder_key_id":"00"}"#,
        r#"{"compiler": "0.1.0","placeholder_key_id":"00"}"#,
        r#"{"placeholder_key_id":"00","compiler":"0.1.0"}"#,
        r#"{"arguments":{},"compiler":"0.1.0","placeholder_key_id":"00"}"#,
        r#"{"compiler":"0.1.0","once":false,"placeholder_key_id":"00"}"#,
        r#"{"compiler":"0.1.0","new":1,"placeholder_key_id":"00"}"#,
        r#"{"compiler":"0.1.0","placeholder_key_id":"00","reads":[]}"#,
        r#"{"compiler":"0.1.0","placeholder_key_id":"00","reasons":{}}"#,
        r#"{"compiler":"0.1.0","placeholder_key_id":"00","reads":[{"decorator":"@a","key":"a","length":1}]}"#,
        r#"{"compiler":"0.1.0","placeholder_key_id":"00","resources":[]}"#,
        r#"{"compiler":"0.1.0","placeholder_key_id":"00","resources":[{"path":"a"}]}"#,
        r#"{"compiler":"0.1.0","placeholder_key_id":"00","resources":[{"path":"a","status":"fine"}]}"#,
        r#"{"compiler":"0.1.0","placeholder_key_id":"00","resources":[{"length":1,"path":"a","status":"drifted"}]}"#,
        r#"{"compiler":"0.1.0","placeholder_key_id":"00","resources":[{"path":"a","prerequisite":false,"status":"blocked"}]}"#,
        r#"{"compiler":"0.1.0","placeholder_key_id":"00","targets":[]}"#,
        r#"{"compiler":"0.1.0","placeholder_key_id":"00","values":{"env.A":{"holders":["a"]}}}"#,
    ] {
        assert!(decode(&provenance(json).bytes()).is_err(), "{json}");
    }
    let target = |more: [&str; 4]| {
        let [key, name, transport, user] = more;
        let digest = "ab".repeat(32);
        let json = format!(
            r#"{{"compiler":"0.1.0","placeholder_key_id":"00","targets":[{{"arch":"x","digest":"{digest}",{key}"length":1,{name}"os":"linux","transport":{transport},"user":{user}}}]}}"#
        );
        decode(&provenance(&json).bytes())
    };
    let name = r#""name":"web1","#;
    target([r#""host_key":"ssh-ed25519 SHA256:a","#, name, r#"["ssh web1"]"#, "0"]).unwrap();
    for bad in [
        [r#""host_key":"ssh-ed25519","#, name, r#"["ssh web1"]"#, "0"],
        [r#""host_key":"a,b SHA256:a","#, name, r#"["ssh web1"]"#, "0"],
        [r#""host_key":"a b\u0000","#, name, r#"["ssh web1"]"#, "0"],
        ["", "", r#"["ssh web1"]"#, "0"],
        ["", name, "[]", "0"],
        ["", name, r#"["ssh web1"]"#, "-1"],
        ["", name, r#"["ssh web1"]"#, "4294967296"],
    ] {
        assert!(target(bad).is_err(), "{bad:?}");
    }
    let signer = "ab".repeat(32);
    let json = format!(r#"{{"compiler":"0.1.0","placeholder_key_id":"00","signer":"{signer}"}}"#);
    refused(&provenance(&json), "if and only if the file is signed");
    for value in [
        r#"{"holders":[]}"#,
        r#"{"holders":["b","a"]}"#,
        r#"{"holders":["a","a"]}"#,
        "{}",
        r#"{"roots":["env.A"]}"#,
    ] {
        let json = format!(
            r#"{{"compiler":"0.1.0","placeholder_key_id":"00","values":{{"env.A":{value}}}}}"#
        );
        let values = vec![(b"env.A".to_vec(), 0)];
        assert!(decode(&Raw { values, ..provenance(&json) }.bytes()).is_err(), "{value}");
    }
}

#[test]
fn a_reason_that_no_writer_gives_is_refused() {
    let reasons = |path: &str, reason: &str| {
        let json =
            format!(r#"{{"compiler":"","placeholder_key_id":"","reasons":{{"{path}":{reason}}}}}"#);
        Raw { provenance: json.into(), ..Raw::default() }
    };
    let path = "deploy.shell[0]";
    let long = |length| format!("\"{}\"", "ß".repeat(length));
    decode(&reasons(path, &long(200)).bytes()).unwrap();
    for reason in [&*long(201), r#""a\nb""#, "\"a\u{85}b\"", "\"a\u{2028}b\"", "\"\""] {
        refused(&reasons(path, reason), "a reason must be one line of 1 to 200 characters");
    }
    refused(&reasons(path, "0"), "PROVENANCE at offset");
    refused(&reasons("p", "\"if a\""), "`p` has a reason but is not a step");
}

#[test]
fn a_wrong_plan_hash_is_refused() {
    let mut bytes = Raw::default().bytes();
    bytes[64] ^= 1;
    assert!(decode(&bytes).unwrap_err().starts_with("HEADER at offset 64: PlanHash"));
}

#[test]
fn nesting_ends_at_128() {
    let array = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        Raw::with_step(&format!(
            r#"{{"args":{{"a":{open}{close}}},"decorator":"@log","path":"p"}}"#
        ))
    };
    // The step and its `args` are two levels.
    decode(&array(126).bytes()).unwrap();
    refused(&array(127), "more than 128 levels of nesting");
    let steps = |levels: usize| {
        let open = r#"{"block":["#.repeat(levels - 1);
        let close = r#"],"decorator":"@retry","path":"p"}"#.repeat(levels - 1);
        Raw::with_step(&format!("{open}{STEP}{close}"))
    };
    decode(&steps(128).bytes()).unwrap();
    refused(&steps(129), "more than 128 levels of steps");
    refused(&steps(50_000), "more than 128 levels of steps");
    refused(&array(1_000_000), "more than 128 levels of nesting");
}

#[test]
fn bombs_are_refused() {
    let raw = Raw::default().compressed();
    let [steps, values] = raw.packed.clone().unwrap();
    let with = |steps: (Vec<u8>, u32)| Raw { packed: Some([steps, values.clone()]), ..raw.clone() };
    // A declared one, and one that hides its size.
    let huge = zstd::bulk::compress(&vec![b' '; 40 << 20], 3).unwrap();
    assert!(huge.len() < 10_000);
    refused(&with((huge.clone(), 40 << 20)), "more than 32 MiB unpacked");
    refused(&with((huge.clone(), u32::MAX)), "more than 32 MiB unpacked");
    refused(&with((huge, steps.1)), "expected one zstd frame");
    refused(&with((steps.0.clone(), steps.1 + 1)), "expected one zstd frame");
    refused(&with((steps.0.clone(), 0)), "expected one zstd frame");
    refused(&with(([steps.0.clone(), steps.0.clone()].concat(), steps.1 * 2)), "expected one zstd");
    refused(&with(([&steps.0[..], &[0]].concat(), steps.1)), "expected one zstd frame");
    let skippable = [&0x184D_2A50_u32.to_le_bytes()[..], &[0; 4], &steps.0].concat();
    refused(&with((skippable, steps.1)), "expected one zstd frame");
    refused(&with((Vec::new(), 0)), "expected one zstd frame");
    let mut streamed = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    std::io::Write::write_all(&mut streamed, &vec![0; 1 << 20]).unwrap();
    refused(&with((streamed.finish().unwrap(), 1 << 20)), "expected one zstd frame");
}

#[test]
fn more_than_32_mib_is_refused() {
    let bytes = vec![0; (32 << 20) + 1];
    assert!(decode(&bytes).unwrap_err().contains("32 MiB"));
    let steps = vec![STEP.into(); (32 << 20) / 48];
    let raw = Raw { steps, ..Raw::default() }.compressed();
    assert!(raw.bytes().len() < 1 << 20);
    refused(&raw, "more than 32 MiB unpacked");
}

#[test]
fn more_than_a_hundred_thousand_steps_are_refused() {
    let steps = |count| Raw { steps: vec![STEP.into(); count], ..Raw::default() }.compressed();
    decode(&steps(100_000).bytes()).unwrap();
    refused(&steps(100_001), "more than 100000 steps");
}
