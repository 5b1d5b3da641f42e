// Compares the TextMate grammar with `opal self syntax`, character by character.
//
// node agreement.js MODULES GRAMMAR CORPUS: MODULES is a directory of npm modules, CORPUS has sources NAME.opl and, for
// each, NAME.json from `opal self syntax NAME.opl --json`. Prints one JSON document: how many characters were
// compared, and each run of characters with different classes. Blanks have no colour and are not compared.
'use strict';
const fs = require('fs');
const path = require('path');

const [modules, grammarPath, corpus] = process.argv.slice(2);
const need = (name) => require(path.resolve(modules, name));
const { Registry, parseRawGrammar, INITIAL } = need('vscode-textmate');
const oniguruma = need('vscode-oniguruma');

// From the scopes of the grammar to the classes. The first one that fits the beginning of a scope counts.
const CLASSES = [
  ['comment', 'comment'],
  ['constant.character.escape', 'escape'],
  ['constant.numeric', 'number'],
  ['constant.language', 'keyword'],
  ['keyword.control', 'keyword'],
  ['keyword.operator', 'operator'],
  ['punctuation', 'punctuation'],
  ['entity.name.function.label', 'label'],
  ['entity.name.function', 'function'],
  ['entity.name.type', 'type'],
  ['support.type', 'type'],
  ['support.function.decorator', 'decorator'],
  ['variable.language.reference', 'reference'],
  ['variable.parameter', 'parameter'],
  ['variable.other.member', 'field'],
  ['variable.other', 'variable'],
  ['string', 'string'],
  ['meta.step', 'shell'],
  ['meta.embedded', 'text'],
];

/** The innermost scope of the grammar's own decides; those of an embedded language do not count. */
function classOf(scopes) {
  if (scopes.some((scope) => scope.startsWith('comment.'))) return 'comment';
  for (let at = scopes.length - 1; at >= 0; at--) {
    if (!scopes[at].endsWith('.opal')) continue;
    const found = CLASSES.find(([prefix]) => scopes[at].startsWith(prefix));
    if (found) return found[1];
  }
  return 'none';
}

function classesOfGrammar(grammar, text) {
  const classes = new Array(text.length).fill('none');
  let stack = INITIAL;
  let start = 0;
  for (const line of text.split('\n')) {
    const result = grammar.tokenizeLine(line, stack);
    if (result.stoppedEarly) throw new Error(`a line takes too long: ${line}`);
    for (const token of result.tokens) {
      const found = classOf(token.scopes);
      for (let at = token.startIndex; at < Math.min(token.endIndex, line.length); at++) classes[start + at] = found;
    }
    stack = result.ruleStack;
    start += line.length + 1;
  }
  return classes;
}

/** Offsets of `opal self syntax` are bytes. */
function classesOfOpal(document, text) {
  const bytes = Buffer.from(text, 'utf8');
  const classes = [];
  for (const run of document.classes) {
    const length = bytes.subarray(run.start, run.end).toString('utf8').length;
    for (let at = 0; at < length; at++) classes.push(run.class);
  }
  return classes;
}

function compare(name, text, expected, found, report) {
  let open = null;
  let [line, column] = [1, 1];
  for (let at = 0; at < text.length; at++) {
    const blank = /\s/.test(text[at]) || text[at] === '\ufeff';
    if (!blank) {
      report.compared++;
      if (expected[at] !== found[at]) {
        report.different++;
        if (open && open.expected === expected[at] && open.found === found[at] && open.end === at) {
          open.text += text[at];
          open.end = at + 1;
        } else {
          const source = text.split('\n')[line - 1];
          open = { file: name, line, column, expected: expected[at], found: found[at], text: text[at], source, end: at + 1 };
          report.differences.push(open);
        }
      }
    }
    if (text[at] === '\n') [line, column] = [line + 1, 1];
    else column++;
  }
}

async function main() {
  const wasm = fs.readFileSync(path.resolve(modules, 'vscode-oniguruma/release/onig.wasm'));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const shell = path.resolve(modules, 'tm-grammars/grammars/shellscript.json');
  const grammars = { 'source.opal': grammarPath, 'source.shell': shell };
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) =>
      grammars[scope] ? parseRawGrammar(fs.readFileSync(grammars[scope], 'utf8'), 'grammar.json') : null,
  });
  const grammar = await registry.loadGrammar('source.opal');
  const report = { files: 0, compared: 0, different: 0, differences: [] };
  for (const file of fs.readdirSync(corpus).filter((name) => name.endsWith('.opl')).sort()) {
    const text = fs.readFileSync(path.join(corpus, file), 'utf8');
    const document = JSON.parse(fs.readFileSync(path.join(corpus, file.replace(/opl$/, 'json')), 'utf8'));
    compare(file, text, classesOfOpal(document, text), classesOfGrammar(grammar, text), report);
    report.files++;
  }
  for (const one of report.differences) delete one.end;
  process.stdout.write(JSON.stringify(report) + '\n');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
