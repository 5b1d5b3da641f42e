use super::*;

#[test]
fn only_functions_with_code_of_their_own_are_stopped_at() {
    let symbols = "   Num:    Value          Size Type    Bind   Vis      Ndx Name\n\
        1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND pow@GLIBC_2.29 (9)\n\
        2: 00000000002cbef0    27 FUNC    LOCAL  DEFAULT   16 main\n\
        3: 00000000002cbf00     0 FUNC    LOCAL  DEFAULT   16 _init\n\
        4: 00000000002cbf10     8 OBJECT  LOCAL  DEFAULT   16 table\n";
    assert_eq!(functions(symbols), BTreeMap::from([(0x2c_bef0, "main".to_owned())]));
}

#[test]
fn a_name_is_listed_once_and_with_its_hash_only_where_others_share_it() {
    let ran = [
        "main",
        "_ZN4opal4main17h0123456789abcdefE",
        "_ZN4core3ptr4drop17h0000000000000001E",
        "_RNvNtCsjrHSEGnQ3l9_3std3env7args_os",
        "_ZN4core3ptr4drop17h0000000000000002E.llvm.17",
        "_ZN4core3ptr4drop17h0000000000000001E",
    ];
    let all = ran.into_iter().chain(["_ZN4core3ptr4drop17h0000000000000003E"]);
    let list = list(ran.into_iter(), all);
    let lines: Vec<&str> = list.lines().skip(1).collect();
    let expected = [
        "main",
        "_ZN4opal4main17h*",
        "_ZN4core3ptr4drop17h0000000000000001E",
        "_RNvNtCs*_3std3env7args_os",
        "_ZN4core3ptr4drop17h0000000000000002E*",
        "_ZN4core3ptr4drop17h*",
    ];
    assert_eq!(lines, expected, "what they share comes last");
}

#[test]
fn the_list_is_one_that_a_linker_reads() {
    let list = fs::read_to_string(crate::root().join(LIST)).unwrap();
    let names = list.strip_prefix(HEAD).expect("it begins with where it comes from");
    let mut seen = BTreeSet::new();
    for name in names.lines() {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.$*".contains(&byte);
        assert!(!name.is_empty() && name.bytes().all(plain), "`{name}`");
        assert!(name.trim_end_matches('*').len() >= 4, "`{name}` stands for too much");
        assert!(seen.insert(name), "`{name}` is there twice");
    }
    assert!(seen.len() > 500, "only {} names", seen.len());
    assert!(list.len() < 262_144, "{} bytes", list.len());
}
