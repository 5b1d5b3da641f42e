use super::*;

const OWNER: Owner<'_> = Owner { machine: "3d1219c7c4c5404aaa1f6d2a48adfda4", user: 1000 };

fn opening() -> Opening {
    Opening {
        order: "00112233445566778899aabbccddeeff".into(),
        end: 1_800_000_000,
        now: 1_799_000_000,
        target: "web1".into(),
        key: JournalKey::new([7; 32]),
        claim: 0,
        patience: Duration::ZERO,
    }
}

fn begun(path: &str) -> (String, What) {
    (path.to_owned(), What::Begun { marker: "12-0-0".into() })
}

fn ended(path: &str, code: i32) -> (String, What) {
    (path.to_owned(), What::Ended { code })
}

/// The lines of a journal with these entries.
fn written(opening: &Opening, entries: &[(String, What)]) -> Vec<String> {
    let mut chain = Chain::new(opening, OWNER);
    let line = |(path, what): &(String, What)| {
        let line = chain.line(path, what).unwrap();
        chain.written(&line);
        String::from_utf8(line.bytes().to_vec()).unwrap()
    };
    entries.iter().map(line).collect()
}

fn usual() -> Vec<String> {
    let first = "task.ssh.hosts[0].shell[0]";
    let second = "task.ssh.hosts[0].for item in a b[0].shell[1]";
    written(&opening(), &[begun(first), ended(first, 0), begun(second), ended(second, -3)])
}

fn read(opening: &Opening, owner: Owner<'_>, lines: &[String]) -> Result<Vec<Entry>, Broken> {
    Chain::new(opening, owner).read(lines.concat().as_bytes()).map(|(entries, _)| entries)
}

#[test]
fn entries_come_back_as_they_were_written_and_the_chain_goes_on() {
    let lines = usual();
    let mut chain = Chain::new(&opening(), OWNER);
    let (entries, length) = chain.read(lines[..2].concat().as_bytes()).unwrap();
    assert_eq!(length, lines[..2].concat().len());
    assert_eq!((entries.len(), chain.number()), (2, 2));
    assert_eq!(entries[0].what, What::Begun { marker: "12-0-0".into() });
    let (entries, _) = chain.read(lines[2..].concat().as_bytes()).unwrap();
    assert_eq!(entries[0].path, "task.ssh.hosts[0].for item in a b[0].shell[1]");
    assert_eq!((entries[1].number, &entries[1].what), (4, &What::Ended { code: -3 }));
}

#[test]
fn what_was_not_written_to_its_end_does_not_count() {
    let lines = usual();
    for rest in ["5 begun", "5 begun 12-0-0 a.shell[0] 00", "\0\0\0\0"] {
        let bytes = lines.concat() + rest;
        let (entries, length) = Chain::new(&opening(), OWNER).read(bytes.as_bytes()).unwrap();
        assert_eq!((entries.len(), length), (4, lines.concat().len()), "{rest:?}");
    }
}

#[test]
fn every_flipped_bit_is_found() {
    let lines = usual();
    let whole = lines.concat().into_bytes();
    for at in 0..whole.len() {
        for bit in [1, 0x20] {
            let mut changed = whole.clone();
            changed[at] ^= bit;
            let read = Chain::new(&opening(), OWNER).read(&changed);
            // Without its line feed the last line was not written to its end.
            let is_cut = at == whole.len() - 1;
            assert_eq!(read.is_ok_and(|(entries, _)| entries.len() == 3), is_cut, "{at} {bit}");
        }
    }
}

#[test]
fn lines_that_are_missing_twice_or_moved_are_found() {
    let lines = usual();
    let pick = |order: &[usize]| order.iter().map(|at| lines[*at].clone()).collect::<Vec<_>>();
    for (order, expected) in [
        (&[1, 2, 3][..], Broken::Gap(1)),
        (&[0, 2, 3], Broken::Gap(2)),
        (&[0, 1, 3], Broken::Gap(3)),
        (&[0, 0, 1], Broken::Gap(2)),
        (&[1, 0, 2, 3], Broken::Gap(1)),
    ] {
        assert_eq!(read(&opening(), OWNER, &pick(order)), Err(expected), "{order:?}");
    }
    // Another number does not help.
    let mut forged = pick(&[0, 1, 3]);
    forged[2] = forged[2].replacen('4', "3", 1);
    assert_eq!(read(&opening(), OWNER, &forged), Err(Broken::Changed(3)));
    assert_eq!(read(&opening(), OWNER, &["nonsense\n".into()]), Err(Broken::Changed(1)));
    assert_eq!(read(&opening(), OWNER, &["\n".into()]), Err(Broken::Changed(1)));
}

/// Each fact that a journal belongs to.
#[test]
fn a_journal_of_another_order_target_machine_user_or_contract_is_none() {
    let lines = usual();
    assert!(read(&opening(), OWNER, &lines).is_ok());
    let other = "ff112233445566778899aabbccddeeff".to_owned();
    for (what, opening, owner) in [
        ("order", Opening { order: other, ..opening() }, OWNER),
        ("target", Opening { target: "web2".into(), ..opening() }, OWNER),
        ("contract", Opening { key: JournalKey::new([8; 32]), ..opening() }, OWNER),
        ("machine", opening(), Owner { machine: "", ..OWNER }),
        ("user", opening(), Owner { user: 0, ..OWNER }),
    ] {
        assert_eq!(read(&opening, owner, &lines), Err(Broken::Changed(1)), "{what}");
        let is_by_name = what != "contract";
        let name = super::tests::opening().file_name(OWNER);
        assert_eq!(opening.file_name(owner) != name, is_by_name, "{what}");
    }
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let chain = Chain::new(&opening(), OWNER);
    let long = "x".repeat(MAX_PATH + 1);
    for path in ["", "a\nb", "a\u{1b}[0m", &long] {
        assert!(chain.line(path, &What::Ended { code: 0 }).is_none(), "{path:?}");
    }
    for marker in ["", "a b", "a\n", &"x".repeat(129)] {
        let what = What::Begun { marker: marker.to_owned() };
        assert!(chain.line("a.shell[0]", &what).is_none(), "{marker:?}");
    }
}

#[test]
fn a_file_name_says_when_its_order_ended_and_nothing_else_does() {
    let name = opening().file_name(OWNER);
    assert_eq!(end_of(&name), Some(1_800_000_000));
    assert!(name.len() < 200, "{name}");
    let cut = name.replacen("-1800000000", "", 1);
    let signed = name.replacen("-1800000000", "-+5", 1);
    let short = name.replacen("00112233445566778899aabbccddeeff", "0011", 1);
    for other in ["", "hosts", "a-5-b-c-d.journal", &cut, &signed, &short, &format!("{name}~")] {
        assert_eq!(end_of(other), None, "{other}");
    }
    let ancient = Opening { end: -5, ..opening() };
    assert_eq!(end_of(&ancient.file_name(OWNER)), Some(0));
}

#[test]
fn the_key_is_not_shown() {
    assert_eq!(format!("{:?}", opening().key), "JournalKey(…)");
}
