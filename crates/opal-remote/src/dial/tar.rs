//! An archive with one program in it, as `cp` of an engine reads it.

/// Of a header, and of what everything is filled up to.
const BLOCK: usize = 512;

/// The program at an absolute path, which everybody may execute.
pub(super) fn archive(path: &str, program: &[u8]) -> Vec<u8> {
    let mut header = [0; BLOCK];
    let mut put =
        |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, path.trim_start_matches('/'));
    put(100, "0000755\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{:011o}\0", program.len()));
    put(136, "00000000000\0");
    // The sum counts itself as blanks.
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut archive = Vec::with_capacity(program.len() + 4 * BLOCK);
    archive.extend_from_slice(&header);
    archive.extend_from_slice(program);
    archive.resize(archive.len().next_multiple_of(BLOCK) + 2 * BLOCK, 0);
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the program is the system's")]
    fn tar_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("it.tar");
        std::fs::write(&file, archive("/.opal-target", &[7; 1000])).unwrap();
        let mut tar = std::process::Command::new("tar");
        tar.arg("-C").arg(folder.path()).arg("-xf").arg(&file);
        assert!(tar.status().unwrap().success());
        let program = folder.path().join(".opal-target");
        assert_eq!(std::fs::read(&program).unwrap(), [7; 1000]);
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&program).unwrap());
        assert_eq!(mode & 0o777, 0o755);
    }
}
