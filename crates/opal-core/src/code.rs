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
    File = 1,
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
    /// Several functions, files and languages together: 12.
    Tasks,
    /// Packages of decorators: 13.
    Packages,
    /// Terraform providers: 14.
    Providers,
    /// Other machines, and languages of blocks: 15.
    Targets = 15,
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
    "E0101" NotUtf8 Error "file is not valid UTF-8";
    "E0102" TooLarge Error "file larger than 16 MiB";
    "E0103" NulByte Error "NUL byte in the source file";
    "E0104" LoneCarriageReturn Error "carriage return without line feed";
    "W0105" BidiControl Warning "invisible character changes the text direction";
    "E0106" ForeignFile Error "file format of another tool";

    [Words]
    "E0201" UnterminatedString Error "unterminated string";
    "E0202" UnknownEscape Error "unknown escape sequence in a string";
    "E0203" BadNumber Error "invalid number";
    "E0204" BadDuration Error "invalid duration";
    "E0205" UnterminatedQuote Error "unterminated shell quote";
    "E0206" UnterminatedBracket Error "unterminated shell bracket";
    "E0207" UnterminatedHeredoc Error "unterminated heredoc";
    "E0208" UnterminatedCompound Error "unterminated shell `case`, `until` or loop";
    "E0209" UnterminatedComment Error "unterminated comment";
    "E0210" UnexpectedCharacter Error "unexpected character";
    "E0211" TwoDotRange Error "range with two dots";
    "E0212" BadRegex Error "invalid regular expression";

    [Grammar]
    "E0301" Syntax Error "syntax error";
    "E0302" UnclosedBlock Error "unclosed block";
    "E0303" UnmatchedBrace Error "unmatched closing brace";
    "E0304" StrayClause Error "`else`, `catch` or `finally` without `if` or `try`";
    "E0305" TextAfterStatement Error "unexpected text after a statement";
    "E0306" ConstructAsOperand Error "language construct used as an operand";
    "E0307" RedirectedBlock Error "redirection or operator on a plain block";
    "E0308" ShellControlFlow Error "`if`, `for` or `while` in shell syntax";
    "E0309" ShellFunction Error "shell function definition in a step";
    "E0310" LabelWithoutBody Error "label without a body";
    "E0311" NestedFunction Error "function inside a block";
    "E0312" TooDeep Error "nesting deeper than 64 levels";
    "E0313" LeadingOperator Error "operator at the start of a line";
    "E0314" MisplacedDecorator Error "action not allowed here";
    "E0315" BadParameters Error "invalid parameter list";
    "E0316" PositionalAfterNamed Error "positional argument after a named argument";
    "E0317" BadLetSource Error "`let` without a decorator";
    "E0318" UnknownType Error "unknown type";
    "E0319" DottedFunction Error "dot in a function name";

    [Names]
    "E0401" UndeclaredVariable Error "undeclared variable";
    "E0402" UsedBeforeDeclaration Error "variable used before its declaration";
    "E0403" UnknownFunction Error "unknown function";
    "E0404" DuplicateFunction Error "duplicate function name";
    "E0405" CallCycle Error "recursive function call";
    "E0406" UnknownDecorator Error "unknown decorator";
    "E0407" UnknownBuiltin Error "unknown function in an expression";
    "E0408" UnstableGlobal Error "top-level variable assigned more than once";
    "W0410" UnusedVariable Warning "unused variable";
    "W0411" UnusedParameter Warning "unused parameter";
    "N0412" LiteralAt Note "`@` is plain text";
    "W0413" ScriptArgumentsInFunction Warning "`@args` inside a function";
    "W0414" FunctionAsCommand Warning "function name used as a command";
    "W0415" CommentAsGlob Warning "`/* … */` inside a step is not a comment";
    "W0416" ReservedName Warning "function has the name of a built-in command";

    [Types]
    "E0501" MissingArgument Error "missing argument";
    "E0502" TooManyArguments Error "too many arguments";
    "E0503" UnknownArgument Error "unknown argument";
    "E0504" RepeatedArgument Error "duplicate argument";
    "E0505" WrongType Error "wrong type";
    "E0506" NotAChoice Error "value is not one of the allowed choices";
    "E0507" OutOfRange Error "number out of range";
    "E0508" PatternMismatch Error "text does not match the required pattern";
    "E0509" BlockMissing Error "missing block";
    "E0510" BlockNotAllowed Error "decorator does not accept a block";
    "E0511" NotAValue Error "decorator has no value";
    "E0512" CollectionInText Error "array or map inside text";
    "E0513" UnknownField Error "unknown field";
    "E0514" OperandTypes Error "incompatible operand types";
    "E0515" ConditionNotBool Error "condition is not a Bool";
    "E0516" NotIterable Error "value cannot be looped over";
    "E0517" NotAnEndpoint Error "decorator cannot be the target of a redirection";
    "W0518" DeprecatedParameter Warning "deprecated parameter";
    "E0519" RedirectedCall Error "shell redirection of a block or a call";

    [Bindings]
    "E0601" LetAtPlanTime Error "run-time value used at plan time";
    "E0602" LetRebound Error "`let` bound twice";
    "E0603" LetShadowed Error "`let` hides an outer `let`";
    "E0604" LetConditional Error "`let` bound conditionally";
    "E0605" LetUnbound Error "`let` read before it is bound";
    "E0606" LetOutOfScope Error "`let` read outside its block";
    "E0607" LetUndeclared Error "`let` is never bound";
    "E0608" LetWithoutResult Error "`let` on a decorator without a result";
    "E0609" LetParameterAtPlanTime Error "run-time value passed to a plan-time parameter";
    "W0610" UnusedLet Warning "unused `let`";
    "E0611" UncapturedOption Error "option requires `let`";

    [Data]
    "E0701" ReevaluatedText Error "value in text that is evaluated again";
    "E0702" ArithmeticNotInt Error "value in shell arithmetic is not an Int";
    "W0703" PositionalParameter Warning "positional parameter `$1` in a step";
    "W0704" LostAssignment Warning "shell variable is lost after its step";
    "W0705" ExitInBlock Warning "`exit`, `return`, `break` or `continue` as a step";
    "W0706" ValueInCode Warning "value in an option that runs code";
    "W0707" TopLevelStep Warning "top-level step that no task runs";
    "N0708" ForeignHabit Note "syntax of another tool";

    [Plan]
    "E0801" NoResult Error "arithmetic error";
    "E0802" NotConvertible Error "text cannot be converted";
    "E0803" NoSuchElement Error "index out of range or unknown key";
    "E0804" ValueMissing Error "value does not exist";
    "E0805" ValueFailed Error "value could not be read";
    "E0806" TooManySteps Error "plan has too many steps";
    "E0807" EndlessLoop Error "`while` does not terminate";
    "E0808" ValueTooLarge Error "value too large";
    "E0809" RandomSteers Error "random value decides the plan";
    "E0810" LeadingDash Error "value starts with a hyphen";
    "E0811" NulInText Error "NUL character in a command";
    "E0812" ShortSecret Error "secret too short to hide";
    "E0813" NotInContract Error "value not allowed in a contract";
    "W0814" CommonValue Warning "hidden value is short or a common word";
    "E0815" ResourceConflict Error "conflicting resources";
    "E0816" DuplicateId Error "duplicate resource id";
    "E0817" UnknownDependency Error "unknown dependency";
    "E0818" DependencyOrder Error "dependency runs too late";
    "E0819" DependencyCycle Error "dependency cycle between resources";
    "W0820" NoArmMatches Warning "no pattern of `when` matches";
    "E0821" ValueUnreachable Error "server of a value does not respond";

    [Start]
    "E0901" ShellSyntax Error "shell syntax error";
    "E0902" NotReady Error "step cannot run";

    [Config]
    "E1001" ConfigSyntax Error "invalid YAML";
    "E1002" ConfigUnknownKey Error "unknown key";
    "E1003" ConfigRepeatedKey Error "duplicate key";
    "E1004" ConfigMissingKey Error "missing key";
    "E1005" ConfigValue Error "invalid value for a key";
    "E1006" ConfigUnknownType Error "unknown step type";
    "E1007" ConfigRepeatedId Error "duplicate step id";
    "E1008" ConfigDependency Error "unmet dependency";
    "E1009" ConfigCycle Error "dependency cycle between steps";

    [Module]
    "E1101" SpecKind Error "wrong kind or version of a spec";
    "E1102" SpecReference Error "invalid reference";
    "E1103" SpecPlace Error "path of a spec does not match its reference";
    "E1104" SpecLeak Error "key not allowed in this spec";
    "E1105" SpecHook Error "invalid hook";
    "E1106" SpecCredential Error "invalid credential name";
    "E1107" SpecProvider Error "provider without credentials";
    "W1108" SpecTime Warning "year or cohort in a reference";
    "E1109" PackContent Error "pack is not portable";
    "E1110" SpecSecret Error "secret in a spec";
    "W1111" SpecUnused Warning "key has no effect";
    "W1112" SpecLacking Warning "missing profile, pack, driver or dependency";
    "E1113" SpecConstraint Error "invalid constraint in a module spec";
    "E1114" SpecProbe Error "invalid probe in a module spec";

    [Tasks]
    "E1201" LateDependency Error "dependency after another step";
    "E1202" MisplacedDependency Error "dependency not allowed here";
    "E1203" ImportNotFound Error "imported file not found";
    "E1204" ImportCycle Error "import cycle";
    "E1205" ImportOutside Error "import outside the project";
    "E1206" ImportTooLate Error "import not at the top of the file";
    "E1207" ImportPath Error "invalid import";
    "E1208" DuplicateNamespace Error "duplicate namespace";
    "E1209" ImportedStep Error "top-level step in an imported file";
    "E1210" PrivateFunction Error "private function of another file";
    "E1211" VariablesInPart Error "file of variables in an imported file";
    "E1212" VariablesFile Error "invalid file of variables";
    "E1213" InterpretedVariable Error "variable that a shell, the loader or opal interprets";
    "E1214" TextTooLarge Error "text of a block larger than 1 MiB";
    "E1215" ProgramNotFound Error "program of a script not found";

    [Packages]
    "E1301" PackageSyntax Error "invalid manifest of a package";
    "E1302" PackageUnknownKey Error "unknown key in the manifest of a package";
    "E1303" PackageRepeatedKey Error "duplicate key in the manifest of a package";
    "E1304" PackageMissingKey Error "missing key in the manifest of a package";
    "E1305" PackageValue Error "invalid value in the manifest of a package";
    "E1306" PackageKeyword Error "schema keyword not supported";
    "E1307" PackagePath Error "decorator path not allowed in a package";
    "E1308" PackageCapability Error "invalid capability of a package";
    "E1309" PackageContent Error "files of a package disagree";
    "E1310" PackageStatement Error "statement not allowed in a package";
    "E1311" PackageSecret Error "secret for a parameter that does not take secrets";

    [Providers]
    "E1401" Unidentified Error "object that the step does not identify";
    "E1402" StateOnly Error "resource that exists only in a state file";
    "E1403" InvalidRecipe Error "invalid recipe of a provider";
    "E1404" NumberTooLarge Error "number out of range";

    [Targets]
    "E1501" InvalidTarget Error "invalid target";
    "E1502" TargetInside Error "block that cannot be inside this target";
    "E1503" SecretTarget Error "secret in the name of a target";
    "E1504" NoTarget Error "`@target` outside a block that runs on one";
    "E1505" OnlyHere Error "decorator that works only on opal's machine";
    "E1506" PlainPassword Error "password that is not a secret";
    "E1507" UnexpectedTargets Error "more targets than expected for a secret";
    "E1508" TooManyTargetValues Error "too many hidden values of targets";
    "W1509" SharedPassword Warning "one password for several targets";
    "E1521" PastedVariable Error "variable that is pasted as SQL";
    "E1522" UnreadVariable Error "variable where it is not replaced";
    "E1523" InvalidVariable Error "invalid variable of a block";
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
            let group = format!("{:02}", code.group() as usize);
            assert_eq!(code.as_str()[1..3], group, "{code:?}");
            assert_eq!(Code::parse(&code.as_str().to_lowercase()), Some(*code));
        }
    }
}
