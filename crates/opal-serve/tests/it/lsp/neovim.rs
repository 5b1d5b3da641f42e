//! The Neovim of the distribution, without a screen: it attaches, types, and checks what it gets.

use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn neovim_shows_diagnostics_completes_hovers_renames_formats_and_previews() {
    if Command::new("nvim").arg("--version").output().is_err() {
        let is_ci = std::env::var_os("CI").is_some();
        assert!(!is_ci, "in CI nothing is skipped, but Neovim is missing");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let text = "// Builds.\nfun build(target: String) {\n    echo @var.target\n}\n\nfun all() {\n    \
                @cmd.build(\"x\")\n}\n";
    std::fs::write(root.join("commands.opl"), text).unwrap();
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ran = Command::new("nvim")
        .args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "-c"])
        .arg(format!("luafile {}", top.join("tests/it/lsp/neovim.lua").display()))
        .current_dir(&root)
        .env("HOME", &root)
        // Lenses start the program that the options name.
        .env("PATH", "/usr/bin:/bin")
        .env("OPAL_NVIM", top.join("../../editors/nvim"))
        .env("OPAL_BINARY", super::opal())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.contains("all of it"), "{said}");
}
