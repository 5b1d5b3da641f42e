//! Files, directories and links.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use opal_core::Value;
use opal_core::resource::Status::{Blocked, Drifted, Missing, Satisfied};
use opal_testing::conformance::Case;

use super::{Args, holds, text, within};

fn mode(path: &Path, mode: u32) -> std::io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[test]
fn directory() {
    fn args(folder: &Path) -> Args {
        Ok(vec![("path", within(folder, "a/b")), ("mode", text("0750"))])
    }
    fn made(folder: &Path, bits: u32) -> Args {
        fs::create_dir_all(folder.join("a/b"))?;
        mode(&folder.join("a/b"), bits)?;
        args(folder)
    }
    holds(
        "file.directory",
        &[
            Case { name: "nothing there", status: Missing, prepare: args },
            Case { name: "another mode", status: Drifted, prepare: |it| made(it, 0o700) },
            Case { name: "in the desired state", status: Satisfied, prepare: |it| made(it, 0o750) },
            Case {
                name: "a file in its place",
                status: Blocked,
                prepare: |folder| {
                    fs::create_dir(folder.join("a"))?;
                    fs::write(folder.join("a/b"), "")?;
                    args(folder)
                },
            },
        ],
    );
}

#[test]
fn absent() {
    fn args(folder: &Path, recursive: bool) -> Args {
        Ok(vec![("path", within(folder, "a")), ("recursive", Value::Bool(recursive))])
    }
    fn full(folder: &Path, recursive: bool) -> Args {
        fs::create_dir(folder.join("a"))?;
        fs::write(folder.join("a/b"), "kept")?;
        args(folder, recursive)
    }
    holds(
        "file.absent",
        &[
            Case { name: "nothing there", status: Satisfied, prepare: |it| args(it, false) },
            Case {
                name: "a file",
                status: Drifted,
                prepare: |folder| {
                    fs::write(folder.join("a"), "x")?;
                    args(folder, false)
                },
            },
            Case {
                name: "a link",
                status: Drifted,
                prepare: |folder| {
                    fs::write(folder.join("b"), "x")?;
                    symlink("b", folder.join("a"))?;
                    args(folder, false)
                },
            },
            Case { name: "a full directory", status: Drifted, prepare: |it| full(it, true) },
            Case { name: "one to be kept", status: Blocked, prepare: |it| full(it, false) },
        ],
    );
}

#[test]
fn link() {
    fn args(folder: &Path) -> Args {
        Ok(vec![("source", within(folder, "to")), ("target", within(folder, "a/link"))])
    }
    fn linked(folder: &Path, to: &str) -> Args {
        fs::create_dir(folder.join("a"))?;
        symlink(folder.join(to), folder.join("a/link"))?;
        args(folder)
    }
    holds(
        "file.symlink",
        &[
            Case {
                name: "nothing there",
                status: Missing,
                prepare: |folder| {
                    fs::create_dir(folder.join("a"))?;
                    args(folder)
                },
            },
            Case { name: "another link", status: Drifted, prepare: |it| linked(it, "other") },
            Case {
                name: "in the desired state",
                status: Satisfied,
                prepare: |it| linked(it, "to"),
            },
            Case {
                name: "a file in its place",
                status: Blocked,
                prepare: |folder| {
                    fs::create_dir(folder.join("a"))?;
                    fs::write(folder.join("a/link"), "kept")?;
                    args(folder)
                },
            },
        ],
    );
}

#[test]
fn copy() {
    fn args(folder: &Path, overwrite: bool) -> Args {
        fs::write(folder.join("from"), "one\ntwo\n")?;
        Ok(vec![
            ("source", within(folder, "from")),
            ("destination", within(folder, "to")),
            ("overwrite", Value::Bool(overwrite)),
        ])
    }
    fn other(folder: &Path, overwrite: bool) -> Args {
        fs::write(folder.join("to"), "one\nthree\n")?;
        args(folder, overwrite)
    }
    holds(
        "file.copy",
        &[
            Case { name: "nothing there", status: Missing, prepare: |it| args(it, false) },
            Case { name: "another content", status: Drifted, prepare: |it| other(it, true) },
            Case { name: "one to be kept", status: Blocked, prepare: |it| other(it, false) },
            Case {
                name: "in the desired state",
                status: Satisfied,
                prepare: |folder| {
                    fs::write(folder.join("to"), "one\ntwo\n")?;
                    args(folder, false)
                },
            },
            Case {
                name: "a tree",
                status: Missing,
                prepare: |folder| {
                    fs::create_dir_all(folder.join("from/deep"))?;
                    fs::write(folder.join("from/deep/file"), "x")?;
                    symlink("deep", folder.join("from/link"))?;
                    let recursive = ("recursive", Value::Bool(true));
                    Ok(vec![
                        ("source", within(folder, "from")),
                        ("destination", within(folder, "to")),
                        recursive,
                    ])
                },
            },
            Case {
                name: "no source",
                status: Blocked,
                prepare: |folder| {
                    Ok(vec![
                        ("source", within(folder, "none")),
                        ("destination", within(folder, "to")),
                    ])
                },
            },
        ],
    );
}

#[test]
fn template() {
    fn args(folder: &Path) -> Args {
        fs::write(folder.join("from.j2"), "port = {{ port }}\n")?;
        let vars = std::iter::once(("port".to_owned(), Value::Int(80))).collect();
        Ok(vec![
            ("source", within(folder, "from.j2")),
            ("destination", within(folder, "to")),
            ("vars", Value::Map(vars)),
        ])
    }
    fn there(folder: &Path, content: &str) -> Args {
        fs::write(folder.join("to"), content)?;
        args(folder)
    }
    holds(
        "file.template",
        &[
            Case { name: "nothing there", status: Missing, prepare: args },
            Case { name: "another port", status: Drifted, prepare: |it| there(it, "port = 1\n") },
            Case { name: "as it is", status: Satisfied, prepare: |it| there(it, "port = 80\n") },
            Case {
                name: "no source",
                status: Blocked,
                prepare: |folder| {
                    let args = args(folder)?;
                    fs::remove_file(folder.join("from.j2"))?;
                    Ok(args)
                },
            },
        ],
    );
}

#[test]
fn line() {
    fn args(folder: &Path) -> Args {
        Ok(vec![
            ("file", within(folder, "file")),
            ("line", text("port 80")),
            ("match", text("^port ")),
        ])
    }
    fn there(folder: &Path, content: &[u8]) -> Args {
        fs::write(folder.join("file"), content)?;
        args(folder)
    }
    holds(
        "file.line",
        &[
            Case { name: "no file", status: Missing, prepare: args },
            Case { name: "another line", status: Drifted, prepare: |it| there(it, b"a\nport 1\n") },
            Case {
                name: "as it is",
                status: Satisfied,
                prepare: |it| there(it, b"a\r\nport 80\nb"),
            },
            Case {
                name: "two that could be meant",
                status: Blocked,
                prepare: |folder| {
                    let mut args = there(folder, b"port 1\nport 2\n")?;
                    args.push(("on_multiple_matches", text("error")));
                    Ok(args)
                },
            },
        ],
    );
}
