//! Pages of `opal ui` as pictures, by Chromium.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::chores::command;

const CHROMIUM: &str = "/usr/bin/chromium";
const MODULES: &str = "target/tools/browsers/node_modules";
const SCRIPT: &str = "xtask/src/pictures/page.cjs";

/// How long `opal ui` may take to say where it is.
const PATIENCE: Duration = Duration::from_secs(60);

/// The address that the terminal shows, once it does.
pub(super) fn served(shown: &dyn Fn() -> Result<String, String>) -> Result<String, String> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        // A terminal breaks long lines anywhere.
        let text: String = shown()?.split('\n').map(str::trim_end).collect();
        if text.contains("Ctrl+C ends it")
            && let Some((_, rest)) = text.split_once("http://")
            && let Some((_, word)) = rest.split_once("/ticket/")
        {
            let digits = word.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(word.len());
            let length = rest.len() - word.len() + digits;
            return Ok(format!("http://{}", &rest[..length]));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err("`opal ui` does not say where it is".to_owned())
}

/// Opens a page with the ticket, and takes its picture in both themes.
pub(super) fn take(
    root: &Path,
    ticket: &str,
    page: &str,
    [dark, light]: &[PathBuf; 2],
) -> Result<(), String> {
    let modules = root.join(MODULES).display().to_string();
    if !Path::new(CHROMIUM).exists() || !root.join(MODULES).exists() {
        let why = "Chromium or puppeteer-core is missing: `cargo xtask test --long` installs them";
        return Err(why.to_owned());
    }
    let [dark, light] = [dark, light].map(|path| path.display().to_string());
    let script = root.join(SCRIPT).display().to_string();
    let words = ["node", &script, &modules, CHROMIUM, ticket, page, &dark, &light];
    let taken = command(&words).output().map_err(|error| format!("node: {error}"))?;
    match taken.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&taken.stderr).into_owned()),
    }
}
