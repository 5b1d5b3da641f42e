//! Options behind a file.

use crate::support::Opal;

fn opal() -> Opal {
    Opal::machine("").file("site.opl", "@file.directory(\"made\")\n")
}

#[test]
fn options_behind_a_file_mean_what_they_mean_before_it() {
    for words in [&["verify", "site.opl", "--json"], &["verify", "--json", "site.opl"]] {
        let opal = opal();
        let document = opal.call(words).code(1).json();
        assert_eq!(document["summary"]["missing"], 1, "{words:?}");
        assert!(!opal.path().join("made").exists(), "{words:?}");
    }
    for words in [&["plan", "site.opl", "-o", "p.plan"], &["plan", "-o", "p.plan", "site.opl"]] {
        let opal = opal();
        opal.call(words).code(0);
        assert!(opal.path().join("p.plan").exists(), "{words:?}");
        assert!(!opal.path().join("made").exists(), "{words:?}");
    }
    for words in [&["site.opl", "--json"][..], &["run", "site.opl", "--json"]] {
        let opal = opal();
        assert_eq!(opal.call(words).code(0).json()["counts"]["done"], 1, "{words:?}");
        assert!(opal.path().join("made").is_dir(), "{words:?}");
    }
}

#[test]
fn what_is_wrong_behind_a_file_leads_to_no_run() {
    let opal = opal();
    for (words, said) in [
        (&["verify", "site.opl", "--jsn"][..], "--json"),
        (&["verify", "site.opl", "-o", "x"], "-o"),
        (&["plan", "site.opl", "--timeout", "5s"], "`--timeout` applies to a run"),
        (&["site.opl", "-o", "p.plan"], "opal plan"),
        (&["site.opl", "word"], "`site.opl` takes no arguments, but got `word`"),
        (&["verify", "site.opl", "word", "--json"], "which it does not use"),
    ] {
        let ran = opal.call(words);
        ran.code(2).says(said).hides("opal --");
        assert!(!opal.path().join("made").exists(), "{words:?}");
    }
    let ran = opal.call(&["verify", "site.opl", "--json", "--verify-first"]);
    assert!(ran.code(2).json()["error"].is_object(), "{ran:#?}");
}

#[test]
fn a_file_that_only_speaks_of_arguments_does_not_read_them() {
    for text in ["# takes no @args\ntouch made\n", "var help = 'no @args'\ntouch made\n"] {
        let opal = Opal::machine("").file("do.opl", text);
        opal.call(&["do.opl", "--dry-run"]).code(0).says("touch made");
        assert!(!opal.path().join("made").exists(), "{text}");
        opal.call(&["do.opl", "word"]).code(2).says("which it does not use");
    }
    let text = "var which = [\"a\", \"b\"]\nvar one = which[@args.length]\necho @var.one\n";
    Opal::machine("").file("do.opl", text).call(&["do.opl", "--dry-run"]).code(0).stdout("b\n");
}

#[test]
fn what_reads_arguments_gets_all_that_stands_behind_it() {
    let opal = Opal::machine("").file("say.opl", "echo @args[0]\n");
    opal.call(&["say.opl", "x", "--json"]).code(0).says("x\n");
}
