//! The names in a directory, all at once: what is ignored among them, one of them says.

use std::ffi::CStr;
use std::io;
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::fs::FileType;

use super::ignored::RULES;

/// Names and kinds; used again for the next directory.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Each with its NUL.
    names: Vec<u8>,
    /// Where each ends.
    entries: Vec<(usize, FileType)>,
    /// Which of [`RULES`] are among them.
    pub(super) has: [bool; 3],
    #[cfg(target_os = "linux")]
    buffer: Vec<MaybeUninit<u8>>,
}

impl Listing {
    #[cfg(target_os = "linux")]
    pub(super) fn read(&mut self, directory: &OwnedFd) -> io::Result<()> {
        self.clear();
        self.buffer.resize(32 * 1024, MaybeUninit::uninit());
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut entries = rustix::fs::RawDir::new(directory, &mut buffer);
        let mut result = Ok(());
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) => self.add(entry.file_name(), entry.file_type()),
                Err(error) => result = Err(error.into()),
            }
            if result.is_err() {
                break;
            }
        }
        self.buffer = buffer;
        result
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn read(&mut self, directory: &OwnedFd) -> io::Result<()> {
        self.clear();
        for entry in rustix::fs::Dir::read_from(directory)? {
            let entry = entry?;
            self.add(entry.file_name(), entry.file_type());
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.names.clear();
        self.entries.clear();
        self.has = [false; 3];
    }

    fn add(&mut self, name: &CStr, kind: FileType) {
        if name != c"." && name != c".." {
            if name.to_bytes().starts_with(b".") {
                for (has, rules) in self.has.iter_mut().zip(RULES) {
                    *has |= name.to_bytes() == rules.as_bytes();
                }
            }
            self.names.extend(name.to_bytes_with_nul());
            self.entries.push((self.names.len(), kind));
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&CStr, FileType)> {
        let mut start = 0;
        self.entries.iter().filter_map(move |&(end, kind)| {
            let name = CStr::from_bytes_with_nul(&self.names[start..end]).ok();
            start = end;
            Some((name?, kind))
        })
    }
}
