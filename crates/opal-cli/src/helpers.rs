//! The helpers of this process.

use std::sync::{Arc, LazyLock};

use opal_core::pages::Pages;
use opal_core::schema::Schemas;
use opal_core::template;
use opal_helper::{Extra, Unusable};

use crate::failure::{Exit, Failure};

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

/// What a command ended with; where it failed because a helper cannot be used, it ended with that.
pub(crate) fn or_unusable(ended: Result<Exit, Failure>) -> Result<Exit, Failure> {
    let Some(unusable) = EXTRA.unusable() else { return ended };
    let why = failure(unusable);
    match ended {
        Err(failure) => Err(Failure { is_json: failure.is_json, ..why }),
        // What is wrong has been said.
        Ok(Exit::Source | Exit::NoValue | Exit::NoFile | Exit::Configuration) => Ok(why.exit),
        Ok(exit) => Ok(exit),
    }
}

pub(crate) fn failure(unusable: &Unusable) -> Failure {
    let exit = if unusable.is_unsafe() { Exit::NotTrusted } else { Exit::Unavailable };
    Failure::new(exit, unusable.to_string(), unusable.help())
}
