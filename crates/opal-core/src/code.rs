//! The stable codes of everything opal complains about.
//!
//! A code is never reused and never changes its meaning. Each has a page in `docs/errors/`, which
//! `opal explain` prints, and a test that provokes it.

/// How much a diagnostic weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing runs.
    Error,
    /// Probably not what was meant.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// The stage that a code belongs to; its number begins with two digits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// The file itself: 01.
    File,
    /// Words and literals: 02.
    Words,
    /// 03.
    Grammar,
    /// 04.
    Names,
    /// Arguments and types: 05.
    Types,
    /// Run-time bindings: 06.
    Bindings,
    /// Values as data: 07.
    Data,
    /// Making a plan: 08.
    Plan,
    /// Before the first step: 09.
    Start,
    /// Declarative configurations: 10.
    Config,
    /// 11.
    Module,
}

impl Group {
    /// Whether the text could not be read as it is: nothing else about it is certain.
    #[must_use]
    pub const fn is_syntax(self) -> bool {
        matches!(self, Self::File | Self::Words | Self::Grammar)
    }
}

macro_rules! codes {
    ($([$group:ident] $($id:literal $name:ident $severity:ident $title:literal;)*)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($($name),*),* }

        impl Code {
            pub const ALL: &'static [Self] = &[$($(Self::$name),*),*];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $($(Self::$name => $id),*),* }
            }

            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $($(Self::$name => Severity::$severity),*),* }
            }

            #[must_use]
            pub const fn group(self) -> Group {
                match self { $($(Self::$name => Group::$group),*),* }
            }

            /// What it is about, in a few words.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $($(Self::$name => $title),*),* }
            }
        }
    };
}

codes! {
    [File]
    "E0101" NotUtf8 Error "the file is not UTF-8";
    "E0102" TooLarge Error "the file is larger than 16 MiB";
    "E0103" NulByte Error "the file holds a NUL byte";
    "E0104" LoneCarriageReturn Error "a carriage return without a line feed";
    "W0105" BidiControl Warning "an invisible character that changes the direction of text";
    "E0106" ForeignFile Error "a file of another tool";

    [Words]
    "E0201" UnterminatedString Error "a string without its closing quote";
    "E0202" UnknownEscape Error "an unknown escape in a string";
    "E0203" BadNumber Error "a number that cannot be read";
    "E0204" BadDuration Error "a duration that cannot be read";
    "E0205" UnterminatedQuote Error "a shell quote without its end";
    "E0206" UnterminatedBracket Error "a shell bracket without its end";
    "E0207" UnterminatedHeredoc Error "a heredoc without its closing line";
    "E0208" UnterminatedCompound Error "a shell `case`, `until` or loop without its closing word";
    "E0209" UnterminatedComment Error "a comment without its end";
    "E0210" UnexpectedCharacter Error "a character that means nothing here";
    "E0211" TwoDotRange Error "a range with two dots";
    "E0212" BadRegex Error "a regex that cannot be read";

    [Grammar]
    "E0301" Syntax Error "something else was expected here";
    "E0302" UnclosedBlock Error "a block without its closing brace";
    "E0303" UnmatchedBrace Error "a closing brace without a block";
    "E0304" StrayClause Error "`else`, `catch` or `finally` without its construct";
    "E0305" TextAfterStatement Error "text after the end of a statement";
    "E0306" ConstructAsOperand Error "a language construct used as an operand";
    "E0307" RedirectedBlock Error "a plain block with a redirection or an operator";
    "E0308" ShellControlFlow Error "`if`, `for` or `while` in the shell's spelling";
    "E0309" ShellFunction Error "a shell function as a step";
    "E0310" LabelWithoutBody Error "a label without a body";
    "E0311" NestedFunction Error "a function inside a block";
    "E0312" TooDeep Error "nesting deeper than 64 levels";
    "E0313" LeadingOperator Error "an operator at the start of a line";
    "E0314" MisplacedDecorator Error "a decorator where it cannot run";
    "E0315" BadParameters Error "a parameter list that cannot work";
    "E0316" PositionalAfterNamed Error "a positional argument after a named one";
    "E0317" BadLetSource Error "a `let` that does not capture a decorator";
    "E0318" UnknownType Error "an unknown type";
    "E0319" DottedFunction Error "a dot in a function's name";

    [Names]
    "E0401" UndeclaredVariable Error "a variable that is not declared";
    "E0402" UsedBeforeDeclaration Error "a variable used before its declaration";
    "E0403" UnknownFunction Error "a function that does not exist";
    "E0404" DuplicateFunction Error "two functions of one name";
    "E0405" CallCycle Error "functions that call each other in a circle";
    "E0406" UnknownDecorator Error "an unknown decorator";
    "E0407" UnknownBuiltin Error "an unknown function in an expression";
    "E0408" UnstableGlobal Error "a variable that functions read is changed at top level";
    "W0410" UnusedVariable Warning "a variable that nothing uses";
    "W0411" UnusedParameter Warning "a parameter that nothing uses";
    "N0412" LiteralAt Note "an `@` that stays plain text";
    "W0413" ScriptArgumentsInFunction Warning "`@args` inside a function";
    "W0414" FunctionAsCommand Warning "a step that is the name of a function";
    "W0415" CommentAsGlob Warning "a `/* … */` inside a step";
    "W0416" ReservedName Warning "a function with the name of a built-in command";

    [Types]
    "E0501" MissingArgument Error "an argument is missing";
    "E0502" TooManyArguments Error "too many arguments";
    "E0503" UnknownArgument Error "an argument that is not known";
    "E0504" RepeatedArgument Error "an argument given twice";
    "E0505" WrongType Error "a value of the wrong type";
    "E0506" NotAChoice Error "a value outside its closed set";
    "E0507" OutOfRange Error "a number out of its range";
    "E0508" PatternMismatch Error "a text that does not match its pattern";
    "E0509" BlockMissing Error "a decorator without its block";
    "E0510" BlockNotAllowed Error "a block that the decorator does not take";
    "E0511" NotAValue Error "a decorator that gives no value";
    "E0512" CollectionInText Error "an array or a map inside text";
    "E0513" UnknownField Error "a field that does not exist";
    "E0514" OperandTypes Error "operands that do not go together";
    "E0515" ConditionNotBool Error "a condition that is not a Bool";
    "E0516" NotIterable Error "a loop over something that has no elements";
    "E0517" NotAnEndpoint Error "a redirection to a decorator that is no endpoint";
    "W0518" DeprecatedParameter Warning "a parameter that goes away";

    [Bindings]
    "E0601" LetAtPlanTime Error "a run-time value where the plan is made";
    "E0602" LetRebound Error "a `let` bound twice";
    "E0603" LetShadowed Error "a `let` that hides another";
    "E0604" LetConditional Error "a `let` that is bound only sometimes";
    "E0605" LetUnbound Error "a `let` read before it is bound";
    "E0606" LetOutOfScope Error "a `let` read outside its block";
    "E0607" LetUndeclared Error "a `let` that is never bound";
    "E0608" LetWithoutResult Error "a `let` on a decorator that returns nothing";
    "E0609" LetParameterAtPlanTime Error "a run-time value given to a parameter that shapes the plan";
    "W0610" UnusedLet Warning "a `let` that nothing reads";
    "E0611" UncapturedOption Error "an option that needs a `let`";

    [Data]
    "E0701" ReevaluatedText Error "a value inside text that is evaluated again";
    "E0702" ArithmeticNotInt Error "a value in shell arithmetic that is no Int";
    "W0703" PositionalParameter Warning "the shell's `$1` in a step";
    "W0704" LostAssignment Warning "a shell variable that ends with its step";
    "W0705" ExitInBlock Warning "`exit`, `return`, `break` or `continue` as a step";
    "W0706" ValueInCode Warning "a value in an option that a program runs";
    "W0707" TopLevelStep Warning "a top-level step that no task runs";
    "N0708" ForeignHabit Note "a spelling of another tool";

    [Plan]
    "E0801" NoResult Error "a computation that has no result";
    "E0802" NotConvertible Error "a text that cannot be converted";
    "E0803" NoSuchElement Error "an index or a key that does not exist";
    "E0804" ValueMissing Error "a value that is not there";
    "E0805" ValueFailed Error "a value that could not be read";
    "E0806" TooManySteps Error "a plan that would be too long";
    "E0807" EndlessLoop Error "a `while` that does not end";
    "E0808" ValueTooLarge Error "a value that is too large";
    "E0809" RandomSteers Error "a random value that would shape the plan";
    "E0810" LeadingDash Error "a value that a program would take for an option";
    "E0811" NulInText Error "text with a NUL character in a command";
    "E0812" ShortSecret Error "a secret that is too short to hide";
    "E0813" NotInContract Error "a value that no contract can hold";
    "W0814" CommonValue Warning "a hidden value that is short or a common word";
    "E0815" ResourceConflict Error "one thing that is described in two ways";
    "E0816" DuplicateId Error "two resources of one id";
    "E0817" UnknownDependency Error "a dependency that does not exist";
    "E0818" DependencyOrder Error "a dependency that comes too late";
    "E0819" DependencyCycle Error "resources that depend on each other in a circle";
    "W0820" NoArmMatches Warning "no arm of a `when` matches";
    "E0821" ValueUnreachable Error "a value whose server does not answer";

    [Start]
    "E0901" ShellSyntax Error "shell syntax error";
    "E0902" NotReady Error "a step that cannot run";

    [Config]
    "E1001" ConfigSyntax Error "a configuration that is no YAML";
    "E1002" ConfigUnknownKey Error "a key that does not exist";
    "E1003" ConfigRepeatedKey Error "a key given twice";
    "E1004" ConfigMissingKey Error "a key that is missing";
    "E1005" ConfigValue Error "a value that does not fit its key";
    "E1006" ConfigUnknownType Error "a type of step that does not exist";
    "E1007" ConfigRepeatedId Error "two steps with one id";
    "E1008" ConfigDependency Error "a dependency that cannot be met";
    "E1009" ConfigCycle Error "steps that depend on each other in a circle";

    [Module]
    "E1101" SpecKind Error "a spec of another kind or version";
    "E1102" SpecReference Error "a reference that is none";
    "E1103" SpecPlace Error "a spec that is not where its reference says";
    "E1104" SpecLeak Error "a spec that says what is another's to say";
    "E1105" SpecHook Error "a hook that is more than a switch";
    "E1106" SpecCredential Error "a credential that is no identifier";
    "E1107" SpecProvider Error "a provider without its credentials";
    "W1108" SpecTime Warning "a reference that tells the time";
    "E1109" PackContent Error "a pack that cannot travel";
    "E1110" SpecSecret Error "a secret in a spec";
    "W1111" SpecUnused Warning "a key that has no effect";
    "W1112" SpecLacking Warning "something that a spec names and that is not there";
    "E1113" SpecConstraint Error "invalid constraint in a module spec";
    "E1114" SpecProbe Error "invalid probe in a module spec";
}

impl Code {
    /// The code written as `id`, in either case.
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str().eq_ignore_ascii_case(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_sorted_and_carry_their_severity() {
        for pair in Code::ALL.windows(2) {
            assert!(pair[0].as_str()[1..] < pair[1].as_str()[1..], "{:?}", pair);
        }
        for code in Code::ALL {
            let letter = match code.severity() {
                Severity::Error => "E",
                Severity::Warning => "W",
                Severity::Note => "N",
            };
            assert!(code.as_str().starts_with(letter), "{code:?}");
            let group = format!("{:02}", code.group() as usize + 1);
            assert_eq!(code.as_str()[1..3], group, "{code:?}");
            assert_eq!(Code::parse(&code.as_str().to_lowercase()), Some(*code));
        }
    }
}
