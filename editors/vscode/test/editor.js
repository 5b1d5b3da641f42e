// The packed extension in a real editor: code-server in a browser. It checks what a person sees, and keeps pictures.
//
// node editor.js PROGRAMS TOOLS VSIX PICTURES: PROGRAMS is the directory of `opal`, TOOLS has node_modules with
// code-server and playwright-core.
'use strict';
const assert = require('node:assert');
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');

const [programs, tools, vsix, pictures] = process.argv.slice(2).map((word) => path.resolve(word));
const { chromium } = require(path.join(tools, 'node_modules/playwright-core'));
const SERVER = path.join(tools, 'node_modules/code-server/out/node/entry.js');
const MOST_MS = 60_000;

const SOURCE = `// Says hello.
fun hello(name: String = "you") {
    echo "hello @var.name"
}

fun wrong() = echo @var.nam

fun careful() {
    @confirm("Really?")
    touch made
}
`;

function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Starts the editor over a project of its own. */
async function start(settings) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'opal-editor-'));
  const project = path.join(folder, 'project');
  fs.mkdirSync(path.join(folder, 'data/User'), { recursive: true });
  fs.mkdirSync(path.join(folder, 'data/Machine'));
  fs.mkdirSync(path.join(project, '.vscode'), { recursive: true });
  fs.writeFileSync(path.join(project, 'commands.opl'), SOURCE);
  fs.writeFileSync(path.join(folder, 'data/User/settings.json'), JSON.stringify(settings));
  // A setting of the machine; the editor does not pass its own PATH on. The one of the workspace must not be read.
  const machine = { 'opal.path': path.join(programs, 'opal') };
  fs.writeFileSync(path.join(folder, 'data/Machine/settings.json'), JSON.stringify(machine));
  fs.writeFileSync(path.join(project, '.vscode/settings.json'), JSON.stringify({ 'opal.path': '/bin/false' }));
  const common = ['--user-data-dir', path.join(folder, 'data'), '--extensions-dir', path.join(folder, 'extensions')];
  const env = { ...process.env, HOME: folder, CI: '1' };
  execFileSync(process.execPath, [SERVER, ...common, '--install-extension', vsix], { env, stdio: 'pipe' });
  const port = await freePort();
  const words = ['--auth', 'none', '--disable-telemetry', '--disable-update-check', '--bind-addr', `127.0.0.1:${port}`];
  const child = spawn(process.execPath, [SERVER, ...common, ...words, project], { env, stdio: 'ignore' });
  return { folder, project, child, address: `http://127.0.0.1:${port}/?folder=${encodeURIComponent(project)}` };
}

async function connected(page, address) {
  const end = Date.now() + MOST_MS;
  for (;;) {
    try {
      return await page.goto(address);
    } catch (error) {
      if (Date.now() > end) throw error;
      await page.waitForTimeout(200);
    }
  }
}

async function opened(page) {
  await page.waitForSelector('.monaco-workbench', { timeout: MOST_MS });
  await page.getByText('commands.opl').first().dblclick({ timeout: MOST_MS });
  await page.waitForSelector('.view-lines .view-line', { timeout: MOST_MS });
}

/** Blanks of the editor are of another kind. */
function text(shown) {
  return shown.replaceAll('\u00a0', ' ');
}

/** Waits for what the terminal shows. */
async function said(page, shown) {
  await page.locator('.terminal-wrapper .xterm-rows', { hasText: shown }).first().waitFor({ timeout: MOST_MS });
}

/** Nothing but the file is shown, and nothing is sent. */
const QUIET = {
  'workbench.startupEditor': 'none',
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'telemetry.telemetryLevel': 'off',
};

async function trusted(browser) {
  const editor = await start({
    'security.workspace.trust.enabled': false,
    ...QUIET,
    'workbench.colorTheme': 'Default Dark Modern',
    // Its rows are then in the page.
    'terminal.integrated.gpuAcceleration': 'off',
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 760 } });
    await connected(page, editor.address);
    await opened(page);
    await page.waitForSelector('.squiggly-error', { timeout: MOST_MS });
    await page.waitForSelector('.codelens-decoration a', { timeout: MOST_MS });
    const lenses = await page.locator('.codelens-decoration a').allTextContents();
    assert.ok(lenses.includes('plan') && lenses.includes('run'), `lenses: ${lenses}`);
    await page.screenshot({ path: path.join(pictures, 'editor-dark.png') });

    await page.locator('.view-line span', { hasText: 'confirm' }).last().hover();
    await page.locator('.monaco-hover', { hasText: 'Ask' }).first().waitFor({ timeout: MOST_MS });
    await page.screenshot({ path: path.join(pictures, 'hover-dark.png') });

    await page.locator('.codelens-decoration a', { hasText: 'plan' }).first().click();
    const plan = page.locator('.editor-group-container').last();
    await plan.locator('.view-line', { hasText: 'Plan Hash' }).waitFor({ timeout: MOST_MS });
    assert.match(text(await plan.innerText()), /echo "hello you"/);
    await page.screenshot({ path: path.join(pictures, 'plan-dark.png') });

    // What is typed is completed, and a save makes the plan again.
    const source = page.locator('.editor-group-container').first();
    await source.locator('.view-line', { hasText: 'echo "hello' }).click();
    await page.keyboard.press('End');
    await page.keyboard.type(' again @var.');
    await page.locator('.suggest-widget .monaco-list-row', { hasText: 'name' }).first().waitFor({ timeout: MOST_MS });
    await page.screenshot({ path: path.join(pictures, 'completion-dark.png') });
    await page.keyboard.press('Escape');
    await page.keyboard.type('name');
    await page.keyboard.press('Control+s');
    await plan.locator('.view-line', { hasText: 'again' }).waitFor({ timeout: MOST_MS });

    // A task that asks waits for Enter, and then asks.
    await page.locator('.codelens-decoration a', { hasText: 'run' }).last().click();
    await said(page, 'run careful');
    await page.screenshot({ path: path.join(pictures, 'run-dark.png') });
    await page.locator('.terminal-wrapper .xterm-helper-textarea').focus();
    await page.keyboard.press('Enter');
    await said(page, 'Really?');
    assert.ok(!fs.existsSync(path.join(editor.project, 'made')), 'a task that asks must not run by itself');
    await page.keyboard.type('y');
    await page.keyboard.press('Enter');
    await said(page, 'touch made');
    await page.screenshot({ path: path.join(pictures, 'asked-dark.png') });
  } catch (error) {
    for (const [at, page] of browser.contexts().flatMap((context) => context.pages()).entries()) {
      await page.screenshot({ path: path.join(pictures, `failed-${at}.png`) });
    }
    throw error;
  } finally {
    editor.child.kill();
    fs.rmSync(editor.folder, { recursive: true, force: true });
  }
}

async function untrusted(browser) {
  const editor = await start({
    'security.workspace.trust.startupPrompt': 'never',
    ...QUIET,
    'workbench.colorTheme': 'Default Light Modern',
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 760 } });
    await connected(page, editor.address);
    await opened(page);
    await page.waitForSelector('.squiggly-error', { timeout: MOST_MS });
    assert.equal(await page.locator('.codelens-decoration a').count(), 0, 'an untrusted workspace has lenses');
    await page.screenshot({ path: path.join(pictures, 'untrusted-light.png') });
  } catch (error) {
    for (const [at, page] of browser.contexts().flatMap((context) => context.pages()).entries()) {
      await page.screenshot({ path: path.join(pictures, `failed-${at}.png`) });
    }
    throw error;
  } finally {
    editor.child.kill();
    fs.rmSync(editor.folder, { recursive: true, force: true });
  }
}

async function main() {
  fs.mkdirSync(pictures, { recursive: true });
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  try {
    await trusted(browser);
    await untrusted(browser);
  } finally {
    await browser.close();
  }
}

main().then(
  () => console.log('all of it'),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
