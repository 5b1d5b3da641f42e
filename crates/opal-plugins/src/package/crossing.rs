//! A package on its way between opal and a helper: a list of its files, and all bytes in one piece.

use serde_json::{Value, json};

use super::{Mode, Package};
use crate::error::PackageError;

impl Package {
    /// `[[PATH, IS_EXECUTABLE, LENGTH], …]`, and the content of all files one after the other.
    #[must_use]
    pub fn joined(&self) -> (Value, Vec<u8>) {
        let list = self.files().map(|(path, mode, bytes)| {
            json!([path.as_str(), mode == Mode::Executable, bytes.len()])
        });
        let bytes = self.files().flat_map(|(_, _, bytes)| bytes).copied().collect();
        (list.collect(), bytes)
    }

    /// The package that was joined. Its files are checked like those of a directory.
    ///
    /// # Errors
    /// What a package cannot have; `Unreadable` where list and bytes do not fit together.
    pub fn parted(list: &Value, mut bytes: &[u8]) -> Result<Self, PackageError> {
        let unreadable = || PackageError::Unreadable {
            path: "the files of the package".to_owned(),
            why: std::io::ErrorKind::InvalidData,
        };
        let mut package = Self::default();
        for file in list.as_array().ok_or_else(unreadable)? {
            let found = (|| {
                let path = file.get(0)?.as_str()?;
                let mode = if file.get(1)?.as_bool()? { Mode::Executable } else { Mode::Plain };
                let length = usize::try_from(file.get(2)?.as_u64()?).ok()?;
                let (content, rest) = bytes.split_at_checked(length)?;
                bytes = rest;
                Some((path, mode, content))
            })();
            let (path, mode, content) = found.ok_or_else(unreadable)?;
            package.add(path.parse()?, mode, content.to_vec())?;
        }
        if bytes.is_empty() { Ok(package) } else { Err(unreadable()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_crosses_whole_and_checked() {
        let mut package = Package::default();
        for (path, mode, bytes) in
            [("opal.toml", Mode::Plain, "[package]\n"), ("plugins/a", Mode::Executable, "")]
        {
            package.add(path.parse().unwrap(), mode, bytes.into()).unwrap();
        }
        let (list, bytes) = package.joined();
        assert_eq!(Package::parted(&list, &bytes).unwrap().checksum(), package.checksum());
        for (list, bytes) in [
            (list.clone(), &bytes[1..]),
            (list, &[&bytes[..], b"x"].concat()),
            (json!([["../x", false, 0]]), &[]),
            (json!([["src/x", false, 0]]), &[]),
            (json!([["tests/x", 1, 0]]), &[]),
            (json!({}), &[]),
        ] {
            assert!(Package::parted(&list, bytes).is_err(), "{list}");
        }
    }
}
