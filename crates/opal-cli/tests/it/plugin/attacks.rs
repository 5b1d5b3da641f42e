//! Every promise about packages, broken on purpose.

use std::fs;
use std::os::unix::fs::symlink;

use super::{COMMANDS, GREET, TOML, added, beside, folder, forget, hi, rooted};

#[test]
fn a_file_that_changed_after_it_was_accepted_does_not_run() {
    let opal = added();
    let accepted = opal.read(".opal/config/accepted.toml");
    opal.write(".opal/config/accepted.toml", accepted.split("\n[[trusted]]").next().unwrap());
    hi(&opal).code(0);
    for (file, text) in [
        ("plugins/house/decorators/greet.opl", GREET.replace("echo again", "echo again; id")),
        ("plugins/house/decorators/new.opl", "fun house.new() = id\n".to_owned()),
        ("plugins/house/README.md", "read me\n".to_owned()),
    ] {
        let path = folder(&opal, file);
        let before = fs::read(&path).ok();
        fs::write(&path, text).unwrap();
        hi(&opal).code(77).says("it has changed since it was accepted");
        match before {
            Some(before) => fs::write(&path, before).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        hi(&opal).code(0);
    }
}

#[test]
fn a_package_with_a_symlink_a_pipe_or_a_name_twice_is_not_a_package() {
    let opal = added();
    let link = folder(&opal, "plugins/house/decorators/link.opl");
    symlink("/etc/passwd", &link).unwrap();
    hi(&opal).code(65).says("`decorators/link.opl` is neither a file nor a directory");
    fs::remove_file(&link).unwrap();
    let pipe = folder(&opal, "plugins/house/tests");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    hi(&opal).code(65).says("`tests` is neither a file nor a directory");
    fs::remove_file(&pipe).unwrap();
    opal.write("plugins/house/decorators/Greet.opl", "");
    hi(&opal).code(65).says("is there twice");
    fs::remove_file(folder(&opal, "plugins/house/decorators/Greet.opl")).unwrap();
    opal.write("plugins/house/decorators/a b.opl", "");
    hi(&opal).code(65).says("not allowed in a package");
    fs::remove_file(folder(&opal, "plugins/house/decorators/a b.opl")).unwrap();
    hi(&opal).code(0);
}

#[test]
fn a_package_of_64_mib_and_a_byte_is_refused() {
    let opal = added();
    fs::create_dir(folder(&opal, "plugins/house/tests")).unwrap();
    let file = fs::File::create(folder(&opal, "plugins/house/tests/large")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    hi(&opal).code(65).says("at most 64 MiB");
}

#[test]
fn a_lock_that_changes_together_with_the_checkout_accepts_nothing() {
    let opal = beside();
    // As a hostile commit would have it: everything agrees, and says that all is well.
    opal.write("opal.mod", "[plugins]\n\"./plugins/house\" = \"1.0.0\"\n");
    opal.write(
        "opal.lock",
        "version = 1\n[[plugin]]\nname = \"acme/house\"\nversion = \"1.0.0\"\n\
         source = \"local+./plugins/house\"\ncapabilities = [\"shell\"]\nrequires = []\n",
    );
    opal.call(&["check"]).code(0);
    hi(&opal).code(77).says("nobody has accepted it");
    opal.call(&["plugin", "install"]).code(77).says("nobody can be asked");
}

#[test]
fn a_list_in_the_checkout_accepts_nothing() {
    let opal = added();
    let list = opal.call(&["plugin", "accepted"]).stdout.clone();
    forget(&opal);
    opal.write("accepted.toml", &list);
    let ran = opal.call(&["plugin", "install", "--accept", "accepted.toml"]);
    ran.code(77).says("is in the checkout whose packages it would accept");
    let outside = tempfile::tempdir().unwrap();
    symlink(folder(&opal, "accepted.toml"), outside.path().join("list")).unwrap();
    let link = outside.path().join("list");
    opal.call(&["plugin", "install", "--accept", link.to_str().unwrap()]).code(77);
    hi(&opal).code(77);
}

#[test]
fn a_list_beside_a_project_of_the_same_checkout_accepts_nothing() {
    let opal = rooted("")
        .file(".git/HEAD", "")
        .file("svc/commands.opl", COMMANDS)
        .file("svc/opal.mod", "name = \"shop\"\n")
        .file("svc/plugins/house/opal.toml", TOML)
        .file("svc/plugins/house/decorators/greet.opl", GREET);
    let plugin = |words: &[&str]| opal.call(&[&["-C", "svc", "plugin"], words].concat());
    plugin(&["trust", "plugins"]).code(0);
    plugin(&["add", "./plugins/house"]).code(0);
    let list = plugin(&["accepted"]).stdout;
    forget(&opal);
    opal.write("accepted.toml", &list);
    let refused = plugin(&["install", "--accept", "../accepted.toml"]);
    refused.code(77).says("is in the checkout whose packages it would accept");
    // A submodule came with what is around it.
    opal.write("svc/.git", "gitdir: ../.git/modules/svc\n");
    plugin(&["install", "--accept", "../accepted.toml"]).code(77).says("is in the checkout");
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("accepted.toml");
    fs::write(&file, &list).unwrap();
    plugin(&["install", "--accept", file.to_str().unwrap()]).code(0);
}

#[test]
fn a_root_with_a_symlink_or_a_relative_path_is_never_for_plugins() {
    let opal = super::wasm::project();
    symlink(".opal", folder(&opal, "link")).unwrap();
    for root in [".opal", "./link", "link"] {
        for file in [".opal/config/accepted.toml", "link/credentials/none"] {
            let denied = opal.call_with(&[("OPAL_ROOT", root)], &["file", file]);
            denied.code(65).says("is never for plugins");
            let denied = opal.call(&["--root", root, "file", file]);
            denied.code(65).says("is never for plugins");
        }
    }
}

#[test]
fn what_others_can_write_is_not_what_was_accepted() {
    use std::os::unix::fs::PermissionsExt;
    let opal = added();
    let file = folder(&opal, ".opal/config/accepted.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    hi(&opal).code(77);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    hi(&opal).code(0);
    fs::write(&file, "version = 1\n[[accepted]]\nname = \"acme/house\"\n").unwrap();
    hi(&opal).code(78);
}

#[test]
fn manifests_that_try_to_exhaust_or_to_confuse_are_refused() {
    let bomb: String = (0..20).fold("x-a: &a0 [1]\n".to_owned(), |text, n| {
        format!("{text}x-{n}: &a{} [{}]\n", n + 1, vec![format!("*a{n}"); 10].join(", "))
    });
    let deep = format!("x-opal-plugin: {}{}\n", "[".repeat(200), "]".repeat(200));
    let endless = "x-opal-plugin: {name: acme/house, version: 1.0.0}\n\
                   $defs: {a: {type: array, items: {$ref: \"#/$defs/a\"}}}\nx-opal-decorators:\n\
                   \x20 - name: house.x\n    params: {properties: {a: {$ref: \"#/$defs/a\"}}}\n";
    let twice = "x-opal-plugin: {name: acme/house, name: acme/house, version: 1.0.0}\nx-opal-decorators: []\n";
    let outside = "x-opal-plugin: {name: acme/house, version: 1.0.0}\nx-opal-decorators:\n\
                   \x20 - name: house.x\n    params: {properties: {a: {$ref: \"https://evil.example/x\"}}}\n";
    for (what, text, code) in [
        ("a bomb of aliases", bomb.as_str(), "E1301"),
        ("200 levels", &deep, "E1301"),
        ("a schema inside itself", endless, "E1305"),
        ("a key twice", twice, "E1303"),
        ("a reference to the web", outside, "E1306"),
        ("a tag", "!!python/object x\n", "E1301"),
        ("not text", "\u{0}", "E1301"),
    ] {
        let opal = added();
        opal.write("plugins/house/dim.yaml", text);
        let ran = hi(&opal);
        ran.code(65).says(code);
        assert!(!ran.stderr.contains("panicked"), "{what}");
    }
}

#[test]
fn a_shell_step_in_any_disguise_is_found() {
    for body in [
        "id",
        "@shell(\"id\")",
        "@script { id }",
        "var x = @shell.output(\"id\")\n    @log(\"@var.x\")",
        "@log(\"@secret.env.TOKEN\")",
        "@log(\"@env.HOME\")",
        "@file.directory(\"/tmp/x\")",
        "@ssh.host(\"h\") {\n        @log(\"x\")\n    }",
        "@retry(2) {\n        id\n    }",
        "if true {\n        id\n    }",
        "@log(\"x\") > @file.write(\"y\")",
        "@cmd.helper()",
    ] {
        let opal = beside();
        let source = format!("fun house.greet() {{\n    {body}\n}}\nfun helper() = id\n");
        opal.write("plugins/house/decorators/greet.opl", source);
        let info = opal.call(&["plugin", "info", "plugins/house"]);
        info.code(0).says("shell: anything you can do");
    }
    let opal = beside();
    opal.write(
        "plugins/house/decorators/greet.opl",
        "fun house.greet(x: Int = 1) {\n    @log(\"@var.x\")\n}\n",
    );
    opal.call(&["plugin", "info", "plugins/house"]).code(0).says("Capabilities: none");
}

#[test]
fn a_package_cannot_pretend_to_be_a_part_of_opal() {
    for path in ["file.read", "shell.output", "env.x", "needs.x", "cmd.x", "module.x", "house"] {
        let opal = beside();
        opal.write("plugins/house/decorators/greet.opl", format!("fun {path}() = id\n"));
        let ran = opal.call(&["plugin", "add", "./plugins/house"]);
        assert_ne!(ran.code, 0, "{path}");
        ran.code(65);
    }
}

#[test]
fn words_of_a_manifest_cannot_paint_the_terminal() {
    let opal = beside();
    opal.write("plugins/house/opal.toml", format!("{TOML}description = \"\\u001b[2Jharmless\"\n"));
    let ran = opal.call(&["plugin", "info", "plugins/house"]);
    assert!(!ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
}
