//! What to write where a value is refused, by what would run it.

use super::cases::Case;

impl Case {
    /// How a value is passed as data here.
    #[must_use]
    pub fn instead(&self) -> &'static str {
        match self.programs.first().copied() {
            Some("trap") => {
                "keep it in a variable that the text in single quotes reads: `d=@var.NAME; trap 'rm \
                 -rf \"$d\"' EXIT`"
            }
            Some("watch") => "start the program without a shell: `watch -x PROGRAM @var.NAME`",
            None if self == Self::INTERPRETED => {
                "give the variable another name that your program reads, for example \
                 `APP_ENV=@var.NAME`"
            }
            _ if self.why.contains("on the other machine") => {
                "pass it on standard input: `printf '%s\\n' @var.NAME | ssh HOST 'read -r v; deploy \
                 \"$v\"'`"
            }
            _ => {
                "pass it as data: as an argument, `bash -c 'echo \"$1\"' _ @var.NAME`, or on \
                 standard input, `printf %s @var.NAME | ssh HOST 'cat > file'`"
            }
        }
    }
}
