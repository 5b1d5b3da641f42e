// What package.json says to VS Code: the problem matcher reads what `opal check` prints, tasks are those of
// `opal list`, schemas are there. OPAL is the program.
'use strict';
const assert = require('node:assert');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');

const top = path.join(__dirname, '..');
const { contributes } = JSON.parse(fs.readFileSync(path.join(top, 'package.json'), 'utf8'));

/** Runs `opal` over files of a project. */
function opal(files, words) {
  const project = fs.mkdtempSync(path.join(os.tmpdir(), 'opal-contributed-'));
  try {
    for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(project, name), text);
    const env = { ...process.env, NO_COLOR: '1', HOME: project };
    const ran = spawnSync(process.env.OPAL, words, { cwd: project, env, encoding: 'utf8' });
    assert.equal(ran.error, undefined);
    return ran.stdout + ran.stderr;
  } finally {
    fs.rmSync(project, { recursive: true, force: true });
  }
}

/** What VS Code finds: each pattern fits the line after that of the one before it. */
function problems(matcher, printed) {
  const lines = printed.split('\n');
  const found = [];
  for (let at = 0; at < lines.length; at += 1) {
    const all = matcher.pattern.map((one, index) => new RegExp(one.regexp).exec(lines[at + index] ?? ''));
    if (all.some((one) => !one)) continue;
    const problem = {};
    matcher.pattern.forEach((one, index) => {
      for (const key of ['severity', 'code', 'message', 'file', 'line', 'column']) {
        if (one[key]) problem[key] = all[index][one[key]];
      }
    });
    found.push(problem);
  }
  return found;
}

test('the problem matcher reads every problem that `opal check` prints', () => {
  const files = {
    'commands.opl': 'import "part.opl"\n\nfun a() {\n    echo @var.nothing\n    @retri(3) {\n        true\n    }\n}\n\nfun b(unused) = @cmd.part.c()\n',
    'part.opl': 'fun c() = echo @var.missing\n',
  };
  const [matcher] = contributes.problemMatchers;
  assert.equal(matcher.name, 'opal');
  const printed = opal(files, ['check']);
  const found = problems(matcher, printed);
  const places = found.map(({ severity, code, file, line }) => [severity, code, file, line].join(' ')).sort();
  const expected = ['error E0401 commands.opl 4', 'error E0401 part.opl 1', 'error E0406 commands.opl 5'];
  for (const place of expected) assert.ok(places.includes(place), `${place} in\n${places.join('\n')}\n${printed}`);
  assert.ok(found.every((one) => one.message && Number(one.column) > 0));
  const { files: reported } = JSON.parse(opal(files, ['check', '--json']));
  const count = reported.flatMap((file) => file.diagnostics).length;
  assert.equal(found.length, count, printed);
});

test('a clean file has no problem', () => {
  assert.deepEqual(problems(contributes.problemMatchers[0], opal({ 'commands.opl': 'fun a() = true\n' }, ['check'])), []);
});

test('tasks are read from what `opal list --json` prints', () => {
  const load = require('node:module')._load;
  require('node:module')._load = (request, ...rest) => {
    if (request !== 'vscode') return load(request, ...rest);
    const anything = new Proxy(class {}, { get: (target, key) => (key === 'prototype' ? target.prototype : anything) });
    return anything;
  };
  const { pure } = require(path.join(top, 'out', 'test', 'extension.js'));
  const text = '// Ships it.\nfun deploy(place: "dev" | "prod", count: Int = 2) = echo @var.place @var.count\n\nfun _own() = true\n';
  const tasks = pure.tasks(opal({ 'commands.opl': text }, ['list', '--json']));
  const deploy = tasks.find((task) => task.name === 'deploy');
  assert.equal(deploy.summary, 'Ships it.');
  assert.deepEqual(deploy.params.map(({ name, required }) => [name, required]), [['place', true], ['count', false]]);
  assert.deepEqual(deploy.params[0].choices, ['dev', 'prod']);
  assert.deepEqual(contributes.taskDefinitions[0].required, ['task']);
  assert.equal(contributes.taskDefinitions[0].type, 'opal');
});

test('each schema is a JSON Schema, and snippets and languages are there', () => {
  for (const { fileMatch, url } of contributes.yamlValidation) {
    const schema = JSON.parse(fs.readFileSync(path.join(top, url), 'utf8'));
    assert.match(schema.$schema, /json-schema\.org/);
    assert.equal(schema.type ?? (schema.oneOf || schema.anyOf ? 'object' : undefined), 'object', url);
    assert.ok(fileMatch.length > 0);
  }
  const files = [contributes.snippets[0].path, contributes.grammars[0].path, contributes.languages[0].configuration];
  for (const file of files) JSON.parse(fs.readFileSync(path.join(top, file), 'utf8'));
});
