//! Key bindings: Alt+O inserts a command line that was picked. They never run it.

/// `bind -x` gives the line to a function. A `$` in what was picked stays one: nothing is evaluated.
const BASH: &str = r#"_opal_pick() {
    local picked
    picked=$(opal self pick --print --shell bash) || return
    READLINE_LINE=${READLINE_LINE:0:READLINE_POINT}$picked${READLINE_LINE:READLINE_POINT}
    READLINE_POINT=$((READLINE_POINT + ${#picked}))
}
bind -x '"\eo": _opal_pick'
"#;

const ZSH: &str = r#"_opal_pick() {
    local picked
    picked=$(opal self pick --print --shell zsh) && LBUFFER+=$picked
    zle reset-prompt
}
zle -N _opal_pick
bindkey '\eo' _opal_pick
"#;

const FISH: &str = r#"function _opal_pick
    set -l picked (opal self pick --print --shell fish)
    and commandline --insert -- $picked
    commandline --function repaint
end
bind \eo _opal_pick
"#;

/// The bindings for a shell that has them.
pub(super) fn bindings(shell: &str) -> Option<&'static str> {
    match shell {
        "bash" => Some(BASH),
        "zsh" => Some(ZSH),
        "fish" => Some(FISH),
        _ => None,
    }
}
