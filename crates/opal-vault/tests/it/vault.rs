//! What the scrubber hides, what it leaves alone, and what it holds back.

use std::collections::BTreeMap;

use opal_core::Data;
use opal_vault::{Scrubber, Vault};

use crate::logs::noise;

/// Of texts, each with its label.
fn vault(values: &[(&str, &str)]) -> Vault {
    let vault = Vault::new();
    for (value, label) in values {
        vault.register(&Data::text(*value), label);
    }
    vault
}

fn shown(vault: &Vault, text: &str) -> String {
    vault.scrub(text).text().into_owned()
}

fn push(scrubber: &mut Scrubber, text: &str) -> String {
    scrubber.push(text.as_bytes()).text().into_owned()
}

fn idle(scrubber: &mut Scrubber) -> String {
    scrubber.idle().text().into_owned()
}

fn finish(scrubber: &mut Scrubber) -> String {
    scrubber.finish().text().into_owned()
}

#[test]
fn with_no_values_the_bytes_pass_as_they_are() {
    let vault = Vault::new();
    let mut scrubber = vault.scrubber();
    let bytes = [0xff, 0x1b, b'[', 0x00, b'\r'];
    let pushed = scrubber.push(&bytes);
    assert!(std::ptr::eq(pushed.bytes(), &bytes[..]), "the bytes were copied");
    assert!(scrubber.finish().bytes().is_empty());
}

#[test]
fn what_is_not_utf_8_passes_byte_for_byte() {
    let vault = vault(&[("hunter2hunter2", "‹p›")]);
    let mut bytes: Vec<u8> = (0..=255).collect();
    bytes.extend(b"\x1b[31m\x1b]0;title\x07\x1b(B\r\n\r\x1b[\x80\x1b\n");
    assert_eq!(vault.scrub_bytes(&bytes).bytes(), bytes);
    let with = [&bytes[..], b"hunter2hunter2", &bytes[..]].concat();
    assert_eq!(
        vault.scrub_bytes(&with).bytes(),
        [&bytes[..], "‹p›".as_bytes(), &bytes[..]].concat()
    );
}

#[test]
fn the_longest_of_overlapping_values_gives_the_label() {
    let vault = vault(&[("pass", "‹a›"), ("password123", "‹b›"), ("word1234", "‹c›")]);
    assert_eq!(shown(&vault, "a password123 b"), "a ‹b› b");
    assert_eq!(shown(&vault, "a password1234 b"), "a ‹b› b");
    assert_eq!(shown(&vault, "a pass b"), "a ‹a› b");
    assert_eq!(shown(&vault, "a passing b"), "a passing b");
}

#[test]
fn adjacent_values_have_a_label_each() {
    let vault = vault(&[("abcdefgh", "‹a›"), ("ijklmnop", "‹b›")]);
    assert_eq!(shown(&vault, "abcdefghijklmnop"), "‹a›‹b›");
    assert_eq!(shown(&vault, "abcdefgh:ijklmnop"), "‹a›:‹b›");
}

#[test]
fn short_secrets_are_hidden_only_where_they_are_alone() {
    let vault = vault(&[("k9x2", "‹s›")]);
    for (text, expected) in [
        ("k9x2", "‹s›"),
        ("pin=k9x2;", "pin=‹s›;"),
        ("ak9x2 k9x2b k9x2_ _k9x2 0k9x2", "ak9x2 k9x2b k9x2_ _k9x2 0k9x2"),
        ("\x1b[1mk9x2\x1b[0m", "\x1b[1m‹s›\x1b[0m"),
        ("50%\rk9x2\r\n", "50%\r‹s›\r\n"),
        ("k9x2k9x2", "k9x2k9x2"),
        ("A=1\0PIN=k9x2\0B=2\0", "A=1\0PIN=‹s›\0B=2\0"),
        ("a\x07k9x2\x08b", "a\x07‹s›\x08b"),
        ("ék9x2é", "é‹s›é"),
    ] {
        assert_eq!(shown(&vault, text), expected);
        let mut scrubber = vault.scrubber();
        let mut out = Vec::new();
        for byte in text.as_bytes() {
            out.extend_from_slice(scrubber.push(&[*byte]).bytes());
        }
        out.extend_from_slice(scrubber.finish().bytes());
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

#[test]
fn what_is_too_short_is_left_alone() {
    let vault = Vault::new();
    vault.register(&Data::text("seven77"), "‹a›");
    vault.register(&Data::text("abc"), "‹b›");
    vault.register(&Data::Bool(true), "‹c›");
    vault.register(&Data::Null, "‹d›");
    let text = "abc true null c2V2ZW43Nw== 736576656e3737 xseven77";
    assert_eq!(shown(&vault, text), text);
    assert_eq!(shown(&vault, "(seven77)"), "(‹a›)", "raw and alone it is hidden from four on");
}

#[test]
fn every_value_inside_a_value_is_hidden() {
    let vault = Vault::new();
    let inner = Data::Array(vec![Data::text("inner-secret"), Data::Int(-1_234_567_890)]);
    let mut fields = BTreeMap::from([("list".to_owned(), inner)]);
    fields.insert("float".to_owned(), Data::Float(12_345.678_901));
    fields.insert(
        "wait".to_owned(),
        Data::Duration(opal_core::Duration::parse("123456789s").unwrap()),
    );
    vault.register(&Data::Map(fields), "‹v›");
    let text = "inner-secret -1234567890 12345.678901 list";
    assert_eq!(shown(&vault, text), "‹v› ‹v› ‹v› list");
}

#[test]
fn only_what_may_begin_a_value_is_held_back() {
    let vault = vault(&[("hunter2hunter2", "‹p›")]);
    let mut scrubber = vault.scrubber();
    assert_eq!(push(&mut scrubber, "password? (y) "), "password? (y) ");
    assert_eq!(push(&mut scrubber, "user~ hunt"), "user~ ");
    assert_eq!(push(&mut scrubber, "ing~"), "hunting~");
    assert_eq!(push(&mut scrubber, "~hunter2hunter"), "~");
    assert_eq!(push(&mut scrubber, "2"), "‹p›");
    assert_eq!(push(&mut scrubber, "~hunter2hun"), "~");
    assert_eq!(finish(&mut scrubber), "hunter2hun");
}

#[test]
fn a_resting_stream_shows_less_than_four_characters_of_a_value() {
    let vault = vault(&[("hunter2hunter2", "‹p›")]);
    let mut scrubber = vault.scrubber();
    assert_eq!(push(&mut scrubber, "~hun"), "~");
    assert_eq!(idle(&mut scrubber), "hun");
    assert_eq!(idle(&mut scrubber), "");
    assert_eq!(push(&mut scrubber, "ter2hunter2~"), "‹p›~", "the rest is hidden all the same");
    assert_eq!(push(&mut scrubber, "~hu"), "~");
    assert_eq!(idle(&mut scrubber), "hu");
    assert_eq!(push(&mut scrubber, "mble~"), "mble~");
    assert_eq!(push(&mut scrubber, "~hunt"), "~");
    assert_eq!(idle(&mut scrubber), "", "four of them tell something");
    assert_eq!(finish(&mut scrubber), "hunt");
}

#[test]
fn a_resting_stream_shows_less_than_half_of_a_short_secret() {
    for (secret, shown, held) in
        [("7305", "7", "73"), ("b7-x5", "b7", "b7-"), ("k9#x!2", "k9", "k9#")]
    {
        let vault = vault(&[(secret, "‹s›"), ("-7300-and-so-on", "‹l›")]);
        let mut scrubber = vault.scrubber();
        assert_eq!(push(&mut scrubber, &format!("pin {shown}")), "pin ");
        assert_eq!(idle(&mut scrubber), shown);
        assert_eq!(push(&mut scrubber, "~"), "~");
        assert_eq!(push(&mut scrubber, &format!("pin {held}")), "pin ");
        assert_eq!(idle(&mut scrubber), "", "half of it tells something");
        assert_eq!(push(&mut scrubber, "~"), format!("{held}~"), "it was something else");
        for letter in secret.chars() {
            let now = push(&mut scrubber, &letter.to_string()) + &idle(&mut scrubber);
            assert!(now.len() < 3 && shown.contains(&now), "{now} of {secret}");
        }
        assert_eq!(push(&mut scrubber, "~"), "‹s›~");
    }
    let vault = vault(&[("7305", "‹s›"), ("-7300-and-so-on", "‹l›")]);
    let mut scrubber = vault.scrubber();
    assert_eq!(push(&mut scrubber, "a -73"), "a ");
    assert_eq!(idle(&mut scrubber), "", "the short one may begin in what a long one begins with");
}

#[test]
fn what_a_program_makes_of_backslashes_is_hidden_too() {
    let key = r"KEY:\nMIIEvQIBADAN\nBgkqhkiG9w0B\x41QEF\nEND";
    let vault = vault(&[(key, "‹k›"), (r"pa\\ss$w0rd!long", "‹p›"), (r"a1\\b2", "‹s›")]);
    for (text, expected) in [
        ("KEY:\nMIIEvQIBADAN\nBgkqhkiG9w0BAQEF\nEND\n", "‹k›\n"),
        ("[MIIEvQIBADAN] [BgkqhkiG9w0BAQEF]", "[‹k›] [‹k›]"),
        (r"[BgkqhkiG9w0B\x41QEF]", "[‹k›]"),
        (r"is pa\ss$w0rd!long", "is ‹p›"),
        ("cGFcc3MkdzByZCFsb25n", "‹p›"),
        (r"pin a1\b2.", "pin ‹s›."),
    ] {
        assert_eq!(shown(&vault, text), expected);
    }
}

#[test]
fn a_prompt_appears_when_the_stream_rests() {
    let vault = vault(&[("hunter2hunter2", "‹p›"), ("deadbeefdeadbeef", "‹q›")]);
    let mut scrubber = vault.scrubber();
    let prompt = "\x1b[1mPassword\x1b[0m: ";
    assert_eq!(push(&mut scrubber, prompt) + &idle(&mut scrubber), prompt);
}

#[test]
fn values_registered_while_a_stream_is_open_are_hidden_from_then_on() {
    let vault = vault(&[("hunter2hunter2", "‹p›")]);
    let mut scrubber = vault.scrubber();
    assert_eq!(push(&mut scrubber, "later-secret ~hunter2"), "later-secret ~");
    vault.register(&Data::text("hunter2-and-later"), "‹q›");
    vault.register(&Data::text("later-secret"), "‹r›");
    assert_eq!(push(&mut scrubber, "-and-later later-secret~"), "‹q› ‹r›~");
}

#[test]
fn a_value_registered_before_its_end_is_seen_is_hidden_from_the_held_bytes_on() {
    let vault = Vault::new();
    let mut scrubber = vault.scrubber();
    assert_eq!(push(&mut scrubber, "x"), "x");
    vault.register(&Data::text("k9x2"), "‹s›");
    assert_eq!(push(&mut scrubber, "k9x2 k9x2 "), "k9x2 ‹s› ", "the letter before it is known");
}

#[test]
fn a_long_value_is_hidden_whole_and_what_follows_is_not() {
    let long = noise(9000);
    let vault = vault(&[(&long, "‹l›")]);
    assert_eq!(shown(&vault, &format!("[{long}]")), "[‹l›]");
    assert_eq!(shown(&vault, &format!("[{long}{long}]")), "[‹l›]");
    let mut scrubber = vault.scrubber();
    assert_eq!(push(&mut scrubber, &format!("~{long}")), "~‹l›");
    assert_eq!(push(&mut scrubber, "~ go on? "), "~ go on? ", "nothing waits after its end");
    let cut = &long[..5000];
    assert!(
        shown(&vault, &format!("[{cut}~]")).len() < 200,
        "a part is hidden as far as it agrees"
    );
    assert_eq!(shown(&vault, &long[..20]), &long[..20]);
}

#[test]
fn a_long_value_that_goes_on_after_another_is_hidden_whole() {
    let short = noise(700);
    let long = format!("{short}\n{}", short.to_uppercase());
    for order in [[&short, &long], [&long, &short]] {
        let vault = vault(&[(order[0], "‹l›"), (order[1], "‹l›")]);
        assert_eq!(shown(&vault, &format!("[{long}]")), "[‹l›]");
        assert_eq!(shown(&vault, &format!("[{short}]")), "[‹l›]");
    }
}

#[test]
fn equal_values_keep_the_first_label_and_cost_nothing() {
    let vault = vault(&[("hunter2hunter2", "‹p›")]);
    let memory = vault.memory();
    for index in 0..100 {
        vault.register(&Data::text("hunter2hunter2"), &format!("‹{index}›"));
    }
    assert_eq!(vault.memory(), memory);
    assert_eq!(shown(&vault, "hunter2hunter2"), "‹p›");
}

#[test]
fn debug_tells_counts_only() {
    let vault = vault(&[("hunter2hunter2", "‹p›")]);
    let mut scrubber = vault.scrubber();
    push(&mut scrubber, "hunter2");
    assert_eq!(
        format!("{vault:?} {scrubber:?}"),
        "Vault { values: 1, .. } Scrubber { held: 7, .. }"
    );
}

#[test]
fn streams_of_many_threads_share_a_vault() {
    let vault = Vault::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let vault = &vault;
            scope.spawn(move || {
                let mut scrubber = vault.scrubber();
                for index in 0..20 {
                    let value = format!("value-{thread}-{index}");
                    vault.register(&Data::text(value.as_str()), "‹v›");
                    assert_eq!(push(&mut scrubber, &format!("~{value}~")), "~‹v›~");
                }
            });
        }
    });
}

#[test]
fn a_value_of_a_mebibyte_costs_little_and_is_hidden() {
    let size = if cfg!(debug_assertions) { 64 << 10 } else { 1 << 20 };
    let line = noise(size).replace('k', "\"\\");
    let vault = vault(&[(&line, "‹l›")]);
    assert!(vault.memory() < 3 * size, "{} bytes", vault.memory());
    let json = line.replace('\\', "\\\\").replace('"', "\\\"");
    for form in [&line, &json, &line.bytes().map(|byte| format!("{byte:02x}")).collect()] {
        assert_eq!(shown(&vault, &format!("[{form}]")), "[‹l›]");
    }
}

#[test]
fn values_that_begin_alike_keep_their_labels() {
    let alike = noise(40);
    let (one, other) = (format!("{alike}-first"), format!("{alike}-second"));
    let vault = vault(&[(&one, "‹1›"), (&other, "‹2›"), (&alike[..20], "‹3›")]);
    assert_eq!(shown(&vault, &format!("[{one}] [{other}]")), "[‹1›] [‹2›]");
    assert_eq!(shown(&vault, &format!("[{}]", &alike[..20])), "[‹3›]");
}

#[test]
fn what_only_begins_like_a_value_is_shown() {
    let value = noise(200);
    let vault = vault(&[(&value, "‹v›")]);
    for text in [format!("{}~", &value[..199]), value[..100].to_owned(), value[1..].to_owned()] {
        assert_eq!(shown(&vault, &text), text);
    }
}

#[test]
fn a_value_after_what_looks_like_its_beginning_is_hidden() {
    let value = format!("{}{}", "=".repeat(100), noise(30));
    let vault = vault(&[(&value, "‹v›")]);
    for before in 1..300 {
        let text = format!("{}{value}", "=".repeat(before));
        assert_eq!(shown(&vault, &text), format!("{}‹v›", "=".repeat(before)));
    }
}

#[test]
fn little_is_kept_of_a_long_value() {
    let size = if cfg!(debug_assertions) { 200_000 } else { 8 << 20 };
    let long = vault(&[(&noise(size), "‹v›")]).memory();
    assert!(long < size, "{long} bytes of {size}");
    let lines: String = (0..size / 9).map(|index| format!("{index:08}\n")).collect();
    let lines = vault(&[(&lines, "‹v›")]).memory();
    assert!(lines < 5 * size + (1 << 20), "{lines} bytes of {size} in lines");
}

#[test]
fn a_value_is_hidden_however_a_program_wraps_it() {
    let secret = "s3cr3t_Token-with.umlaut/ü+and=more:than 20";
    let vault = vault(&[(secret, "‹s›")]);
    let letters: Vec<char> = secret.chars().collect();
    for width in 1..=letters.len() {
        for end in ["\n", "\r\n", "\n    "] {
            let lines: Vec<String> =
                letters.chunks(width).map(|line| line.iter().collect()).collect();
            let wrapped = format!("before {}\nafter", lines.join(end));
            assert_eq!(shown(&vault, &wrapped), "before ‹s›\nafter", "{width} {end:?}");
            // In any pieces.
            let mut scrubber = vault.scrubber();
            let mut out = String::new();
            for byte in wrapped.as_bytes().chunks(3) {
                out.push_str(&scrubber.push(byte).text());
            }
            out.push_str(&finish(&mut scrubber));
            assert_eq!(out, "before ‹s›\nafter", "{width} {end:?}");
        }
    }
    // A short one may be what words only happen to say.
    let short = self::vault(&[("cannot-be-12", "‹s›")]);
    assert_eq!(shown(&short, "cannot-\nbe-12"), "cannot-\nbe-12");
}
