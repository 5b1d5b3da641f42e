//! The files for other editors, as those read them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn editors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors")
}

/// Whether a program is here; in CI each of them is.
fn has(program: &str) -> bool {
    let has = Command::new(program).arg("--version").output().is_ok();
    assert!(has || std::env::var_os("CI").is_none(), "in CI nothing is skipped: {program}");
    has
}

#[test]
fn emacs_compiles_its_mode_without_a_warning_and_loads_it() {
    if !has("emacs") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("opal-mode.el");
    std::fs::copy(editors().join("emacs/opal-mode.el"), &file).unwrap();
    let source = folder.path().join("commands.opl");
    std::fs::write(&source, "fun build() {\n    echo @var.x\n}\n").unwrap();
    let ran = Command::new("emacs")
        .args(["--batch", "-Q", "--eval", "(setq byte-compile-error-on-warn t)"])
        .args(["-f", "batch-byte-compile"])
        .arg(&file)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let ran = Command::new("emacs")
        .args(["--batch", "-Q", "-l"])
        .arg(file.with_extension("elc"))
        .arg(&source)
        .args(["--eval", "(progn (font-lock-ensure) (princ major-mode))"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "opal-mode", "{said}");
}

#[test]
fn the_syntax_for_kate_is_well_formed_and_names_what_it_has() {
    if !has("python3") {
        return;
    }
    // Each context and list that a rule names is one of the file.
    let script = "import sys, xml.etree.ElementTree as tree\n\
        top = tree.parse(sys.argv[1]).getroot()\n\
        lists = {it.get('name') for it in top.iter('list')}\n\
        contexts = {it.get('name') for it in top.iter('context')}\n\
        styles = {it.get('name') for it in top.iter('itemData')}\n\
        for rule in top.iter():\n\
        \x20   if rule.tag == 'keyword': assert rule.get('String') in lists, rule.attrib\n\
        \x20   style = rule.get('attribute')\n\
        \x20   assert style is None or style in styles, rule.attrib\n\
        \x20   for key in ['context', 'lineEndContext', 'fallthroughContext']:\n\
        \x20       if rule.tag == 'context' and key == 'context': continue\n\
        \x20       named = (rule.get(key) or '').split('!')[-1]\n\
        \x20       assert named.startswith('#') or not named or named in contexts or '##' in named, rule.attrib\n\
        assert lists and contexts and styles\n";
    let ran = Command::new("python3")
        .args(["-c", script])
        .arg(editors().join("kate/opal.xml"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
