// The parts of the extension that know nothing of VS Code. `vscode` and the client are replaced by nothing.
'use strict';
const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const Module = require('node:module');
const path = require('node:path');
const { test } = require('node:test');

const load = Module._load;
Module._load = (request, ...rest) => {
  if (request !== 'vscode') return load(request, ...rest);
  // What the client extends when it is loaded.
  const anything = new Proxy(class {}, { get: (target, key) => (key === 'prototype' ? target.prototype : anything) });
  return anything;
};
const { pure } = require(path.join(__dirname, '..', 'out', 'test', 'extension.js'));

test('words reach the program as they are, through a real shell', () => {
  const words = ['a b', "it's", '$(touch x)', '`id`', '', 'ü', '--flag=a;b', '*', '\n', '~', '!'];
  const line = pure.line('printf', ['%s\\0', ...words]);
  const printed = execFileSync('sh', ['-c', line], { encoding: 'utf8' });
  assert.deepEqual(printed.split('\0').slice(0, -1), words);
});

test('a plain command line stays readable', () => {
  assert.equal(pure.line('opal', ['-f', '/a/b-c.opl', 'run', 'deploy']), 'opal -f /a/b-c.opl run deploy');
});

test('only the plan of a task never runs it, and a built-in never takes its place', () => {
  assert.deepEqual(pure.words('plan', 'f', 'check', ['x']), ['-f', 'f', 'run', '--dry-run', 'check', 'x']);
  assert.deepEqual(pure.words('run', 'f', 'check', []), ['-f', 'f', 'run', 'check']);
  assert.deepEqual(pure.words('verify', 'f', 't', []), ['-f', 'f', 'verify', 't']);
});

test('tasks are read from the list, and nothing from anything else', () => {
  assert.deepEqual(pure.tasks('{"tasks": [{"name": "a"}, {"nom": "b"}, null]}').map((task) => task.name), ['a']);
  for (const json of ['', 'null', '[]', '{"tasks": 1}', '{']) assert.deepEqual(pure.tasks(json), []);
});

test('a task that asks, or whose text is unknown, waits for Enter', () => {
  assert.equal(pure.asks('fun a() {\n    @confirm("Sure?")\n}'), true);
  assert.equal(pure.asks('fun a() = echo confirm'), false);
  assert.equal(pure.asks(undefined), true);
});

test('a failed plan shows what was said instead, without colours', () => {
  assert.equal(pure.shown('plan\n', 'warning\n'), 'plan\n');
  assert.equal(pure.shown('', '\u001b[31merror\u001b[0m\n'), 'error\n');
});
