; The colours of opal. The words come from opal's own tables: `cargo xtask editors` writes them.

; words
[
  "as"
  "catch"
  "else"
  "false"
  "finally"
  "for"
  "fun"
  "if"
  "import"
  "import?"
  "in"
  "let"
  "null"
  "true"
  "try"
  "var"
  "when"
  "while"
] @keyword

((type_name) @type.builtin
  (#any-of? @type.builtin "String" "Int" "Float" "Bool" "Duration" "Array" "Map"))
; end of words

(comment) @comment

(function name: (function_name) @function)
(function_call function: (identifier) @function.call)
(label name: (label_name) @label)

(parameter name: (identifier) @variable.parameter)
(argument name: (identifier) @variable.parameter)

(type_name) @type

(variable name: (identifier) @variable)
(binding name: (identifier) @variable)
(assignment name: (identifier) @variable)
(for variable: (identifier) @variable)
(let name: (identifier) @variable)
(import namespace: (identifier) @variable)
[
  (binary (identifier) @variable)
  (unary (identifier) @variable)
  (group (identifier) @variable)
  (array (identifier) @variable)
  (access (identifier) @variable)
]
(_ value: (identifier) @variable)
(_ default: (identifier) @variable)
(_ condition: (identifier) @variable)
(_ subject: (identifier) @variable)
(_ list: (identifier) @variable)

(field) @property

(path) @variable.builtin
(decorator) @attribute

(number) @number
(regex) @string.regexp
(raw_string) @string
(string) @string
(escape) @string.escape

(shell_text) @embedded
(block_text) @markup.raw

[
  "="
  "+="
  "-="
  "*="
  "/="
  "%="
  "++"
  "--"
  "->"
  "|"
  "||"
  "&&"
  "=="
  "!="
  "<"
  "<="
  ">"
  ">="
  "..."
  "+"
  "-"
  "*"
  "/"
  "%"
  "!"
] @operator

[
  "("
  ")"
  "["
  "]"
  "{"
  "}"
] @punctuation.bracket

[
  ","
  ":"
  "."
  ".*"
] @punctuation.delimiter
