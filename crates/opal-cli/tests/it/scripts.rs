//! `@script`: texts in other languages, run from a file.

use crate::run::terminal::typed;
use crate::support::{Opal, Ran};
use opal_testing::processes::{eventually, signal};

/// A project whose temporary files are in `tmp`.
fn machine(text: &str) -> Opal {
    let opal = Opal::machine(text).file("tmp/.keep", "");
    let tmp = opal.path().join("tmp").display().to_string();
    opal.env("TMPDIR", &tmp)
}

fn main_of(body: &str) -> Opal {
    machine(&format!("fun main() {{\n{body}\n}}\n"))
}

/// What is left of the files of scripts.
fn left(opal: &Opal) -> Vec<String> {
    let entries = std::fs::read_dir(opal.path().join("tmp")).unwrap();
    let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("opal-")).collect()
}

#[test]
fn a_text_runs_verbatim_with_its_arguments() {
    let body = "    @script(\"sh -eu\", args=[\"a b\", \"-x\", \"$(id)\", \"\"]) {
        # @var.nope \\n 'unbalanced\" // text
        printf '<%s>' \"$@\"; echo
        if true; then
          f() { echo '}'
            }
          f
        fi
    }";
    // opal ignores a quote that is not closed; the shell would report it.
    let body = body.replace("'unbalanced\"", "");
    let opal = main_of(&body);
    opal.call(&["main"]).code(0).stdout("<a b><-x><$(id)><>\n}\n");
    assert!(left(&opal).is_empty());
}

#[test]
fn the_text_is_never_read_by_opal_or_by_a_shell() {
    // Each of these would be an error in a block of steps, or run something in a shell.
    let lines = ["'", "\"", "$(touch ran)", "`touch ran`", "@nope(1)", "@var.nope", "<<EOF", "/*"];
    for line in lines.iter().chain(&["if [ x ]; then", "else", "${", "\\", "    }"]) {
        let opal = main_of(&format!("    @script(\"cat\") {{\n        a\n        {line}\n    }}"));
        opal.call(&["main"]).code(0).stdout(&format!("a\n{line}\n"));
        assert!(!opal.path().join("ran").exists(), "{line}");
        let hash = |opal: &Opal| opal.call(&["plan", "main", "--json"]).json()["header"].clone();
        let before = hash(&opal)["plan_hash"].clone();
        opal.call(&["fmt"]).code(0);
        assert_eq!(before, hash(&opal)["plan_hash"], "{line}");
        opal.call(&["main"]).code(0).stdout(&format!("a\n{line}\n"));
    }
}

#[test]
fn values_reach_a_script_as_data_only() {
    let body = "    var secret = @env.API_TOKEN\n    \
                @script(\"sh\", args=[@env.HOSTILE], env={\"TOKEN\": secret}) {\n        \
                printf '%s|%s\\n' \"$1\" \"$TOKEN\"\n        \
                printf %s \"$TOKEN\" | wc -c > length\n        \
                tr '\\0' ' ' < /proc/$$/cmdline > words\n    }";
    let token = "canary-7f3a9b2c4d";
    let opal = main_of(body).env("API_TOKEN", token).env("HOSTILE", "'; touch ran; $(touch ran)");
    let ran = opal.call(&["main"]);
    ran.code(0).hides(token);
    assert!(ran.stdout.starts_with("'; touch ran; $(touch ran)|"), "{ran:#?}");
    assert_eq!(opal.read("length").trim(), token.len().to_string());
    assert!(!opal.read("words").contains(token));
    assert!(!opal.path().join("ran").exists());
    opal.call(&["main", "--dry-run"]).code(0).hides(token);
}

#[test]
fn the_file_is_private_and_gone_afterwards_however_the_step_ends() {
    let body = "    @script(\"sh\", ext=\"sh\") {\n        stat -c '%a %n' \"$0\"\n    }";
    let ran = main_of(body).args(["main"]).run();
    ran.code(0);
    assert!(ran.stdout.starts_with("600 ") && ran.stdout.ends_with(".sh\n"), "{ran:#?}");

    let failing = main_of("    @script(\"sh\") { exit 7 }");
    failing.call(&["main"]).code(7).says("step: main.script[0]");
    assert!(left(&failing).is_empty());

    let slow =
        main_of("    @timeout(200ms, grace=1s) {\n        @script(\"sh\") { sleep 60 }\n    }");
    slow.call(&["main"]).code(124);
    assert!(left(&slow).is_empty());

    let stopped = main_of("    @script(\"sh\") {\n        touch begun\n        sleep 60\n    }");
    let child = stopped.interruptible().arg("main").spawn().unwrap();
    eventually("the script begins", || stopped.path().join("begun").exists());
    assert_eq!(left(&stopped).len(), 1);
    signal(&child, "INT");
    Ran::from(child.wait_with_output().unwrap()).code(130);
    assert!(left(&stopped).is_empty());
}

#[test]
fn the_input_of_a_script_is_that_of_the_step() {
    let text = "    @script(\"sh\") {\n        read -r line && echo \"got $line\"\n    }";
    let piped = format!("    echo piped |{}", text.trim_start_matches(' '));
    main_of(&piped.replace("|@", "| @")).args(["main"]).run().code(0).stdout("got piped\n");
    main_of(text).stdin("given\n").args(["main"]).run().code(0).stdout("got given\n");
    let from = format!("    echo file > in\n{text} < in > out 2> err\n    cat out err");
    main_of(&from).args(["main"]).run().code(0).stdout("got file\n");
}

#[test]
fn a_script_talks_to_the_terminal() {
    let body = "    @script(\"sh\") {\n        test -t 0 && echo 'who are you?'\n        \
                read -r name && echo \"hello $name\"\n    }";
    let (code, shown) = typed(main_of(body).args(["main"]).interruptible(), "you?", b"May\n");
    assert!(code == 0 && shown.contains("hello May"), "{code} {shown}");
}

#[test]
fn a_script_works_in_every_block_and_chain() {
    let text = "fun main() {\n    @retry(2, delay=1ms) {\n        @script(\"sh\") {\n            \
                test -e once || { touch once; exit 4; }\n        }\n    }\n    \
                @workdir(\"sub\", create=true) {\n        @script(\"sh\") { basename \"$PWD\" }\n    }\n    \
                @script(\"sh\") { exit 1 } || echo else\n    \
                printf 'b\\na\\n' | @script(\"awk -f\") { { print $1 \"}\" } } | sort\n    \
                @parallel {\n        @script(\"sh\") { echo one }\n        \
                @script(\"sh\") { echo two }\n    }\n}\n";
    let ran = machine(text).args(["main"]).run();
    ran.code(0).stdout("sub\nelse\na}\nb}\none\ntwo\n");
}

#[test]
fn a_program_that_is_not_there_is_an_error_before_the_first_step() {
    for (body, found) in [
        ("@script(\"no-such-program -x\") { a }", true),
        ("@retry(2) {\n    @script(\"no-such-program\") { a }\n    }", true),
        ("if true {\n    @needs.other()\n    }", true),
        ("@script(\"/no/such/program\") { a }", true),
        // Where it would be looked for is not known yet, or it is not reached.
        ("@environ(PATH=\"/tmp\") {\n    @script(\"no-such-program\") { a }\n    }", false),
        ("@script(\"no-such-program\", env={\"PATH\": \"/tmp\"}) { a }", false),
        ("@script(\"./no-such-program\") { a }", false),
    ] {
        let text = format!(
            "fun main() {{\n    {body}\n}}\nfun first() {{\n    touch ran\n    @cmd.main()\n}}\n\
             fun other() {{\n    @script(\"no-such-program\") {{ a }}\n}}\n"
        );
        let opal = machine(&text);
        let ran = opal.call(&["first"]);
        assert_eq!(opal.path().join("ran").exists(), !found, "{body}: {ran:#?}");
        if found {
            ran.code(65).says("E1215").says("program` is not installed, or not in `PATH`");
        } else {
            ran.code(127);
        }
    }
    // What a run skips need not be there.
    let skipped = "fun main() {\n    @script(\"no-such-program\") { a }\n    echo rest\n}\n";
    machine(skipped).args(["main", "--from", "main.shell[0]"]).run().code(0).stdout("rest\n");
}

#[test]
fn a_text_has_a_limit_of_one_mebibyte() {
    let text = |bytes: usize| {
        let line = format!("{}\n", "x".repeat(1023));
        format!("fun main() {{\n@script(\"wc -c <\") {{\n{}}}\n}}\n", line.repeat(bytes / 1024))
    };
    assert_eq!(Opal::codes(&text(1024 * 1024)), Vec::<String>::new());
    assert_eq!(Opal::codes(&text(1024 * 1024 + 1024)), ["E1214"]);
    let small = text(1024 * 1024).replace("wc -c <", "wc -c");
    let ran = machine(&small).args(["main"]).run();
    ran.code(0);
    assert!(ran.stdout.starts_with("1048576 "), "{}", ran.stdout);
}

#[test]
fn errors_in_the_form_of_a_text_are_reported_once() {
    for (body, codes) in [
        ("    @script(\"sh\") {\n        a\n    b", &["E0302"][..]),
        ("    @script(\"sh\") { a\n        b\n    }", &["E0301"]),
        ("    @script(\"sh\")", &["E0509"]),
        ("    @script() {\n        a\n    }", &["E0501"]),
        ("    @script(\"  \") {\n        a\n    }", &["E0508"]),
        ("    @script(\"sh\", ext=\"../x\") {\n        a\n    }", &["E0508"]),
        ("    @script(\"sh\", args=[1]) {\n        a\n    }", &["E0505"]),
        ("    let.x = @script(\"sh\") {\n        a\n    }\n    echo @let.x", &["E0608"]),
        ("    var x = @script(\"sh\")\n    echo @var.x", &["E0511"]),
    ] {
        let ending = if codes == ["E0302"] { "\n" } else { "\n}\n" };
        let found = Opal::codes(&format!("fun main() {{\n{body}{ending}"));
        assert_eq!(found, codes, "{body}");
    }
}

#[test]
fn the_block_of_an_unknown_decorator_is_skipped() {
    let text = "fun main(who: String) {\n    var x = 1\n    @acme.query(db=\"x\") {\n        \
                select '@var.x' from \"t; -- '\n        if [ x ]; then\n            } else {\n    }\n    \
                @acme.run { it's }\n    echo done\n}\n";
    assert_eq!(Opal::codes(text), ["E0406"]);
    let opal = Opal::machine(text);
    let ran = opal.call(&["check"]);
    ran.code(65).says("unknown decorator `@acme.query`").says("2 errors");
    // Whether another indentation would change it is not known.
    opal.call(&["fmt"]).code(65).says("cannot be formatted");
    assert_eq!(opal.read("commands.opl"), text);
}

#[test]
fn plans_show_ten_lines_and_documents_all_of_them() {
    let lines: Vec<String> = (1..=12).map(|n| format!("        line {n}\n")).collect();
    let body = format!("    @script(\"cat\") {{\n{}    }}", lines.concat());
    let opal = main_of(&body);
    let tree = "main:\n└─ @script(\"cat\") {\n   ┊   line 1\n";
    let more = "   ┊   line 10\n   ┊   … 2 more lines (`--format json` has all)\n   ┊ }\n";
    opal.call(&["main", "--dry-run"]).code(0).says(tree).says(more).hides("line 11");
    let json = opal.call(&["plan", "main", "--format", "json"]).code(0).json();
    let text = json["steps"][0]["args"]["block_text"].to_string();
    assert!(text.contains("line 1\\nline 2\\n") && text.contains("line 12\\n"), "{text}");
    opal.call(&["main"]).code(0).says("▸ @script(\"cat\") { 12 lines }");
}

#[test]
fn a_changed_text_is_another_plan() {
    let body = "    @script(\"cat\") {\n        one\n          two\n    }";
    let opal = main_of(body);
    opal.call(&["plan", "main", "-o", "main.plan"]).code(0);
    opal.call(&["plan", "show", "main.plan"]).code(0).says("┊   one").says("┊     two");
    // Another indentation of the whole text is the same text.
    let moved = "fun main() {\n  @script(\"cat\") {\n      one\n        two\n  }\n}\n";
    opal.write("commands.opl", moved);
    opal.call(&["run", "--plan", "main.plan"]).code(0).stdout("one\n  two\n");
    opal.write("commands.opl", moved.replace("  two", "two"));
    let refused = opal.call(&["run", "--plan", "main.plan"]);
    refused.code(76).stdout("").says("source_changed").says("2 lines, sha256:");
}

#[test]
fn a_directory_for_the_file_that_cannot_be_used_fails_the_step() {
    let opal = main_of("    echo first\n    @script(\"cat\") { a }").env("TMPDIR", "/no/such");
    let ran = opal.call(&["main"]);
    ran.stdout("first\n").says("the text of the script cannot be written").says("TMPDIR");
    assert_ne!(ran.code, 0);
}
