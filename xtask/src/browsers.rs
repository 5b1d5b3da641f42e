//! Browsers that the tests of pages use, and what drives them: installed once, from the system and from npm into
//! `target/tools/browsers`.

use std::path::Path;

use crate::tools;

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
    tools::provide_node(root, FOLDER, &NODE);
}
