//! A directory with inventories.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use opal_core::resolver::Trouble;
use opal_remote::inventory::{self, Inventory, Selected, Source};
use opal_session::world::{OsWorld, Surroundings};

pub(crate) struct Site {
    folder: tempfile::TempDir,
}

impl Site {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let site = Self { folder: tempfile::tempdir().unwrap() };
        files.iter().for_each(|(name, text)| drop(site.file(name, text)));
        site
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn read(&self, source: &str) -> Result<Inventory, Trouble> {
        let path = std::env::split_paths("/usr/local/bin:/usr/bin:/bin");
        let path = std::env::join_paths(path).unwrap();
        let environment = BTreeMap::from([(OsString::from("PATH"), path)]);
        let world = OsWorld::new(Surroundings {
            environment: Arc::new(environment),
            start: self.path(),
            caller: self.path(),
            home: Some(self.path().join("home")),
            ..Surroundings::default()
        });
        inventory::read(&Source::parse(source), &world)
    }

    #[track_caller]
    pub(crate) fn select(&self, source: &str, select: &str) -> Selected {
        self.read(source).unwrap().select(select, None).unwrap()
    }

    /// What is said about an inventory that cannot be read, or a host that cannot be selected.
    #[track_caller]
    pub(crate) fn refused(&self, source: &str, select: &str) -> String {
        let here = format!("{}/", self.path().display());
        let said = match self.read(source) {
            Err(trouble) => {
                let help: Vec<String> = trouble.help.into_iter().map(String::from).collect();
                format!("{}; {}", String::from(trouble.message), help.join("; "))
            }
            Ok(read) => {
                let error = read.select(select, None).unwrap_err();
                format!("{error}; {}", error.help())
            }
        };
        said.replace(&here, "")
    }
}

pub(crate) fn names(selected: &Selected) -> String {
    selected.targets.iter().map(|it| it.name.to_string()).collect::<Vec<_>>().join(" ")
}
