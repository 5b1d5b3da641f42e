//! The table: places where bash, dash or a program that they start reads a word a second time.
//!
//! Taken from the manuals and sources of bash 5.2 and dash 0.5.12, section by section, and from the
//! manuals of the programs named. Each row has an example, which the tests check and, where it can be
//! run, run in both shells with values that would be code.

mod groups;

use groups::{EDITORS, INTERPRETERS};
pub(super) use groups::{REMOTES, SHELLS};

/// What happens to a value in the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It would run, or be expanded once more. Nothing is allowed.
    Code,
    /// It would be the name of a variable, whose index the shell evaluates. Nothing is allowed.
    Name,
    /// It would be computed. Only an Int is allowed.
    Sum,
    /// A program that is not a shell may run it. Allowed, with a warning.
    Warn,
}

/// Where in a command the place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// In the shell's own syntax.
    Syntax,
    /// The value of one of these options: `c` for `-c`, or a long one with its dashes.
    Option(&'static [&'static str]),
    /// The words from this operand on.
    From(u8),
    /// One operand.
    Operand(u8),
    /// The word after this one.
    After(&'static str),
    /// All words after this one.
    Past(&'static str),
    /// What is assigned, where this letter is among the options.
    Attribute(u8),
    /// What the command reads: a heredoc, a here-string, a pipe.
    Input,
    /// What it reads where no option gives it a text, and at most so many operands are there.
    Script(u8),
    /// What it reads where one of these options is given `-` for a file.
    File(&'static [&'static str]),
    /// A path on another machine, where this letter is among the options.
    Elsewhere(u8),
    /// The words after this one, from this operand on.
    Following(&'static str, u8),
    /// The value of a setting of git that is a command.
    Setting,
    /// The value of one of these options, wherever it is after this word.
    Of(&'static str, &'static [&'static str]),
    /// What it reads where this word is there, at most so many operands follow, and no text for a
    /// shell.
    Reads(&'static str, u8),
    /// A word that begins with this text.
    Begins(&'static str),
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    number: u8,
    /// The programs; none in the shell's own syntax.
    pub programs: &'static [&'static str],
    pub at: At,
    pub role: Role,
    /// What reads the value again, as the end of a sentence about it.
    pub why: &'static str,
    /// A command in which the reference `@var.x` is in this place.
    pub example: &'static str,
}

const fn syntax(role: Role, why: &'static str, example: &'static str) -> Case {
    Case { number: 0, programs: &[], at: At::Syntax, role, why, example }
}

const fn case(
    programs: &'static [&'static str],
    at: At,
    role: Role,
    why: &'static str,
    example: &'static str,
) -> Case {
    Case { number: 0, programs, at, role, why, example }
}

const NAMED: &str = "the shell evaluates the index in the name of a variable";

use At::{
    After, Attribute, Begins, Elsewhere, File, Following, From, Input, Of, Operand, Option, Past,
    Reads, Script, Setting,
};
use Role::{Code, Name, Sum, Warn};

/// At most 255 rows: a place in shell text has eight bits for its row.
#[rustfmt::skip]
pub(super) const ROWS: &[Case] = &[
    // The shell's own syntax. The constants of `Case` name these rows by their numbers.
    syntax(Code, "bash expands the word after `>&` and `<&` twice", "make >& @var.x"),
    syntax(Name, "the shell evaluates the index of an array", "a[@var.x]=1"),
    syntax(Name, "the shell evaluates the keys of an array", "a=([@var.x]=1)"),
    syntax(Name, "the shell evaluates the index of a descriptor's variable", "exec {a[@var.x]}>f"),
    syntax(Sum, "the shell computes it", "echo $((@var.x + 1))"),
    syntax(Name, "the shell expands the variable of that name", "echo ${@var.x}"),
    syntax(Name, "the shell evaluates the index in the name of a variable", "[[ -v @var.x ]]"),
    syntax(Sum, "bash computes both sides of a comparison of numbers", "[[ @var.x -eq 1 ]]"),
    syntax(Code, "the shell splits the result of the expansion and looks for files in it", "echo ${HOME/a/@var.x}"),
    syntax(Code, "the shell, the loader or opal interprets the variable", "PS4=@var.x"),
    syntax(Sum, "the variable is an integer or a name reference in this step, so bash evaluates what it is given", "declare -i n; n=@var.x"),
    syntax(Code, "only the shell knows the command, which could be `eval` or a shell", "$CMD @var.x"),
    syntax(Code, "the value is part of a command's name, which could be `eval` or a shell", "e@var.x \"@var.y\""),
    syntax(Code, "what the command prints is evaluated", "echo @var.x | bash"),
    syntax(Code, "bash evaluates the elements of a list that an array is declared with", "a=(); declare a=\"(@var.x)\""),
    syntax(Warn, "a program runs what the variable holds, or takes options from it", "GIT_SSH_COMMAND=@var.x git fetch"),
    syntax(Code, "several values make up a word in which the program may see an option or a setting", "env @var.x@var.x true"),
    // Builtins.
    case(&["eval"], From(0), Code, "`eval` runs it", "eval echo @var.x"),
    case(&["alias"], From(0), Code, "the shell runs it in place of a command", "alias a=@var.x"),
    case(&["trap"], Operand(0), Code, "`trap` runs it later", "trap \"rm @var.x\" EXIT"),
    case(&["source", "."], Input, Code, "`source` runs what it reads", "source /dev/stdin <<< @var.x"),
    case(&["source", "."], Operand(0), Code, "`source` runs what it reads", "source <(echo @var.x)"),
    case(&["let"], From(0), Sum, "`let` computes it", "let n=@var.x"),
    case(&["read"], From(0), Name, NAMED, "read @var.x"),
    case(&["read"], Option(&["a"]), Name, NAMED, "read -a @var.x"),
    case(&["unset"], From(0), Name, NAMED, "unset @var.x"),
    case(&["declare", "typeset", "local", "readonly", "export"], From(0), Name, NAMED, "declare @var.x"),
    case(&["declare", "typeset", "local", "readonly", "export"], Attribute(b'i'), Sum, "bash computes what an integer is given", "declare -i n=@var.x"),
    case(&["declare", "typeset", "local", "readonly"], Attribute(b'n'), Name, NAMED, "declare -n n=@var.x"),
    case(&["declare", "typeset", "local", "readonly", "export"], Attribute(b'a'), Code, "bash evaluates the elements of a list in it", "declare -a a=@var.x"),
    case(&["declare", "typeset", "local", "readonly", "export"], Attribute(b'A'), Code, "bash evaluates the elements of a list in it", "declare -A a=@var.x"),
    case(&["mapfile", "readarray"], Option(&["C"]), Code, "`mapfile` runs it for each line", "mapfile -C @var.x -c 1 lines < f"),
    case(&["mapfile", "readarray"], From(0), Name, NAMED, "mapfile @var.x < f"),
    case(&["printf"], Option(&["v"]), Name, NAMED, "printf -v @var.x hello"),
    case(&["getopts"], Operand(1), Name, NAMED, "getopts ab @var.x"),
    case(&["wait"], Option(&["p"]), Name, NAMED, "wait -n -p @var.x"),
    case(&["test", "["], After("-v"), Name, NAMED, "test -v @var.x"),
    case(&["test", "["], After("-R"), Name, NAMED, "[ -R @var.x ]"),
    case(&["compgen", "complete"], Option(&["C"]), Code, "the shell runs it to complete a word", "compgen -C @var.x"),
    case(&["compgen", "complete"], Option(&["W"]), Code, "the shell expands each of its words", "compgen -W @var.x"),
    case(&["compgen", "complete"], Option(&["F"]), Code, "the shell runs it to complete a word", "complete -F @var.x a"),
    case(&["compgen", "complete"], Option(&["V"]), Name, NAMED, "compgen -V @var.x -f"),
    case(&["bind"], From(0), Code, "the shell reads it as a binding of keys", "bind @var.x"),
    case(&["bind"], Option(&["x"]), Code, "the shell runs it when its keys are typed", "bind -x @var.x"),
    case(&["enable"], Option(&["f"]), Code, "the shell loads it as code", "enable -f @var.x name"),
    case(&["hash"], Option(&["p"]), Code, "the shell runs it in place of a command", "hash -p @var.x name"),
    case(&["fc"], From(0), Code, "`fc` runs commands that it edits with it", "fc -s @var.x"),
    case(&["fc"], Option(&["e"]), Code, "`fc` runs it as an editor", "fc -e @var.x"),
    case(&["history"], From(0), Code, "the shell expands it as history", "history -p @var.x"),
    // Shells, and programs that give text to one.
    case(SHELLS, Option(&["c"]), Code, "the shell runs it", "bash -c \"echo @var.x\""),
    case(SHELLS, Option(&["--command"]), Code, "the shell runs it", "fish --command=\"echo @var.x\""),
    case(SHELLS, Option(&["--init-command"]), Code, "the shell runs it", "fish --init-command=@var.x"),
    case(SHELLS, Option(&["-"]), Code, "the value chooses the option", "bash -@var.x \"@var.y\""),
    case(SHELLS, Operand(0), Code, "the shell runs what it reads", "bash <(echo @var.x)"),
    case(SHELLS, Input, Code, "the shell runs what it reads", "bash <<< @var.x"),
    case(REMOTES, From(1), Code, "a shell on the other machine runs it", "ssh host \"rm @var.x\""),
    case(REMOTES, Input, Code, "a shell on the other machine runs it", "ssh host <<< @var.x"),
    case(&["su", "runuser"], Option(&["c"]), Code, "a shell runs it", "su -c\"echo @var.x\" user"),
    case(&["su", "runuser"], Option(&["--command"]), Code, "a shell runs it", "su user --command=@var.x"),
    case(&["su", "runuser"], Option(&["--session-command"]), Code, "a shell runs it", "su user --session-command @var.x"),
    case(&["su", "runuser"], Input, Code, "a shell runs it", "su user <<< @var.x"),
    case(&["env"], Option(&["S"]), Code, "`env` splits it into a command", "env -S @var.x"),
    case(&["env"], Option(&["--split-string"]), Code, "`env` splits it into a command", "env --split-string=@var.x"),
    case(&["flock"], Option(&["c"]), Code, "a shell runs it", "flock lock -c @var.x"),
    case(&["flock"], Option(&["--command"]), Code, "a shell runs it", "flock lock --command @var.x"),
    case(&["script"], Option(&["c"]), Code, "a shell runs it", "script -c @var.x log"),
    case(&["script"], Option(&["--command"]), Code, "a shell runs it", "script --command=@var.x log"),
    case(&["watch"], From(0), Code, "a shell runs it again and again", "watch -n 5 \"ls @var.x\""),
    case(&["parallel"], From(0), Code, "a shell runs it", "parallel \"echo @var.x\" ::: a"),
    case(&["at", "batch"], Input, Code, "a shell runs it later", "at now <<< @var.x"),
    case(&["crontab"], Input, Code, "a shell runs it later", "crontab - <<< @var.x"),
    case(&["entr"], Option(&["s"]), Code, "a shell runs it", "ls | entr -s @var.x"),
    case(&["nix-shell"], Option(&["--run"]), Code, "a shell runs it", "nix-shell --run @var.x"),
    case(&["nix-shell"], Option(&["--command"]), Code, "a shell runs it", "nix-shell --command @var.x"),
    case(&["vagrant"], Option(&["c"]), Code, "a shell in the machine runs it", "vagrant ssh -c @var.x"),
    case(&["vagrant"], Option(&["--command"]), Code, "a shell in the machine runs it", "vagrant ssh --command @var.x"),
    case(&["gcloud"], Option(&["--command"]), Code, "a shell on the other machine runs it", "gcloud compute ssh a --command=@var.x"),
    case(&["sudo"], From(0), Code, "`sudo -i` and `sudo -s` give it to a shell, which expands variables in it", "sudo -i echo @var.x"),
    case(&["hyperfine", "concurrently", "watchexec"], From(0), Code, "a shell runs it", "hyperfine \"ls @var.x\""),
    case(&["hyperfine"], Option(&["s", "p", "c", "--setup", "--prepare", "--conclude", "--cleanup"]), Code, "a shell runs it", "hyperfine --prepare @var.x ls"),
    case(&["parallel"], Input, Code, "a shell runs it", "parallel <<< @var.x"),
    case(&["npm", "npx", "sg", "capsh"], Option(&["c", "--call"]), Code, "a shell runs it", "npx -c \"echo @var.x\""),
    case(&["nodemon"], Option(&["x", "--exec"]), Code, "a shell runs it", "nodemon --exec \"ls @var.x\""),
    case(&["git"], Option(&["--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter", "--parent-filter", "--tag-name-filter", "--setup"]), Code, "git gives it to a shell", "git filter-branch --msg-filter \"sed @var.x\""),
    case(&["git"], After("foreach"), Code, "git gives it to a shell", "git submodule foreach \"git tag @var.x\""),
    case(&["pdsh", "pssh", "parallel-ssh", "clush", "dsh"], From(0), Code, "a shell on the other machines runs it", "pdsh -w a,b \"rm @var.x\""),
    case(&["gcloud", "vagrant", "az", "colima", "tsh"], Past("--"), Code, "a shell on the other machine runs it", "gcloud compute ssh a -- rm @var.x"),
    case(&["minikube"], Past("ssh"), Code, "a shell on the other machine runs it", "minikube ssh \"rm @var.x\""),
    case(&["fly", "flyctl"], Option(&["C", "--command"]), Code, "a shell on the other machine runs it", "fly ssh console -C \"rm @var.x\""),
    case(&["sops"], Following("exec-env", 1), Code, "a shell runs it", "sops exec-env f \"echo @var.x\""),
    case(&["sops"], Following("exec-file", 1), Code, "a shell runs it", "sops exec-file f \"cat @var.x\""),
    case(&["doppler"], Option(&["--command"]), Code, "a shell runs it", "doppler run --command \"echo @var.x\""),
    case(&["heroku"], Past("run"), Code, "a shell on the other machine runs it", "heroku run \"rm @var.x\""),
    case(&["heroku"], Past("run:detached"), Code, "a shell on the other machine runs it", "heroku run:detached \"rm @var.x\""),
    case(&["yarn"], Past("exec"), Code, "a shell runs it", "yarn exec \"echo @var.x\""),
    case(&["devbox"], Past("run"), Code, "a shell runs it", "devbox run \"echo @var.x\""),
    case(&["pnpm"], Past("-c"), Code, "a shell runs it", "pnpm -c exec \"echo @var.x\""),
    case(&["pnpm"], Past("--shell-mode"), Code, "a shell runs it", "pnpm --shell-mode exec \"echo @var.x\""),
    case(&["cross-env-shell"], From(0), Code, "a shell runs it", "cross-env-shell \"echo @var.x\""),
    case(&["cmd"], Past("/c"), Code, "a shell runs it", "cmd /c \"dir @var.x\""),
    case(&["cmd"], Past("/k"), Code, "a shell runs it", "cmd /k \"dir @var.x\""),
    case(&["wsl"], From(0), Code, "a shell in the machine runs it", "wsl ls @var.x"),
    case(&["adb"], Past("shell"), Code, "a shell on the other machine runs it", "adb shell \"rm @var.x\""),
    case(&["gh"], Past("ssh"), Code, "a shell on the other machine runs it", "gh codespace ssh \"rm @var.x\""),
    case(&["docker-machine", "tsh"], Following("ssh", 1), Code, "a shell on the other machine runs it", "tsh ssh host \"rm @var.x\""),
    case(&["podman"], Following("ssh", 0), Code, "a shell on the other machine runs it", "podman machine ssh \"rm @var.x\""),
    case(&["aws"], Of("send-command", &["--parameters"]), Code, "a shell on the other machine runs it", "aws ssm send-command --parameters commands=@var.x"),
    case(&["aws"], Of("execute-command", &["--command"]), Code, "the other machine splits it into a command", "aws ecs execute-command --command @var.x"),
    case(&["az"], Option(&["--exec-command"]), Code, "the other machine splits it into a command", "az container exec --exec-command @var.x"),
    case(&["docker", "podman", "nerdctl"], Option(&["--health-cmd", "--health-startup-cmd"]), Code, "a shell in the container runs it", "docker run --health-cmd=\"curl @var.x\" image"),
    case(&["vagrant", "gcloud", "az", "colima", "minikube", "fly", "flyctl", "gh", "docker-machine", "podman", "tsh"], Reads("ssh", 1), Code, "a shell on the other machine runs what it reads", "vagrant ssh <<< @var.x"),
    case(&["limactl", "multipass"], Reads("shell", 1), Code, "a shell in the machine runs what it reads", "limactl shell m <<< @var.x"),
    case(&["adb"], Reads("shell", 0), Code, "a shell on the other machine runs what it reads", "adb shell <<< @var.x"),
    case(&["wsl", "lima"], Script(0), Code, "a shell in the machine runs what it reads", "wsl <<< @var.x"),
    // Programs that are not shells and can run what an option says.
    case(&["ssh", "autossh", "scp", "sftp", "sshfs"], Option(&["o"]), Warn, "an option of ssh such as `ProxyCommand` is a command", "ssh -o ProxyCommand=@var.x host uptime"),
    case(&["scp", "sftp"], Option(&["S"]), Warn, "the option names a program to run", "scp -S @var.x a host:b"),
    case(&["rsync"], Option(&["e"]), Warn, "rsync runs the option's value", "rsync -e @var.x a host:b"),
    case(&["rsync"], Option(&["--rsh"]), Warn, "rsync runs the option's value", "rsync --rsh=@var.x a host:b"),
    case(&["rsync"], Option(&["--rsync-path"]), Warn, "a shell on the other machine runs the option's value", "rsync --rsync-path=@var.x a host:b"),
    case(&["tar"], Option(&["I"]), Warn, "tar runs the option's value", "tar -I @var.x -cf a.tar b"),
    case(&["tar"], Option(&["F"]), Warn, "tar runs the option's value", "tar -F @var.x -cf a.tar b"),
    case(&["tar"], Option(&["--use-compress-program"]), Warn, "tar runs the option's value", "tar --use-compress-program=@var.x -cf a.tar b"),
    case(&["tar"], Option(&["--to-command"]), Warn, "tar runs the option's value", "tar --to-command=@var.x -xf a.tar"),
    case(&["tar"], Option(&["--checkpoint-action"]), Warn, "tar runs the option's value", "tar --checkpoint-action=@var.x -xf a.tar"),
    case(&["tar"], Option(&["--info-script"]), Warn, "tar runs the option's value", "tar --info-script=@var.x -xf a.tar"),
    case(&["git"], Option(&["c"]), Warn, "a setting of git such as `alias.x` is a command", "git -c alias.x=@var.x x"),
    case(&["git"], Option(&["--upload-pack"]), Warn, "git runs the option's value", "git clone --upload-pack=@var.x url"),
    case(&["git"], Option(&["--receive-pack"]), Warn, "git runs the option's value", "git push --receive-pack=@var.x url"),
    case(&["git"], Option(&["--exec"]), Warn, "git runs the option's value", "git rebase --exec @var.x main"),
    case(&["find"], After("-exec"), Warn, "find runs the command of that name", "find . -exec @var.x {} +"),
    case(&["find"], After("-execdir"), Warn, "find runs the command of that name", "find . -execdir @var.x {} +"),
    case(&["find"], After("-ok"), Warn, "find runs the command of that name", "find . -ok @var.x {} +"),
    case(&["python", "pypy", "ipython"], Option(&["c"]), Warn, "Python runs it", "python3 -c \"print(@var.x)\""),
    case(&["perl"], Option(&["e"]), Warn, "Perl runs it", "perl -e \"print @var.x\""),
    case(&["perl"], Option(&["E"]), Warn, "Perl runs it", "perl -E \"say @var.x\""),
    case(&["ruby"], Option(&["e"]), Warn, "Ruby runs it", "ruby -e \"puts @var.x\""),
    case(&["node", "nodejs", "tsx", "ts-node"], Option(&["e", "p", "--eval", "--print"]), Warn, "Node.js runs it", "node -e \"f(@var.x)\""),
    case(&["php"], Option(&["r"]), Warn, "PHP runs it", "php -r \"echo @var.x;\""),
    case(&["lua"], Option(&["e"]), Warn, "Lua runs it", "lua -e \"print(@var.x)\""),
    case(&["osascript"], Option(&["e"]), Warn, "AppleScript runs it", "osascript -e \"say @var.x\""),
    case(&["awk", "gawk", "mawk", "nawk"], Operand(0), Warn, "awk runs it; `-v NAME=VALUE` passes a value", "awk \"{ print @var.x }\" f"),
    case(&["psql"], Option(&["c", "--command"]), Warn, "the database runs it as SQL; `-v NAME=VALUE` passes a value", "psql -c \"select @var.x\""),
    case(&["mysql", "mariadb"], Option(&["e", "--execute"]), Warn, "the database runs it as SQL", "mysql -e \"select @var.x\""),
    case(&["ansible"], Option(&["a", "--args"]), Warn, "a module such as `shell` runs it", "ansible all -m shell -a @var.x"),
    case(&["tmux"], From(1), Warn, "tmux gives it to a shell", "tmux new-session @var.x"),
    case(&["split"], Option(&["--filter"]), Warn, "a shell runs it", "split --filter=@var.x f"),
    case(&["sort"], Option(&["--compress-program"]), Warn, "sort runs it", "sort --compress-program=@var.x f"),
    case(EDITORS, Option(&["c"]), Warn, "the editor runs it", "vim -c @var.x f"),
    case(&["emacs"], Option(&["--eval"]), Warn, "the editor runs it", "emacs --batch --eval @var.x"),
    case(&["gdb"], Option(&["-ex"]), Warn, "the debugger runs it", "gdb -ex @var.x f"),
    case(&["expect"], Option(&["c"]), Warn, "expect runs it", "expect -c @var.x"),
    case(&["make", "gmake", "bmake"], From(0), Warn, "make expands it: `$(shell …)` in it runs", "make V=@var.x"),
    case(&["make", "gmake", "bmake"], Option(&["E", "--eval"]), Warn, "make runs it", "make --eval=@var.x"),
    case(&["sed", "gsed"], Operand(0), Warn, "sed runs it: a `/` in it ends the text, and `e` runs commands", "sed \"s/a/@var.x/\" f"),
    case(&["sed", "gsed"], Option(&["e", "--expression"]), Warn, "sed runs it: a `/` in it ends the text, and `e` runs commands", "sed -e \"s/a/@var.x/\" f"),
    case(&["jq"], Operand(0), Warn, "jq runs it; `--arg NAME VALUE` passes a value", "jq \".a = @var.x\" f"),
    case(&["yq"], Operand(0), Warn, "yq runs it; `strenv(NAME)` reads a value from the environment", "yq -i \".a = @var.x\" f"),
    case(&["gawk"], Option(&["e", "--source"]), Warn, "awk runs it; `-v NAME=VALUE` passes a value", "gawk -e \"{ print @var.x }\" f"),
    case(&["perl"], Option(&["M", "m"]), Warn, "Perl runs it", "perl -M@var.x -e 1"),
    case(&["php"], Option(&["B", "R", "E", "--run"]), Warn, "PHP runs it", "php -R \"@var.x\""),
    case(&["bun", "clojure", "elixir", "ghc", "gnuplot", "groovy", "julia", "ocaml", "R", "Rscript", "racket", "raku", "sbcl", "scala", "swift", "octave", "bpftrace", "stap", "dc"], Option(&["e", "--eval", "--execute", "--expression"]), Warn, "the interpreter runs it", "julia -e \"f(@var.x)\""),
    case(&["erl"], Option(&["-eval"]), Warn, "Erlang runs it", "erl -noshell -eval \"f(@var.x)\""),
    case(&["guile"], Option(&["c"]), Warn, "Guile runs it", "guile -c \"(f @var.x)\""),
    case(&["deno"], After("eval"), Warn, "Deno runs it", "deno eval \"f(@var.x)\""),
    case(&["sqlite3"], Operand(1), Warn, "the database runs it as SQL", "sqlite3 f.db \"select @var.x\""),
    case(&["sqlite3"], Option(&["-cmd"]), Warn, "the database runs it", "sqlite3 -cmd @var.x f.db"),
    case(&["duckdb", "usql"], Option(&["c"]), Warn, "the database runs it as SQL", "duckdb -c \"select @var.x\""),
    case(&["sqlcmd", "snowsql", "clickhouse-client"], Option(&["q", "Q", "--query"]), Warn, "the database runs it as SQL", "sqlcmd -Q \"select @var.x\""),
    case(&["mongo", "mongosh"], Option(&["--eval"]), Warn, "the database runs it", "mongosh --eval \"f(@var.x)\""),
    case(&["cqlsh"], Option(&["e", "--execute"]), Warn, "the database runs it", "cqlsh -e \"select @var.x\""),
    case(EDITORS, Option(&["--cmd"]), Warn, "the editor runs it", "vim --cmd @var.x f"),
    case(&["emacs"], Option(&["--execute", "--funcall", "--load"]), Warn, "the editor runs it", "emacs --batch --load @var.x"),
    case(&["gdb"], Option(&["-iex", "--eval-command"]), Warn, "the debugger runs it", "gdb --eval-command=@var.x f"),
    case(&["lldb"], Option(&["o", "O", "--one-line"]), Warn, "the debugger runs it", "lldb -o @var.x f"),
    case(&["ansible", "ansible-playbook", "ansible-pull"], Option(&["e", "--extra-vars"]), Warn, "Ansible expands `{{ … }}` in it, and a lookup runs commands", "ansible-playbook -e v=@var.x site.yml"),
    case(&["salt", "salt-call", "salt-ssh"], After("cmd.run"), Warn, "a shell on the other machines runs it", "salt '*' cmd.run @var.x"),
    case(&["az"], Option(&["--scripts"]), Warn, "a shell on the other machine runs it", "az vm run-command invoke --scripts @var.x"),
    case(&["find"], After("-okdir"), Warn, "find runs the command of that name", "find . -okdir @var.x {} +"),
    case(&["fd", "fdfind"], Option(&["x", "X", "--exec", "--exec-batch"]), Warn, "the option names a program to run", "fd --exec @var.x"),
    case(&["rg"], Option(&["--pre"]), Warn, "the option names a program to run", "rg --pre=@var.x a"),
    case(&["fzf"], Option(&["--preview", "--bind"]), Warn, "a shell runs it", "fzf --preview @var.x"),
    case(&["man"], Option(&["P", "--pager"]), Warn, "the option names a program to run", "man -P @var.x ls"),
    case(&["cargo"], Option(&["--config"]), Warn, "a setting of cargo such as `build.rustc-wrapper` is a command", "cargo --config @var.x build"),
    case(&["go"], Option(&["-exec", "-toolexec", "--exec", "--toolexec"]), Warn, "the option names a program to run", "go test -exec @var.x ./..."),
    case(&["helm"], Option(&["--post-renderer"]), Warn, "the option names a program to run", "helm install a b --post-renderer @var.x"),
    case(&["apt", "apt-get", "aptitude"], Option(&["o", "--option"]), Warn, "a setting of apt such as `APT::Update::Pre-Invoke` is a command", "apt-get -o @var.x update"),
    case(&["hg"], Option(&["--config"]), Warn, "a setting of Mercurial such as `alias.x` is a command", "hg --config @var.x log"),
    case(&["svn"], Option(&["--config-option", "--editor-cmd", "--diff-cmd", "--diff3-cmd"]), Warn, "the option names a program to run", "svn diff --diff-cmd @var.x"),
    case(&["git"], Option(&["--open-files-in-pager"]), Warn, "git runs the option's value", "git grep --open-files-in-pager=@var.x a"),
    case(&["git"], After("run"), Warn, "git runs it", "git bisect run @var.x"),
    case(&["strace", "ltrace"], Option(&["o"]), Warn, "a shell runs what follows a `|` in it", "strace -o @var.x true"),
    case(&["git"], Option(&["--extcmd"]), Warn, "git runs the option's value", "git difftool --extcmd=@var.x"),
    case(&["tar"], Option(&["--rsh-command", "--rmt-command", "--new-volume-script"]), Warn, "tar runs the option's value", "tar --rsh-command=@var.x -xf host:a.tar"),
    case(&["wget"], Option(&["e", "--execute", "--use-askpass"]), Warn, "a setting of wget such as `use_askpass` is a command", "wget --execute @var.x url"),
    case(&["nc", "ncat", "netcat"], Option(&["e", "c", "--exec", "--sh-exec", "--lua-exec"]), Warn, "the option is a command", "ncat --sh-exec @var.x host 80"),
    case(&["socat"], From(0), Warn, "an address such as `EXEC:` is a command", "socat @var.x -"),
    case(&["tcpdump"], Option(&["z"]), Warn, "the option names a program to run", "tcpdump -z @var.x -w f"),
    case(&["systemd-run"], Option(&["p", "--property"]), Warn, "a property such as `ExecStartPre` is a command", "systemd-run -p @var.x true"),
    case(&["rpm", "rpmbuild", "rpmspec"], Option(&["E", "D", "--eval", "--define"]), Warn, "rpm expands it: `%(…)` in it runs", "rpm --eval @var.x"),
    case(&["m4"], Option(&["D", "--define"]), Warn, "m4 expands it: `esyscmd` in it runs", "m4 -D a=@var.x f"),
    case(&["nginx"], Option(&["g"]), Warn, "nginx reads it as configuration", "nginx -g @var.x"),
    case(&["xterm", "konsole", "alacritty"], Option(&["e"]), Warn, "the terminal runs it", "xterm -e @var.x"),
    // Interpreters that read their text.
    case(INTERPRETERS, Script(0), Warn, "the interpreter runs what it reads", "python3 <<< @var.x"),
    case(&["psql", "mysql", "mariadb", "usql", "cqlsh", "clickhouse-client"], Script(u8::MAX), Warn, "the database runs what it reads", "psql -d a <<< @var.x"),
    case(&["sqlite3", "duckdb", "mongo", "mongosh"], Script(1), Warn, "the database runs what it reads", "sqlite3 f.db <<< @var.x"),
    case(&["ed", "ex", "dc"], Script(u8::MAX), Warn, "`!` in what it reads runs commands", "ed f <<< @var.x"),
    case(&["git"], Setting, Warn, "the setting is a command", "git config alias.x @var.x"),
    case(&["make", "gmake", "bmake", "sed", "gsed", "awk", "gawk", "mawk", "nawk", "psql"], File(&["f", "--file", "--makefile"]), Warn, "the program runs what it reads", "make -f - <<< @var.x"),
    case(&["git"], Of("clone", &["-u"]), Warn, "git runs the option's value", "git clone -u @var.x url"),
    case(&["git"], Of("clone", &["-c"]), Warn, "a setting of git such as `core.sshCommand` is a command", "git clone -c core.sshCommand=@var.x url"),
    case(&["git"], Of("rebase", &["-x"]), Warn, "git runs the option's value", "git rebase -x @var.x main"),
    case(INTERPRETERS, Operand(0), Warn, "the interpreter runs what it reads", "python3 <(echo @var.x)"),
    case(EDITORS, File(&["S", "s"]), Warn, "the editor runs what it reads", "vim -S <(echo @var.x) f"),
    case(EDITORS, Begins("+"), Warn, "the editor runs what follows `+`", "vim +@var.x f"),
    case(&["less"], Begins("+"), Warn, "less runs what follows `+`", "less +@var.x f"),
    case(&["ed"], Begins("!"), Warn, "ed runs what follows `!`", "ed \"!@var.x\""),
    case(&["su", "runuser"], Option(&["s", "--shell"]), Warn, "the option names a program to run", "su -s @var.x root"),
    case(&["sftp"], Option(&["D"]), Warn, "the option names a program to run", "sftp -D @var.x host"),
    case(&["node", "nodejs", "tsx", "ts-node", "bun"], Option(&["r", "--require", "--import", "--loader", "--experimental-loader", "--preload"]), Warn, "the interpreter loads it as code", "node -r @var.x f.js"),
    case(&["xargs"], Input, Warn, "xargs splits it into words, and one of them can be an option that runs a command", "echo @var.x | xargs tar cf a.tar"),
    case(&["scp"], Elsewhere(b'O'), Warn, "a shell on the other machine expands the path", "scp -O host:@var.x ."),
    // Programs that start a shell where they are given no command.
    case(&["chroot", "unshare", "setarch", "linux32", "linux64", "i386", "i486", "i586", "i686", "x86_64", "uname26", "nsenter", "fakeroot", "firejail", "pkexec", "proot", "sudo", "doas"], Input, Code, "without a command it starts a shell, which runs what it reads", "chroot / <<< @var.x"),
    case(&["script", "newgrp", "nix-shell"], Script(u8::MAX), Code, "without a command it starts a shell, which runs what it reads", "newgrp <<< @var.x"),
    case(&["sg"], Script(1), Code, "without a command it starts a shell, which runs what it reads", "sg root <<< @var.x"),
    case(&["sg"], From(1), Code, "a shell runs it", "sg root \"echo @var.x\""),
    case(&["screen"], After("stuff"), Warn, "screen types it into a shell", "screen -X stuff @var.x"),
];

/// The rows with their numbers, from one on.
pub static CASES: [Case; ROWS.len()] = {
    let mut cases = [ROWS[0]; ROWS.len()];
    let mut index = 0;
    while index < ROWS.len() {
        cases[index] = ROWS[index];
        cases[index].number = index as u8 + 1;
        index += 1;
    }
    cases
};

impl Case {
    pub const DUPLICATED: &'static Self = &CASES[0];
    pub const INDEX: &'static Self = &CASES[1];
    pub const KEY: &'static Self = &CASES[2];
    pub const DESCRIPTOR: &'static Self = &CASES[3];
    pub const SUM: &'static Self = &CASES[4];
    pub const PARAMETER: &'static Self = &CASES[5];
    pub const TEST_NAME: &'static Self = &CASES[6];
    pub const TEST_SUM: &'static Self = &CASES[7];
    pub const SPLIT: &'static Self = &CASES[8];
    pub const INTERPRETED: &'static Self = &CASES[9];
    pub const INTEGER: &'static Self = &CASES[10];
    pub const UNKNOWN: &'static Self = &CASES[11];
    pub const ASSEMBLED: &'static Self = &CASES[12];
    pub const PRINTED: &'static Self = &CASES[13];
    pub const ELEMENTS: &'static Self = &CASES[14];
    pub const RUN_BY_PROGRAM: &'static Self = &CASES[15];
    pub const JOINED: &'static Self = &CASES[16];

    /// Whether a value is refused there, and not only warned about.
    #[must_use]
    pub fn refuses(&self) -> bool {
        self.role != Role::Warn
    }

    /// From one on.
    #[must_use]
    pub const fn number(&self) -> u32 {
        self.number as u32
    }

    #[must_use]
    pub fn of_number(number: u32) -> std::option::Option<&'static Self> {
        CASES.get((number as usize).checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_number() {
        for (index, case) in CASES.iter().enumerate() {
            assert_eq!(case.number() as usize, index + 1);
            assert_eq!(Case::of_number(case.number()), Some(case));
        }
        assert!(Case::of_number(0).is_none());
        assert!(CASES.len() < 256, "a place has eight bits for its row");
        assert_eq!(Case::ELEMENTS.programs.len(), 0);
        assert_eq!(CASES.iter().filter(|case| case.at == At::Syntax).count(), 17);
    }
}
