//! The helpers of this process.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use opal_core::pages::Pages;
use opal_core::schema::Schemas;
use opal_core::template;
use opal_helper::{Extra, Unusable};
use opal_plugins::adapt::native::NativeRules;
use opal_plugins::adapt::{RUNTIME, Runtime};
use opal_plugins::client::Hosts;
use opal_plugins::client::compiled::Cache;
use opal_plugins::client::reserved::whole;
use opal_plugins::provider::bridge::{BRIDGE, Bridge};
use opal_trust::machine;
use opal_vault::root::Root;

use crate::ambient::Ambient;
use crate::failure::{Exit, Failure};
use crate::view;

static EXTRA: LazyLock<Arc<Extra>> = LazyLock::new(Arc::default);
static SCHEMAS: LazyLock<Arc<dyn Schemas>> = LazyLock::new(|| extra());

/// `opal-extra`. Nothing is started before it is asked.
pub(crate) fn extra() -> Arc<Extra> {
    Arc::clone(&EXTRA)
}

/// Who reads pages of the web.
pub(crate) fn pages() -> Arc<dyn Pages> {
    extra()
}

/// Who judges inputs by their schema.
pub(crate) fn schemas() -> &'static Arc<dyn Schemas> {
    &SCHEMAS
}

/// Has templates rendered by the helper.
pub(crate) fn render_templates() {
    template::render_by(extra());
}

/// Has the code of packages run by the plugin helper. Nothing is started before it is called.
pub(crate) fn run_packages(root: Option<&Root>, native: NativeRules) {
    RUNTIME.get_or_init(|| Runtime {
        cache: Cache::new(root.cloned()),
        hosts: Hosts::default(),
        web: extra(),
        native,
    });
}

/// Has providers run by their helper. Nothing is started before one is called.
pub(crate) fn run_providers(root: Option<&Root>) {
    let names = || Ambient::environment().into_keys().filter_map(|name| name.into_string().ok());
    BRIDGE.get_or_init(|| Bridge::new(names().collect(), private_folders(root)));
}

/// Where keys of the user are, which no provider needs to see.
pub(crate) fn private_folders(root: Option<&Root>) -> Vec<String> {
    let own = root.map(|root| root.path().join("credentials"));
    let home = crate::ambient::variable("HOME").map(|home| PathBuf::from(home).join(".ssh"));
    let folders = own.into_iter().chain(home).map(|folder| whole(&folder));
    folders.filter_map(|folder| folder.into_os_string().into_string().ok()).collect()
}

/// Says where the keys that compiled code is kept under came from another machine.
pub(crate) fn check_machine(root: &Root) {
    if machine::has_moved(root) {
        let folder = root.path().join("credentials");
        view::plugin::notes(&[format!(
            "the keys in `{}` were used on another machine before; keep them out of caches of CI and out of \
             images: whoever can change them can run code as you",
            folder.display()
        )]);
    }
}

/// Ends what the code of packages started. Nothing of it outlives opal.
pub(crate) fn end_packages() {
    if let Some(runtime) = RUNTIME.get() {
        runtime.hosts.end();
    }
    if let Some(bridge) = BRIDGE.get() {
        bridge.end();
    }
}

/// What a command ended with; one that could not go on without a helper has the exit code for that. The
/// message stays: it names the helper where that is the reason.
pub(crate) fn or_unusable(ended: Result<Exit, Failure>) -> Result<Exit, Failure> {
    let Some(unusable) = EXTRA.unusable() else { return ended };
    let exit = |ended| match ended {
        Exit::Source | Exit::NoValue | Exit::NoFile | Exit::Configuration => exit_of(unusable),
        other => other,
    };
    match ended {
        Ok(ended) => Ok(exit(ended)),
        Err(failure) => Err(Failure { exit: exit(failure.exit), ..failure }),
    }
}

fn exit_of(unusable: &Unusable) -> Exit {
    if unusable.is_unsafe() { Exit::NotTrusted } else { Exit::Unavailable }
}

pub(crate) fn failure(unusable: &Unusable) -> Failure {
    Failure::new(exit_of(unusable), unusable.to_string(), unusable.help())
}
