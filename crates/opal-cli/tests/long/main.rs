//! What takes too long for every run of the tests, or changes the network of this machine:
//! `cargo xtask test --long` runs it, one test at a time.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod clouds;
mod collector;
mod docker;
#[path = "../it/report/hostile_texts.rs"]
mod hostile_texts;
#[path = "../it/imports.rs"]
mod imports;
mod inspector;
mod interrupted;
#[path = "imports.rs"]
mod many_imports;
mod networks;
mod pages;
mod providers;
#[path = "../it/pty.rs"]
mod pty;
#[path = "../it/plugin/providers/script.rs"]
mod script;
mod silent;
#[path = "../it/plugin/story.rs"]
mod story;
#[path = "../it/support.rs"]
#[expect(dead_code, reason = "some helpers are only used by the other binary")]
mod support;
mod templates;
mod ui;
mod vault;

use opal_testing::needs;
