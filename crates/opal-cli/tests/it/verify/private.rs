//! What is not shown: files that only their owner may read, and values of earlier times.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Opal, Ran};

const WHY: &str = "not shown, because only its owner can read the file";

fn set_mode(opal: &Opal, name: &str, mode: u32) {
    std::fs::set_permissions(opal.path().join(name), Permissions::from_mode(mode)).unwrap();
}

/// All that is said of `a.yaml`, an apply of it last.
fn said(opal: &Opal) -> Vec<Ran> {
    [
        &["verify", "a.yaml", "--verbose"][..],
        &["verify", "a.yaml", "--json"],
        &["apply", "a.yaml", "--dry-run"],
        &["apply", "a.yaml", "--dry-run", "--json"],
        &["apply", "a.yaml", "-v"],
    ]
    .iter()
    .map(|words| opal.call(words))
    .collect()
}

/// All that is kept in the home directory, records included.
fn kept(opal: &Opal) -> String {
    let mut text = String::new();
    let mut todo = vec![opal.path().join("home")];
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(std::fs::read_dir(path).unwrap().map(|it| it.unwrap().path()));
        } else {
            text += &String::from_utf8_lossy(&std::fs::read(path).unwrap());
        }
    }
    text
}

#[track_caller]
fn hides(opal: &Opal, words: &str, secrets: &[&str]) {
    for ran in said(opal) {
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(words), "{ran:#?}");
        for secret in secrets {
            assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(secret), "{ran:#?}");
        }
    }
    let kept = kept(opal);
    assert!(kept.contains(words), "{kept}");
    assert!(!secrets.iter().any(|secret| kept.contains(secret)));
}

const COPY: &str = "version: 1\nsteps:\n  - {id: a, type: copy, source: new, destination: old, \
                    overwrite: true}\n";

#[test]
fn a_copy_of_what_only_its_owner_may_read_shows_neither_side() {
    for (new, old) in [(0o600, 0o600), (0o600, 0o644), (0o644, 0o400), (0o611, 0o600)] {
        let opal = Opal::machine("").file("a.yaml", COPY);
        let opal = opal.file("new", "begin\nnewkey\nmore\n").file("old", "begin\noldkey\nrest\n");
        set_mode(&opal, "new", new);
        set_mode(&opal, "old", old);
        hides(&opal, &format!("2 lines differ; they are {WHY}"), &["newkey", "oldkey", "begin"]);
        assert_eq!(opal.read("old"), "begin\nnewkey\nmore\n");
    }
}

#[test]
fn a_copy_that_only_its_owner_shall_read_shows_neither_side() {
    let step = COPY.replace("overwrite", "mode: \"0600\", overwrite");
    let opal = Opal::machine("").file("a.yaml", step);
    let opal = opal.file("new", "newkey\n").file("old", "oldkey\n");
    hides(&opal, &format!("1 line differs; it is {WHY}"), &["newkey", "oldkey"]);
}

#[test]
fn the_neighbours_of_a_line_are_not_shown() {
    let step = "version: 1\nsteps:\n  - {id: a, type: line_in_file, file: app.env, line: PORT=80, \
                match: ^PORT=}\n";
    let opal = Opal::machine("").file("a.yaml", step).file("app.env", "DB=hunter22\nPORT=8080\n");
    set_mode(&opal, "app.env", 0o600);
    hides(&opal, &format!("1 line differs; it is {WHY}"), &["hunter22"]);
    assert_eq!(opal.read("app.env"), "DB=hunter22\nPORT=80\n");
}

#[test]
fn a_template_with_such_a_mode_shows_the_mode_and_not_the_content() {
    let step = "version: 1\nsteps:\n  - {id: a, type: template, source: t, destination: d, \
                mode: \"0600\"}\n";
    let opal =
        Opal::machine("").file("a.yaml", step).file("t", "pw=newpw\n").file("d", "pw=oldpw\n");
    set_mode(&opal, "d", 0o644);
    let words = format!("1 line differs; it is {WHY}");
    hides(&opal, &words, &["newpw", "oldpw"]);
    opal.write("d", "pw=oldpw\n");
    set_mode(&opal, "d", 0o640);
    opal.call(&["verify", "a.yaml", "--verbose"])
        .code(1)
        .says("mode 0640, expected 0600\n")
        .says(&words);
}

#[test]
fn what_is_not_shown_is_held_against_a_contract_all_the_same() {
    let task = "fun setup() {\n    @file.copy(\"new\", \"old\", overwrite=true)\n    \
                @file.line(\"app.env\", \"PORT=80\", match=r\"^PORT=\")\n}\n";
    let opal = Opal::machine(task).file("new", "new\n").file("old", "old\n");
    let opal = opal.file("app.env", "A=1\nPORT=1\n");
    for name in ["new", "old", "app.env"] {
        set_mode(&opal, name, 0o600);
    }
    for (name, other, before) in
        [("old", "odd\n", "old\n"), ("app.env", "A=2\nPORT=1\n", "A=1\nPORT=1\n")]
    {
        opal.call(&["plan", "setup", "-o", "c.plan"]).code(0);
        opal.write(name, other);
        let ran = opal.call(&["run", "--plan", "c.plan"]);
        ran.code(76).says("infra_mutated");
        opal.write(name, before);
    }
}

#[test]
fn what_the_difference_hides_the_message_hides() {
    let task = "fun link() {\n    @file.symlink(\"/x/@secret.env.TOK\", \"slnk\")\n}\n\
                fun gone() {\n    @file.line(\"c\", \"password=@secret.env.TOK\", match=r\"^password\", \
                state=\"absent\", on_multiple_matches=\"all\")\n}\n";
    let opal = Opal::machine(task).env("TOK", "tokentoken");
    std::os::unix::fs::symlink("/y/prevsecret", opal.path().join("slnk")).unwrap();
    let opal = opal.file("c", "a\npassword=prevsecret\nb\npassword = prevsecret\n");
    for task in ["link", "gone"] {
        for words in [
            &["verify", task, "--verbose"][..],
            &["verify", task, "--json"],
            &[task, "--dry-run"],
            &[task],
        ] {
            let ran = opal.call(words);
            assert!(ran.stdout.contains("[hidden]") || ran.stderr.contains("[hidden]"), "{ran:#?}");
            ran.hides("prevsecret").hides("tokentoken");
        }
    }
    assert!(!kept(&opal).contains("prevsecret"));
}

const TREE: &str = "version: 1\nsteps:\n  - {id: a, type: copy, source: new, destination: old, \
                    recursive: true, overwrite: true}\n";

#[test]
fn in_a_copied_directory_each_file_is_shown_or_not() {
    // The modes of the file and of the directory it is in, on both sides; none where it is not there.
    for (new, old, new_directory, old_directory) in [
        (0o600, Some(0o600), 0o755, 0o755),
        (0o600, Some(0o644), 0o755, 0o755),
        (0o644, Some(0o600), 0o755, 0o755),
        (0o600, None, 0o755, 0o755),
        (0o644, Some(0o644), 0o700, 0o755),
        (0o644, Some(0o644), 0o755, 0o700),
    ] {
        let opal = Opal::machine("").file("a.yaml", TREE);
        let opal = opal.file("new/page", "newpage\n").file("old/page", "oldpage\n");
        let opal = opal.file("new/sub/key", "begin\nnewkey\n").file("old/sub/other", "");
        if let Some(mode) = old {
            opal.write("old/sub/key", "begin\noldkey\n");
            set_mode(&opal, "old/sub/key", mode);
        }
        set_mode(&opal, "new/sub/key", new);
        set_mode(&opal, "new/sub", new_directory);
        set_mode(&opal, "old/sub", old_directory);
        opal.call(&["verify", "a.yaml", "--verbose"]).says("-newpage\n+oldpage\n");
        let differ =
            if old.is_some() { "1 line differs; it is" } else { "2 lines differ; they are" };
        let words = format!("old/sub/key`: {differ} {WHY}");
        hides(&opal, &words, &["newkey", "oldkey", "begin"]);
        assert_eq!(opal.read("old/sub/key"), "begin\nnewkey\n");
    }
}

/// Comments of SQL and Lua begin like the header of a diff.
#[test]
fn an_earlier_value_is_hidden_in_lines_that_look_like_headers() {
    for before in ["-- expected: ", "++ actual: ", "-- current: ", "@@ -1 +1 @@ "] {
        let task = format!(
            "fun make() {{\n    @file.copy(destination=\"c\", content=\"{before}@secret.env.TOK\\n\", \
             overwrite=true)\n}}\n"
        );
        let opal = Opal::machine(&task).env("TOK", "tokentoken");
        let opal = opal.file("c", format!("{before}prevsecret\n"));
        for words in [
            &["verify", "make", "--verbose"][..],
            &["verify", "make", "--json"],
            &["make", "--dry-run"],
            &["make", "-v"],
        ] {
            let ran = opal.call(words);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(said.contains(&format!("{before}[hidden]")), "{ran:#?}");
            ran.hides("prevsecret").hides("tokentoken");
        }
        assert!(!kept(&opal).contains("prevsecret"));
    }
}

/// A value that is the last line, without a line end.
#[test]
fn an_earlier_value_is_hidden_where_the_last_line_has_no_end() {
    let task = "fun make() {\n    @file.copy(destination=\"c\", content=@secret.env.TOK, \
                overwrite=true)\n}\n";
    for before in ["prevsecret", "prevsecret\n"] {
        let opal = Opal::machine(task).env("TOK", "tokentoken").file("c", before);
        for words in [&["verify", "make", "--verbose"][..], &["make", "--dry-run"], &["make"]] {
            opal.call(words).hides("prevsecret").hides("tokentoken");
        }
    }
}

/// All that is said and kept of a task that makes `c`, a run of it last.
fn told(opal: &Opal) -> String {
    let mut text = String::new();
    for words in [
        &["verify", "make", "--verbose"][..],
        &["verify", "make", "--json"],
        &["make", "--dry-run"],
        &["make", "--dry-run", "--json"],
        &["make", "-v"],
    ] {
        let ran = opal.call(words);
        text += &format!("{}{}", ran.stdout, ran.stderr);
    }
    text + &kept(opal)
}

const MAKE: &str = "fun make() {\n    @file.copy(destination=\"c\", content=@env.PIN_SECRET, \
                    overwrite=true)\n}\n";

#[test]
fn a_value_is_hidden_in_a_difference_though_its_lines_are_short() {
    let pins = "482913\n771204\n665038\n190274";
    let many: String = (0..12).map(|n| format!("{}\n", 482_913 + n * 7)).collect();
    for (value, before) in [
        (pins, ""),
        (pins, "x\n"),
        (pins, "a\nb\nc\nd\ne\n"),
        // Only a part of the value is in the hunk.
        (pins, "482913\n771204\n111111\n190274"),
        (&many, &many.replace("482990", "111111")),
        (&many, &many.replace("482990\n", "482990\n111111\n")),
    ] {
        let opal = Opal::machine(MAKE).env("PIN_SECRET", value).file("c", before);
        let told = told(&opal);
        for line in value.lines().chain(["111111"]) {
            assert!(!told.contains(line), "{line} of {value:?} over {before:?}:\n{told}");
        }
        assert!(told.contains("\n-<") || told.contains("\n <"), "{told}");
        assert_eq!(opal.read("c"), value);
    }
}

/// Written by other programs, as they wrap it.
#[test]
fn a_wrapped_form_of_a_value_is_hidden_in_a_difference() {
    let value = "correct horse battery staple";
    for wrapped in [
        "Y29ycmVj\ndCBob3Jz\nZSBiYXR0\nZXJ5IHN0\nYXBsZQ==\n",
        "636f72726563\n7420686f7273\n652062617474\n657279207374\n61706c65\n",
    ] {
        let task = "fun make() {\n    @log(\"@env.PIN_SECRET\")\n    @file.copy(\"new\", \"c\", \
                    overwrite=true)\n}\n";
        let opal = Opal::machine(task).env("PIN_SECRET", value);
        let opal = opal.file("new", format!("a\n{wrapped}b\n")).file("c", "a\nb\n");
        let told = told(&opal);
        for line in wrapped.lines() {
            assert!(!told.contains(line), "{line}: {told}");
        }
        assert!(told.contains("\n a\n-<"), "{told}");
    }
}

#[test]
fn an_earlier_value_is_hidden_wherever_its_line_has_gone() {
    let old = "hunter2-Zebra-77";
    for (content, before) in [
        ("timeout=5\\npassword=@env.PW_SECRET\\n", "password=OLD\nport=80\n"),
        ("password=@env.PW_SECRET\\n", "password = OLD\nport = 80\n"),
        ("password=@env.PW_SECRET\\n", "port = 80\npassword: 'OLD'\n"),
        (
            "a=1\\nb=2\\nc=3\\nd=4\\npassword=@env.PW_SECRET\\n",
            "password=OLD\na=1\nb=2\nc=3\nd=4\n",
        ),
    ] {
        let task = MAKE.replace("@env.PIN_SECRET", &format!("\"{content}\""));
        let opal = Opal::machine(&task).env("PW_SECRET", "new-value-0815");
        let opal = opal.file("c", before.replace("OLD", old));
        let told = told(&opal);
        assert!(!told.contains(old) && !told.contains("new-value-0815"), "{told}");
        assert!(told.contains("[hidden]"), "{told}");
    }
}

#[test]
fn a_value_in_a_text_of_several_lines_leaves_its_lines() {
    let task = MAKE.replace("@env.PIN_SECRET", "\"a=1\\ntoken=@env.PW_SECRET\\n\"");
    let opal = Opal::machine(&task).env("PW_SECRET", "new-value-0815").file("c", "b=2\n");
    let ran = opal.call(&["verify", "make", "--verbose"]);
    ran.code(1).says("@@ -1,2 +1 @@\n-a=1\n-token=<14:").says(">\n+[hidden]\n");
}
