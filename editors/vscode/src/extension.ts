// Opal in VS Code: the language server, and commands that start `opal` as a person would.
//
// The program is `opal` on the PATH or in a setting of the machine, never of a workspace. Nothing of a workspace is
// planned or run before the workspace is trusted and somebody asked for it. The functions in `pure` know nothing of
// VS Code; test/pure.test.js tries them.

import { execFile } from 'node:child_process';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from 'vscode-languageclient/node';

/** What `opal list --json` says about a task, as far as it is used here. */
interface Task {
  name: string;
  summary: string;
  private: boolean;
  params: { name: string; type: string; required: boolean; rest: boolean; choices?: string[] }[];
}

const VERBS = ['plan', 'run', 'verify'] as const;
type Verb = (typeof VERBS)[number];

const SCHEME = 'opal-plan';
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_MS = 60_000;

export const pure = {
  /** A word of a command line, as sh reads it. */
  quoted(word: string): string {
    return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
  },

  /** The words after `opal` that do something with a task: `run` calls a function whatever its name is. */
  words(verb: Verb, file: string, task: string, args: string[]): string[] {
    const before = verb === 'verify' ? ['verify'] : verb === 'plan' ? ['run', '--dry-run'] : ['run'];
    return ['-f', file, ...before, task, ...args];
  },

  line(program: string, words: string[]): string {
    return [program, ...words].map(pure.quoted).join(' ');
  },

  /** The tasks in a document of `opal list --json`; none where it is something else. */
  tasks(json: string): Task[] {
    try {
      const document: unknown = JSON.parse(json);
      const tasks = (document as { tasks?: unknown }).tasks;
      return Array.isArray(tasks) ? tasks.filter((task) => typeof task?.name === 'string') : [];
    } catch {
      return [];
    }
  },

  /** Whether a task asks a question before it goes on. Without its text nobody knows. */
  asks(text: string | undefined): boolean {
    return text === undefined || /@confirm\b/.test(text);
  },

  /** The text of a child, or what it said instead of one. */
  shown(stdout: string, stderr: string): string {
    return (stdout.trim() ? stdout : stderr).replace(/\u001b\[[0-9;]*[A-Za-z]/g, '');
  },
};

function program(): string {
  // The scope of the setting is the machine: a value of a workspace is not read.
  const found = vscode.workspace.getConfiguration('opal').inspect<string>('path');
  return found?.globalValue || 'opal';
}

/** Runs `opal`, without a shell and for a bounded time. */
function opal(words: string[], directory: string): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { cwd: directory, maxBuffer: MOST_BYTES, timeout: MOST_MS, env: { ...process.env, NO_COLOR: '1' } };
    execFile(program(), words, options, (error, stdout, stderr) => {
      resolve({ stdout, stderr: stderr || (error ? `${error.message}\n` : '') });
    });
  });
}

async function tasksOf(file: string): Promise<Task[]> {
  return pure.tasks((await opal(['-f', file, 'list', '--json'], path.dirname(file))).stdout);
}

/** Asks for what a task requires; nothing where somebody gave up. */
async function argumentsOf(task: Task): Promise<string[] | undefined> {
  const given: string[] = [];
  for (const { name, type, choices } of task.params.filter((param) => param.required && !param.rest)) {
    const title = `${task.name}: ${name}`;
    const value = choices?.length
      ? await vscode.window.showQuickPick(choices, { title })
      : await vscode.window.showInputBox({ title, prompt: type });
    if (value === undefined) return undefined;
    given.push(value.startsWith('-') ? `--${name}=${value}` : value);
  }
  return given;
}

/** The address and the name that a lens has; from the palette, those of the open file and of a chosen task. */
async function target(address?: string, name?: string): Promise<{ file: string; task: Task; args: string[] } | undefined> {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showWarningMessage('Opal plans and runs nothing in an untrusted workspace.');
    return undefined;
  }
  const uri = address ? vscode.Uri.parse(address, true) : vscode.window.activeTextEditor?.document.uri;
  if (uri?.scheme !== 'file') return undefined;
  await vscode.workspace.save(uri);
  const tasks = await tasksOf(uri.fsPath);
  const picked = name ?? (await vscode.window.showQuickPick(tasks.map((task) => task.name), { title: 'Task' }));
  if (!picked) return undefined;
  const task = tasks.find((task) => task.name === picked) ?? { name: picked, summary: '', private: false, params: [] };
  const args = await argumentsOf(task);
  return args && { file: uri.fsPath, task, args };
}

/** Plans, as documents that nobody can edit. */
class Previews implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    if (!vscode.workspace.isTrusted) return 'Nothing is planned in an untrusted workspace.\n';
    const [file, task, ...args] = JSON.parse(uri.query) as [string, string, ...string[]];
    const { stdout, stderr } = await opal(pure.words('plan', file, task, args), path.dirname(file));
    return pure.shown(stdout, stderr);
  }

  async open(address?: string, name?: string): Promise<void> {
    const found = await target(address, name);
    if (!found) return;
    const query = JSON.stringify([found.file, found.task.name, ...found.args]);
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${found.task.name}.plan`, query });
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
  }

  /** A saved source may be imported by the one that is shown, so all plans are made again. */
  saved(document: vscode.TextDocument): void {
    if (document.languageId !== 'opal') return;
    const shown = vscode.workspace.textDocuments.filter((one) => one.uri.scheme === SCHEME);
    shown.forEach((one) => this.changed.fire(one.uri));
  }
}

/** The text of a function, by the symbols of the language server. */
async function textOf(file: string, name: string): Promise<string | undefined> {
  const uri = vscode.Uri.file(file);
  const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[]>('vscode.executeDocumentSymbolProvider', uri);
  const all = (symbols ?? []).flatMap((symbol) => [symbol, ...(symbol.children ?? [])]);
  const found = all.find((symbol) => symbol.name === name);
  return found && (await vscode.workspace.openTextDocument(uri)).getText(found.range);
}

/** Opens a terminal with the command line. A task that asks something waits for Enter. */
async function terminal(verb: Verb, address?: string, name?: string): Promise<void> {
  const found = await target(address, name);
  if (!found) return;
  const waits = verb === 'run' && pure.asks(await textOf(found.file, found.task.name));
  const line = pure.line(program(), pure.words(verb, found.file, found.task.name, found.args));
  const opened = vscode.window.createTerminal({ name: `opal ${found.task.name}`, cwd: path.dirname(found.file) });
  opened.show();
  opened.sendText(line, !waits);
}

/** The tasks of each folder's `commands.opl`, for *Run Task*. */
class Tasks implements vscode.TaskProvider {
  async provideTasks(): Promise<vscode.Task[]> {
    if (!vscode.workspace.isTrusted) return [];
    const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
    const lists = folders.map(async (folder) => {
      const { stdout } = await opal(['list', '--json'], folder.uri.fsPath);
      return pure.tasks(stdout).map((task) => this.task(folder, { type: 'opal', task: task.name }, task.summary));
    });
    return (await Promise.all(lists)).flat();
  }

  resolveTask(task: vscode.Task): vscode.Task | undefined {
    const { scope, definition } = task;
    if (!vscode.workspace.isTrusted || typeof scope !== 'object' || typeof definition.task !== 'string') return undefined;
    return this.task(scope, definition, '');
  }

  private task(folder: vscode.WorkspaceFolder, definition: vscode.TaskDefinition, summary: string): vscode.Task {
    const args: string[] = Array.isArray(definition.args) ? definition.args.map(String) : [];
    const words = ['run', definition.task as string, ...args];
    const execution = new vscode.ProcessExecution(program(), words, { cwd: folder.uri.fsPath });
    const task = new vscode.Task(definition, folder, definition.task as string, 'opal', execution, '$opal');
    task.detail = summary;
    if (definition.task === 'build') task.group = vscode.TaskGroup.Build;
    if (definition.task === 'test') task.group = vscode.TaskGroup.Test;
    return task;
  }
}

function client(): LanguageClient {
  const run = { command: program(), args: ['lsp'] };
  const server: ServerOptions = { run, debug: run };
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: 'file', language: 'opal' },
      { scheme: 'untitled', language: 'opal' },
    ],
    // Without the commands the server sends no lenses.
    initializationOptions: { commands: vscode.workspace.isTrusted ? VERBS.map((verb) => `opal.${verb}`) : [] },
    // The commands are registered here, for the palette too.
    middleware: {
      provideCodeLenses: async (document, token, next) => (vscode.workspace.isTrusted ? next(document, token) : []),
    },
  };
  return new LanguageClient('opal', 'Opal', server, options);
}

let running: LanguageClient | undefined;

async function start(): Promise<void> {
  await running?.dispose().catch(() => undefined);
  running = client();
  try {
    await running.start();
  } catch (error) {
    const open = 'Settings';
    const said = `Opal did not start: ${error instanceof Error ? error.message : String(error)}. Install \`opal\`, or set its path.`;
    if ((await vscode.window.showErrorMessage(said, open)) === open) {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'opal.path');
    }
  }
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const previews = new Previews();
  const pages: vscode.TextDocumentContentProvider = {
    provideTextDocumentContent: async (uri) => {
      const code = path.basename(uri.path, '.md');
      const answer = await running?.sendRequest<{ page?: string } | string | null>('opal/page', { code });
      return (typeof answer === 'string' ? answer : answer?.page) ?? '';
    },
  };
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, previews),
    vscode.workspace.registerTextDocumentContentProvider('opal-page', pages),
    vscode.workspace.onDidSaveTextDocument((document) => previews.saved(document)),
    vscode.commands.registerCommand('opal.plan', (address?: string, name?: string) => previews.open(address, name)),
    vscode.commands.registerCommand('opal.run', (address?: string, name?: string) => terminal('run', address, name)),
    vscode.commands.registerCommand('opal.verify', (address?: string, name?: string) => terminal('verify', address, name)),
    vscode.commands.registerCommand('opal.restart', start),
    vscode.tasks.registerTaskProvider('opal', new Tasks()),
    vscode.workspace.onDidGrantWorkspaceTrust(start),
    vscode.workspace.onDidChangeConfiguration((event) => (event.affectsConfiguration('opal.path') ? start() : undefined)),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await running?.dispose();
}
