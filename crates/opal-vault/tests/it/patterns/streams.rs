//! Streams: however they are cut, wherever they rest, and whatever they hold.

use opal_core::Data;
use opal_vault::{Scrubber, Vault};
use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};

use super::{LABEL, LINES_OF_A_LIST, case, hidden_lines, shown, shown_lines};

const CASES: u32 = if cfg!(debug_assertions) { 200 } else { 10_000 };

fn push(scrubber: &mut Scrubber, text: &str) -> String {
    scrubber.push(text.as_bytes()).text().into_owned()
}

fn idle(scrubber: &mut Scrubber) -> String {
    scrubber.idle().text().into_owned()
}

/// What is shown of `text` in pieces of these lengths, over and over; `rests` after each.
fn in_pieces(vault: &Vault, text: &[u8], cuts: &[usize], rests: bool) -> Vec<u8> {
    let mut scrubber = vault.scrubber();
    let (mut seen, mut rest) = (Vec::new(), text);
    for cut in cuts.iter().cycle() {
        let (now, after) = rest.split_at((*cut).min(rest.len()));
        seen.extend_from_slice(scrubber.push(now).bytes());
        if rests {
            seen.extend_from_slice(scrubber.idle().bytes());
        }
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    seen.extend_from_slice(scrubber.finish().bytes());
    seen
}

#[test]
fn a_line_is_shown_when_it_is_whole() {
    let vault = Vault::with_patterns();
    let mut scrubber = vault.scrubber();
    assert_eq!(push(&mut scrubber, "a\nb"), "a\n");
    assert_eq!(push(&mut scrubber, " password=hun"), "");
    assert_eq!(push(&mut scrubber, "ter2\r 50%\r"), "b password=<redacted>\r 50%\r");
    assert_eq!(push(&mut scrubber, "c"), "");
    assert_eq!(scrubber.finish().text(), "c");
}

#[test]
fn a_resting_stream_shows_what_it_holds_up_to_a_value() {
    let vault = Vault::with_patterns();
    let mut scrubber = vault.scrubber();
    push(&mut scrubber, "Continue? [y/N] ");
    assert_eq!(idle(&mut scrubber), "Continue? [y/N] ");
    assert_eq!(idle(&mut scrubber), "");
    assert_eq!(push(&mut scrubber, "y\nPassword: "), "y\n");
    assert_eq!(idle(&mut scrubber), "Password: ", "a prompt appears");
    push(&mut scrubber, "hun");
    assert_eq!(idle(&mut scrubber), "", "it may be an answer");
    assert_eq!(push(&mut scrubber, "ter2 x\n"), "<redacted> x\n");
    push(&mut scrubber, "a token=abc b");
    assert_eq!(idle(&mut scrubber), "a token=<redacted> b");
    assert_eq!(push(&mut scrubber, "c password: x1\n"), "c password: <redacted>\n");
}

#[test]
fn a_resting_stream_shows_no_part_of_a_secret_that_has_begun() {
    let vault = Vault::with_patterns();
    for (text, visible) in [
        ("a password", "a password"),
        ("a \"password\" ", "a \"password\" "),
        ("a password: tru", "a password: "),
        ("a password: \"ab", "a password: \""),
        ("a password=ab,", "a password="),
        ("x --token ab", "x --token "),
        ("x --token TOKEN", "x --token "),
        ("Authorization: Bearer $A", "Authorization: Bearer "),
        ("a postgres://bob:hunt", "a postgres://bob:"),
        ("a ghp_abc", "a "),
        ("a Bearer ab", "a Bearer "),
        ("Authorization: Bearer ab", "Authorization: Bearer "),
        ("Cookie: a=b; c", "Cookie: "),
        ("auth: ab", "auth: "),
        ("password:\n  ab", "password:\n  "),
        ("{\"name\": \"token\", \"value\": \"ab", "{\"name\": \"token\", \"value\": \""),
        ("curl -u bob:ab", "curl -u bob:"),
        ("sshpass -p ab", "sshpass -p "),
        ("mysql -pab", "mysql -p"),
        ("a bob:hunt", "a bob:"),
        ("DB_PASSWORD  hunt", "DB_PASSWORD  "),
        ("-----BEGIN PRIVATE KEY-----", ""),
    ] {
        let mut scrubber = vault.scrubber();
        let whole = push(&mut scrubber, text);
        assert_eq!(whole + &idle(&mut scrubber), visible, "{text}");
    }
}

#[test]
fn lines_that_are_items_of_a_list_are_hidden_however_they_are_cut() {
    let vault = Vault::with_patterns();
    for line in LINES_OF_A_LIST {
        let (text, expected) = case(line);
        let seen = |cut, rests| {
            let seen = in_pieces(&vault, text.as_bytes(), &[cut, 1], rests);
            String::from_utf8_lossy(&seen).into_owned()
        };
        for cut in 1..text.len() {
            assert_eq!(seen(cut, false), expected, "cut at {cut}");
            let secrets = line.split('⟦').skip(1).filter_map(|rest| rest.split_once('⟧'));
            let rested = seen(cut, true);
            for (secret, _) in secrets {
                assert!(!rested.contains(secret), "{rested} rests at {cut}");
            }
        }
    }
}

#[test]
fn a_long_list_of_lines_is_hidden_as_far_as_it_is_held() {
    let many = "  \"  s3cret-line-of-many\",".repeat(800);
    let seen = shown(&format!("[\"password: |-\",{many} \"port: 80\"]\n"));
    assert!(!seen.contains("s3cret") && seen.ends_with("\"port: 80\"]\n"), "{seen}");
    let lines = "- '  s3cret-line-of-many'\n".repeat(20_000);
    let seen = shown(&format!("- 'password: |-'\n{lines}"));
    let hidden = seen.matches(LABEL).count() * 26;
    assert!((60 << 10..=66 << 10).contains(&hidden), "{hidden} bytes");
}

#[test]
fn a_value_is_hidden_though_its_line_is_longer_than_what_is_held() {
    let vault = Vault::with_patterns();
    let long = "s3cret".repeat(40_000);
    for (before, after) in [("password=", " x"), ("{\"token\": \"", "\", \"user\": \"bob\"}")] {
        for filler in [0, 1000, 40_000, 65_500, 65_530, 65_536, 65_540, 100_000] {
            let filler = "ab ".repeat(filler / 3);
            let text = format!("{filler}{before}{long}{after}\nnext\n");
            let seen = shown(&text);
            assert_eq!(seen, format!("{filler}{before}{LABEL}{after}\nnext\n"));
            assert_eq!(in_pieces(&vault, text.as_bytes(), &[4096], false), seen.as_bytes());
        }
    }
}

#[test]
fn a_key_may_be_where_a_long_line_is_parted() {
    let text = "{\"user\":\"bob\",\"password\":\"hunter2hunter2\"},";
    for shift in 0..text.len() {
        let line = format!("{}{}\n", " ".repeat(shift), text.repeat(4000));
        assert!(!shown(&line).contains("hunter2"), "shifted by {shift}");
    }
}

#[test]
fn a_long_line_without_a_key_is_shown_as_it_is() {
    for text in ["a".repeat(300_000), "ab=c, ".repeat(50_000), "a:/".repeat(100_000)] {
        assert!(shown(&text) == text, "{}", &text[..10]);
    }
}

/// What this thread has worked, in seconds. Others that work meanwhile do not count.
fn worked() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    std::time::Duration::try_from(time).unwrap().as_secs_f64()
}

/// How much more work four times as much is, at its best.
fn growth(piece: &str, size: usize) -> f64 {
    let vault = Vault::with_patterns();
    let text = piece.repeat(4 * size / piece.len());
    let time = |text: &[u8]| {
        let start = worked();
        std::hint::black_box(in_pieces(&vault, text, &[8192], false));
        worked() - start
    };
    let quickest = |text: &[u8]| (0..3).map(|_| time(text)).fold(f64::MAX, f64::min);
    let once = || quickest(text.as_bytes()) / quickest(&text.as_bytes()[..text.len() / 4]);
    (0..5).map(|_| once()).find(|growth| *growth < 8.0).unwrap_or(f64::MAX)
}

#[test]
fn the_time_grows_as_a_line_does() {
    // All of the longer one is held, so that it is decided at once.
    for piece in [
        "auth=",
        "auth=\"",
        "auth: [",
        "password=[",
        "token:a",
        "--token ",
        "sk-",
        "eyJ-",
        "\\",
        "\\\"",
        "<password>",
        "a://",
        "a://b:",
        "a://b:c/",
        "Cookie: $A ",
        "Cookie:",
        "bearer ",
        "token=<<a ",
        "token: |",
        "'token: |'",
        "'token: |', '  a', ",
        "'token: |', \"  ",
        "'token: |', '",
        "- 'token: |'\n- '  a'\n",
        "-----BEGIN PRIVATE KEY----- x ",
        "password = null -> ",
        "a=,,,,,,,,",
        "password=,,,,,,,,",
        "x.",
        "password: 'a''",
        "\x1b]0;auth=\x07",
        "token\n",
        "password: |\n",
        "'",
        "-",
        "{{",
        "token={{",
        "token=<",
        "password:{",
        "{name:token,value:",
        "name:token}",
        "password:\n ",
        "curl -u a",
        "curl -u'a",
        "curl -u a: ",
        "mysql -p'",
        "a:b@c:",
        "TOKEN  ",
        "unseal key 1:",
        "token%3D",
        "token%3Da%2",
    ] {
        assert!(growth(piece, 16_000) < 8.0, "{piece:?}");
    }
}

#[test]
fn the_time_grows_as_a_line_does_that_is_decided_in_parts() {
    for piece in ["auth=", "ab=c, ", "x", "token: 'ab' "] {
        assert!(growth(piece, 100_000) < 8.0, "{piece:?}");
    }
}

fn lines() -> impl Strategy<Value = String> {
    let hidden: Vec<String> = hidden_lines().iter().map(|line| case(line).0).collect();
    let other = [
        "token: |",
        "    indented",
        "- 'token: |'",
        "- '  indented'",
        "\"token: |\", \"  one\"",
        "secret = <<EOT",
        "EOT",
        "password:",
        "  \"token\": {",
        "- name: DB_PASSWORD",
        "  value: one",
        "}",
        "-----BEGIN PRIVATE KEY-----",
        "",
        "-----END PRIVATE KEY-----",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw",
        "value-of-nobody",
    ];
    let all = [hidden, shown_lines(), other.map(str::to_owned).to_vec()].concat();
    let end = prop::sample::select(vec!["\n", "\r\n", "\r", " ", "\x1b[1m", "", ", "]);
    let pieces = (prop::sample::select(all), end).prop_map(|(line, end)| line + end);
    prop::collection::vec(pieces, 1..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn all_cuts_of_a_stream_show_the_same(
        text in lines(),
        cuts in prop::collection::vec(1..60_usize, 1..30),
    ) {
        let vault = Vault::with_patterns();
        vault.register(&Data::text("value-of-nobody"), "‹v›");
        let whole = vault.scrub(&text);
        let seen = in_pieces(&vault, text.as_bytes(), &cuts, false);
        prop_assert_eq!(String::from_utf8_lossy(&seen), whole.text());
    }

    #[test]
    fn any_bytes_pass_however_they_are_cut(
        words in prop::collection::vec(
            prop::sample::select(vec![
                &b"password"[..], b"token", b"auth", b"=", b": ", b"\"", b"\\", b"'", b"\x1b[", b"m", b"\x1b]0;",
                b"\x07", b"\xff\xfe", b"\n", b"\r", b" ", b"|", b"<<", b"EOT", b"[", b"{", b"-----BEGIN ",
                b"PRIVATE KEY-----", b"-----END ", b"://", b"@", b"Cookie", b"bearer", b"--", b"eyJ", b".", b"->",
                b"name", b"value", b"}", b"\n  ", b"curl -u", b"mysql -p", b"a:b1c2d3@c:1", b"%3D", b"%26", b"\t",
            ]),
            0..60,
        ),
        noise in prop::collection::vec(any::<u8>(), 0..20),
        cuts in prop::collection::vec(1..12_usize, 1..20),
        rests in any::<bool>(),
    ) {
        let vault = Vault::with_patterns();
        let text = [words.concat(), noise, words.concat()].concat();
        let seen = in_pieces(&vault, &text, &cuts, rests);
        let whole = vault.scrub_bytes(&text);
        prop_assert!(rests || seen == whole.bytes(), "{:?}", whole.text());
    }

    #[test]
    fn no_rest_of_a_stream_shows_a_secret(
        before in "[a-z ]{0,12}",
        key in prop::sample::select(vec![
            "password=", "DB_PASSWORD: ", "\"token\": \"", "--secret ", "Authorization: Bearer ",
            "https://bob:", "Cookie: ", "'apiKey': '", "passphrase = ", "<password>",
        ]),
        cuts in prop::collection::vec(1..9_usize, 1..9),
    ) {
        let vault = Vault::with_patterns();
        let closing = match key {
            "https://bob:" => "@example.com",
            "<password>" => "</password>",
            _ if key.ends_with('"') => "\"",
            _ if key.ends_with('\'') => "'",
            _ => "",
        };
        let text = format!("{before} {key}hunter2hunter2{closing}\nnext\n");
        let seen = in_pieces(&vault, text.as_bytes(), &cuts, true);
        let expected = format!("{before} {key}{LABEL}{closing}\nnext\n");
        prop_assert_eq!(String::from_utf8_lossy(&seen), expected);
    }
}
