// Makes a component of a core module: node component.mjs TOOLS CORE WIT WORLD OUTPUT
import { createRequire } from "node:module";
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const [tools, core, wit, world, output] = process.argv.slice(2);
const require = createRequire(resolve(tools, "package.json"));
const found = require.resolve("@bytecodealliance/jco-transpile/wasm-tools");
const { componentEmbed, componentNew } = await import(pathToFileURL(found));
const witSource = await readFile(wit, "utf8");
const embedded = await componentEmbed({ binary: await readFile(core), witSource, world });
await writeFile(output, await componentNew(embedded, []));
