//! Texts of other languages that start a shell themselves: `awk -v h=@var.x '{ system("ping " h) }'`.

use super::super::cases::At;
use super::super::programs::Called;
use super::Reader;

/// What calls a shell in a text for these programs.
const CALLS: [(&[&str], &[&[u8]]); 5] = [
    (&["awk", "gawk", "mawk", "nawk"], &[b"system(", b"| \"", b"|\"", b"\" |", b"\"|", b"|&"]),
    (
        &["perl", "ruby", "php"],
        &[b"system(\"", b"system \"", b"exec(\"", b"exec \"", b"`", b"qx", b"popen(", b"passthru("],
    ),
    (&["python", "pypy", "ipython"], &[b"os.system(", b"os.popen(", b"shell=True"]),
    (&["node", "nodejs", "tsx", "ts-node"], &[b"execSync(", b"child_process"]),
    (&["git"], &[b"=!"]),
];

impl Reader<'_, '_> {
    /// Warns about all words and the input of a program whose text, written in the step, starts a shell.
    pub(super) fn shell_calls(&mut self, called: Called, rest: &[usize]) {
        let Some(case) = called.case(At::Calls) else { return };
        let calls = CALLS.iter().find(|(names, _)| names.contains(&called.name));
        let is_call = |index: &usize| {
            let word = &self.words[*index];
            let text = word.text.as_ref();
            let has = |call: &&[u8]| text.windows(call.len()).any(|part| part == *call);
            word.whole
                && match calls {
                    Some((_, calls)) => calls.iter().any(has),
                    // `s/a/b/e` of sed.
                    None => [&b"/e"[..], b"/ge", b"/eg"].iter().any(|end| text.ends_with(end)),
                }
        };
        if rest.iter().any(is_call) {
            rest.iter().for_each(|index| self.mark(*index, case));
            self.reading.input = self.reading.input.or(Some(case));
        }
    }
}
