/**
 * The structure of opal for editors. What a shell step is and where it ends, what an `@` begins, and where text ends is
 * decided in src/scanner.c, as in opal's own lexer; the rest is an ordinary grammar.
 */

/// <reference types="tree-sitter-cli/dsl" />

const list = (rule) => seq(rule, repeat(seq(',', rule)), optional(','));

const STRENGTH = { or: 1, and: 2, equal: 3, compare: 4, range: 5, add: 6, multiply: 7, sign: 8, access: 9 };

module.exports = grammar({
  name: 'opal',

  // The order is that of `enum Token` in src/scanner.c.
  externals: ($) => [
    $.comment,
    // Nothing, before a statement: one that a keyword begins, a step, an arm of a `when`.
    $._construct,
    $._step_begin,
    $._arm_begin,
    $._label_begin,
    $._assignment_begin,
    // Nothing, after a statement.
    $._end,
    $._step_end,
    // The text of a step, and what is in it.
    $.shell_text,
    $._shell_escape,
    $.decorator,
    $.text_decorator,
    $._block_open,
    $.block_text,
    // References, in text and in expressions.
    $._text_path,
    $._path,
    $._text_open,
    $._text_close,
    $._text_dot,
    $._text_star,
    $._text_index,
    $._string_text,
    $._triple_text,
    // In no rule: it is asked for only after an error.
    $._error,
  ],

  extras: ($) => [/[\s\uFEFF]/, $.comment],

  word: ($) => $.identifier,

  rules: {
    source_file: ($) => repeat(choice($.import, $.function, $.label, $._statement)),

    import: ($) =>
      seq(
        $._construct,
        choice('import', 'import?'),
        $._string,
        optional(seq('as', field('namespace', $.identifier))),
        $._end,
      ),

    function: ($) =>
      seq(
        $._construct,
        'fun',
        field('name', $.function_name),
        optional($.parameters),
        field('body', choice(seq('=', $.step), $.block)),
      ),

    function_name: () => /[A-Za-z_][A-Za-z0-9_.\-]*/,

    parameters: ($) => seq('(', optional(list($.parameter)), ')'),

    parameter: ($) =>
      seq(
        field('name', $.identifier),
        optional('...'),
        optional(seq(':', field('type', $._type))),
        optional(seq('=', field('default', $._expression))),
      ),

    _type: ($) => choice($.type, $.choices),
    type: ($) => seq($.type_name, optional(seq('[', $._type, ']'))),
    type_name: ($) => $.identifier,
    choices: ($) => seq($._string, repeat(seq('|', $._string))),

    label: ($) =>
      seq($._label_begin, field('name', $.label_name), ':', field('body', choice($.step, $.block))),
    label_name: () => /[A-Za-z_][A-Za-z0-9_\-]*/,

    _statement: ($) =>
      choice(
        $.variable,
        $.variable_group,
        $.assignment,
        $.if,
        $.when,
        $.for,
        $.while,
        $.try,
        $.let,
        $.block,
        $.step,
      ),

    block: ($) => seq('{', repeat($._statement), '}'),

    variable: ($) => seq($._construct, 'var', $._binding, $._end),
    variable_group: ($) => seq($._construct, 'var', '(', repeat(seq($.binding, $._end)), ')'),
    binding: ($) => $._binding,
    _binding: ($) => seq(field('name', $.identifier), '=', field('value', $._expression)),

    assignment: ($) =>
      seq(
        $._assignment_begin,
        field('name', $.identifier),
        choice(seq(choice('=', '+=', '-=', '*=', '/=', '%='), field('value', $._expression)), '++', '--'),
        $._end,
      ),

    if: ($) => seq($._construct, 'if', field('condition', $._expression), $.block, repeat($.else)),
    else: ($) => seq('else', optional(seq('if', field('condition', $._expression))), $.block),

    when: ($) => seq($._construct, 'when', field('subject', $._expression), alias($._arms, $.block)),
    _arms: ($) => seq('{', repeat($.arm), '}'),
    arm: ($) => seq($._arm_begin, $._pattern, repeat(seq('|', $._pattern)), '->', $._statement),
    _pattern: ($) => choice('else', $._expression),

    for: ($) =>
      seq(
        $._construct,
        'for',
        field('variable', $.identifier),
        optional(seq(',', field('variable', $.identifier))),
        'in',
        field('list', $._expression),
        $.block,
      ),

    while: ($) => seq($._construct, 'while', field('condition', $._expression), $.block),

    try: ($) => seq($._construct, 'try', $.block, optional($.catch), optional($.finally)),
    catch: ($) => seq('catch', $.block),
    finally: ($) => seq('finally', $.block),

    let: ($) => seq($._construct, 'let', '.', field('name', $.identifier), '=', $.call, repeat($._text_access), $._step_end),

    // One logical line: shell text, calls of decorators, and the operators between them.
    step: ($) =>
      seq(
        $._step_begin,
        repeat1(choice($.shell, $.call)),
        $._step_end,
      ),

    // What bash reads as a whole, references included.
    shell: ($) =>
      prec.right(
        repeat1(choice($.shell_text, alias($._shell_escape, $.escape), alias($._text_reference, $.reference))),
      ),

    call: ($) =>
      prec.right(
        choice(
          seq($.decorator, optional(alias($._text_arguments, $.arguments)), optional(alias($._call_block, $.block))),
          seq(
            alias($.text_decorator, $.decorator),
            optional(alias($._text_arguments, $.arguments)),
            optional($.text_block),
          ),
        ),
      ),

    _call_block: ($) => seq(alias($._block_open, '{'), repeat($._statement), '}'),
    text_block: ($) => seq(alias($._block_open, '{'), optional($.block_text), '}'),

    // A reference in text: what follows it directly may be text again.
    _text_reference: ($) =>
      prec.right(
        seq(
          alias($._text_path, $.path),
          optional(alias($._text_arguments, $.arguments)),
          repeat($._text_access),
          optional(alias($._text_arguments, $.arguments)),
        ),
      ),
    _text_arguments: ($) =>
      seq(alias($._text_open, '('), optional(list($.argument)), alias($._text_close, ')')),
    _text_access: ($) =>
      choice(
        seq(alias($._text_dot, '.'), choice(alias($._field_name, $.field), alias($._field_index, $.number))),
        alias($._text_star, '.*'),
        seq(alias($._text_index, '['), $._expression, ']'),
      ),

    _field_name: () => token.immediate(/[A-Za-z_][A-Za-z0-9_]*/),
    _field_index: () => token.immediate(/[0-9]+/),

    _expression: ($) =>
      choice(
        $.number,
        $._string,
        $.regex,
        $.constant,
        $.identifier,
        $.reference,
        $.function_call,
        $.access,
        $.array,
        $.map,
        $.group,
        $.unary,
        $.binary,
      ),

    constant: () => choice('true', 'false', 'null'),
    identifier: () => /[A-Za-z_][A-Za-z0-9_]*/,
    number: () => /[0-9]+(\.[0-9]+)?([eE][+\-]?[0-9]+)?[A-Za-z0-9_]*/,
    regex: () => token(seq('r"', /([^"\\\n]|\\.)*/, '"')),

    reference: ($) => prec.right(seq(alias($._path, $.path), optional($.arguments))),

    function_call: ($) => prec(STRENGTH.access, seq(field('function', $.identifier), $.arguments)),
    arguments: ($) => seq(token.immediate('('), optional(list($.argument)), ')'),
    argument: ($) => seq(optional(seq(field('name', $.identifier), '=')), field('value', $._expression)),

    access: ($) =>
      prec.left(
        STRENGTH.access,
        seq(
          $._expression,
          choice(
            seq(token.immediate('.'), choice(alias($._field_name, $.field), alias($._field_index, $.number))),
            token.immediate('.*'),
            seq(token.immediate('['), $._expression, ']'),
            seq(token.immediate('('), ')'),
          ),
        ),
      ),

    array: ($) => seq('[', optional(list($._expression)), ']'),
    map: ($) => seq('{', optional(list($.entry)), '}'),
    entry: ($) => seq(field('key', choice(alias($.identifier, $.field), $._string)), ':', field('value', $._expression)),
    group: ($) => seq('(', $._expression, ')'),

    unary: ($) => prec(STRENGTH.sign, seq(choice('!', '-'), $._expression)),
    binary: ($) => {
      const rows = [
        [STRENGTH.or, '||'],
        [STRENGTH.and, '&&'],
        [STRENGTH.equal, choice('==', '!=')],
        [STRENGTH.compare, choice('<', '<=', '>', '>=')],
        [STRENGTH.range, '...'],
        [STRENGTH.add, choice('+', '-')],
        [STRENGTH.multiply, choice('*', '/', '%')],
      ];
      const row = ([strength, operator]) => prec.left(strength, seq($._expression, operator, $._expression));
      return choice(...rows.map(row));
    },

    _string: ($) => choice($.string, $.raw_string),
    string: ($) =>
      choice(
        seq(
          '"',
          repeat(choice(alias($._string_text, $.text), $.escape, alias($._text_reference, $.reference))),
          token.immediate('"'),
        ),
        seq(
          '"""',
          repeat(choice(alias($._triple_text, $.text), $.escape, alias($._text_reference, $.reference))),
          token.immediate('"""'),
        ),
      ),
    escape: () => token.immediate(/\\(u\{[0-9A-Fa-f]+\}|[^u]|u)/),
    raw_string: () => /'[^'\n]*'/,
  },
});
