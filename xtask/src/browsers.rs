//! Browsers that the tests of pages use, and what drives them: installed once, from the system and from npm into
//! `target/tools/browsers`.

use std::path::Path;

use crate::chores::run;
use crate::{say, tools};

const FOLDER: &str = "target/tools/browsers";

/// From npm. The first one speaks to Chromium and Firefox, the second one checks accessibility.
const NODE: [(&str, &str); 2] = [
    ("puppeteer-core@24.43.1", "node_modules/puppeteer-core"),
    ("axe-core@4.14.0", "node_modules/axe-core"),
];

/// Without them the tests of pages in browsers are skipped, or fail in CI.
pub(crate) fn provide(root: &Path) {
    let chromium = ("chromium", "/usr/bin/chromium");
    tools::provide(root, &[chromium, ("firefox-esr", "/usr/bin/firefox-esr"), ("npm", "npm")]);
    let is_there = |file: &str| root.join(FOLDER).join(file).exists();
    for (package, _) in NODE.iter().filter(|(_, file)| !is_there(file)) {
        let line = ["npm", "install", "--silent", "--prefix", FOLDER, package];
        if let Err(message) = run(root, &line) {
            say(&format!("{package} is missing: {message}"));
        }
    }
}
