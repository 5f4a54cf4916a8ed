#!/usr/bin/env node
// The command of this workspace. It runs the TypeScript sources, under the Node that `npm ci` installs.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const executable = process.platform === 'win32' ? 'node.exe' : 'node';
const installed = fileURLToPath(
  new URL(`../../node_modules/node/bin/${executable}`, import.meta.url),
);
const main = fileURLToPath(new URL('../cli/main.ts', import.meta.url));
const node = existsSync(installed) ? installed : process.execPath;

const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
const pass = (signal) => child.kill(signal);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, pass);
child.on('error', (error) => {
  console.error(`assize-experiments: Node did not start: ${error.message}. Run npm ci.`);
  process.exitCode = 2;
});
child.on('exit', (code, signal) => {
  if (signal === null) process.exitCode = code ?? 2;
  else process.kill(process.pid, signal);
});
