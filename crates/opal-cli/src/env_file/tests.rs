use opal_core::dotenv::DotenvError;

use super::*;

fn own(variables: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
    variables.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

fn read_with(own: &BTreeMap<OsString, OsString>, text: &str) -> Result<Vec<String>, DotenvError> {
    let look_up = |name: &str| own.get(OsStr::new(name)).cloned();
    let mut variables = Variables::new(&look_up);
    variables.extend(text.as_bytes()).map_err(|found| found.error)?;
    Ok(variables.added.into_iter().map(|(name, value)| format!("{name}={value}")).collect())
}

#[track_caller]
fn sets(text: &str, expected: &[&str]) {
    assert_eq!(read_with(&own(&[("HOME", "/home/ada")]), text).unwrap(), expected, "{text:?}");
}

/// `line:column: message`.
#[track_caller]
fn refuses(text: &str, expected: &str) {
    let mistake = read_with(&own(&[]), text).unwrap_err();
    let (line, column) = mistake.place;
    assert_eq!(format!("{line}:{column}: {}", mistake.message), expected, "{text:?}");
}

#[test]
fn plain_lines_comments_and_blank_ones() {
    sets(
        "A=1\n\n# note\n  B=two words  \nC=\nD=x#y # note\n",
        &["A=1", "B=two words", "C=", "D=x#y"],
    );
    sets("export A=1\n\texport\tB = 2\nexport=3\n", &["A=1", "B=2", "export=3"]);
    sets("A=#fff\nB= # note\nC=x==#y", &["A=#fff", "B=", "C=x==#y"]);
    sets("", &[]);
    sets("A=1", &["A=1"]);
}

#[test]
fn single_quotes_are_literal_over_several_lines_too() {
    sets("A='$HOME \\n \"'\nB='one\r\ntwo' # note", &["A=$HOME \\n \"", "B=one\ntwo"]);
}

#[test]
fn double_quotes_know_escapes_names_and_lines() {
    sets(
        "A=\"a\\nb\\t\\\"\\\\\\$x\\d\"\nB=\"one\r\ntwo\r\"\n",
        &["A=a\nb\t\"\\$x\\d", "B=one\ntwo\r"],
    );
    sets("A=1\nB=\"$A-${A}2 $ $1\"\nC=$HOME/x\n", &["A=1", "B=1-12 $ $1", "C=/home/ada/x"]);
}

#[test]
fn line_ends_and_a_byte_order_mark_of_other_systems_are_no_part_of_values() {
    sets("\u{feff}A=1\r\nB='2'\r\nC=\"3\"\r\n", &["A=1", "B=2", "C=3"]);
}

#[test]
fn what_a_name_stands_for_is_not_read_again_and_keeps_its_blanks() {
    sets("A='$B #'\nB=$A\nC='x '\nD=$C  \n", &["A=$B #", "B=$B #", "C=x ", "D=x "]);
}

#[test]
fn the_environment_wins_where_names_are_looked_up() {
    let own = own(&[("A", "outside")]);
    assert_eq!(read_with(&own, "A=inside\nB=$A").unwrap(), ["A=inside", "B=outside"]);
}

#[test]
fn later_lines_and_later_files_win() {
    let mut variables = Variables::new(&|_| None);
    variables.extend(b"A=1\nA=2\nB=1\n").unwrap();
    variables.extend(b"B=$A$B\n").unwrap();
    assert_eq!(
        variables.added,
        BTreeMap::from([("A".into(), "2".into()), ("B".into(), "21".into())])
    );
}

#[test]
fn mistakes_have_a_place_and_say_what_was_expected() {
    refuses("A=1\nB 2\n", "2:3: expected `=` after the name of a variable");
    refuses("1A=x", "1:1: expected the name of a variable");
    refuses("A=ä\nÄ=x", "2:1: expected the name of a variable");
    refuses("=x", "1:1: expected the name of a variable");
    refuses("export A", "1:9: expected `=` after the name of a variable");
    refuses("A=1\n B='x\n", "2:4: unterminated quote");
    refuses("A=\"x\n\n", "1:3: unterminated quote");
    refuses("A='b' c", "1:7: expected the end of the line after the closing quote");
    refuses("A=\"b\"c", "1:6: expected the end of the line after the closing quote");
    refuses(
        "A=ü$B",
        "1:4: the variable after `$` is neither in the environment as text nor set above",
    );
    refuses("A=${B", "1:6: expected `}` after the name in `${…}`");
    refuses("A=${}", "1:5: expected the name of a variable");
    refuses("A=1\n\0", "2:1: a variable cannot contain a NUL character");
}

#[test]
fn every_name_that_is_interpreted_is_refused_at_its_line() {
    for row in opal_core::script::INTERPRETED {
        let name = row.name.replace('*', "X");
        let mistake = read_with(&own(&[]), &format!("A=1\nexport {name}=x\n")).unwrap_err();
        assert_eq!(mistake.place, (2, 8), "{name}");
        let expected = format!("`{name}` cannot be set in a file of variables: {}", row.why);
        assert_eq!(mistake.message, expected);
    }
    sets(
        "NODE_OPTIONS=a\nKUBECONFIG=b\nMY_PATH=$HOME\n",
        &["KUBECONFIG=b", "MY_PATH=/home/ada", "NODE_OPTIONS=a"],
    );
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_place() {
    let mistake = Variables::new(&|_| None).extend(b"A=1\nB=\xff").unwrap_err();
    assert_eq!(mistake.error.place, (2, 3));
}

#[test]
fn no_message_holds_a_value_or_what_may_be_a_part_of_one() {
    for text in [
        "A=hunter22 'x' $B",
        "A='hunter22",
        "A=\"hunter22\" x",
        "A=\"hunter22",
        "A=hunter22${",
        "A=BEGIN KEY\nhunter22\n",
        "A=BEGIN KEY\nhunter22 x=y\n",
        "export hunter22",
        "A=pa$hunter22",
        "A=pa${hunter22",
        "A=pa${hunter22:-x}",
        "9hunter22=x",
    ] {
        let mistake = read_with(&own(&[]), text).unwrap_err();
        assert!(!format!("{mistake:?}").contains("hunter22"), "{mistake:?}");
    }
}

#[test]
fn variables_that_double_each_other_are_bounded() {
    let mut text = format!("A0={}\n", "x".repeat(1000));
    for level in 1..40 {
        text.push_str(&format!("A{level}=$A{}$A{}\n", level - 1, level - 1));
    }
    let mistake = read_with(&own(&[]), &text).unwrap_err();
    assert!(mistake.message.contains("4 MiB"), "{mistake:?}");
}
