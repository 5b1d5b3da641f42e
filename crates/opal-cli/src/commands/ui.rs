//! `opal ui`: becomes the helper that serves pages.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgMatches;
use opal_helper::{SERVE, become_part};

use super::plan::approver::Approver;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::{helpers, prompts};

/// How many milliseconds a second of its limits has, in debug builds: tests do not wait for a minute.
#[cfg(debug_assertions)]
const SECOND: &str = "OPAL_TEST_UI_SECOND";

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let root = context.needed_root(matches.get_one("root"))?;
    let absolute =
        |path: &PathBuf| std::path::absolute(path).map_err(|it| Failure::unreadable(path, &it));
    let mut words: Vec<OsString> = vec![absolute(&root.path().to_owned())?.into()];
    let mut add = |name: &str, value: OsString| words.extend([name.into(), value]);
    let socket = matches.get_one::<PathBuf>("socket").map(absolute).transpose()?;
    let opens = socket.is_none() && !matches.get_flag("no-open") && context.ambient.has_screen;
    if let Some(socket) = socket {
        add("socket", socket.into());
    }
    if let Some(host) = matches.get_one::<String>("host") {
        add("host", host.into());
    }
    let key = matches.get_one::<String>("key").map(String::as_str);
    // Where nobody can be asked, the touch of a hardware key is an answer.
    let touched = Approver::find(key, Some(&root), &[]).ok();
    let touched = touched.filter(|it| it.file.signer.is_hardware() && !prompts::can_ask(context));
    if let Some(approver) = touched {
        add("key", absolute(&approver.path)?.into());
        add("touch", "yes".into());
    } else if let Some(key) = key {
        // A file, or the name of a key in the runtime root.
        let file = PathBuf::from(key);
        add("key", if file.exists() { absolute(&file)?.into() } else { key.into() });
    }
    if opens {
        add("open", "yes".into());
    }
    #[cfg(debug_assertions)]
    if let Some(second) = crate::ambient::variable(SECOND) {
        add("second", second);
    }
    Err(helpers::failure(&become_part(SERVE, "ui", &words)))
}
