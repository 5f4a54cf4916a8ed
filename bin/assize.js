#!/usr/bin/env node
// The command, of the package and of a clone: looks at Node before anything is loaded that an older one does not have. A clone
// runs the sources, under the project's own Node where the one that was called is too old.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MIN = 24;
const built = new URL('../src/cli/main.js', import.meta.url);
const isBuilt = existsSync(built);
const main = isBuilt ? built : new URL('../src/cli/main.ts', import.meta.url);
const executable = process.platform === 'win32' ? 'node.exe' : 'node';
const own = fileURLToPath(new URL(`../node_modules/node/bin/${executable}`, import.meta.url));

if (Number.parseInt(process.versions.node, 10) >= NODE_MIN) {
  keepCompiled();
  await import(main.href);
} else if (!isBuilt && existsSync(own)) runUnder(own);
else {
  const then = isBuilt ? 'install it, or npm install --save-dev node@24' : 'run npm ci, which brings one';
  console.error(`assize: Node ${NODE_MIN} or newer is needed, and this is ${process.version}; ${then}.`);
  process.exitCode = 2;
}

/**
 * Loading is most of what a command takes, and compiling most of that: what was compiled is kept for the next time. Not where
 * Node would keep it, in a folder for temporary files that is everybody's, because whoever writes there could have this run
 * something else. Where it can't be kept, nothing is lost but time. `NODE_DISABLE_COMPILE_CACHE=1` keeps nothing.
 */
function keepCompiled() {
  const caches = process.env['XDG_CACHE_HOME'] ?? '';
  try {
    module.enableCompileCache(join(isAbsolute(caches) ? caches : join(homedir(), '.cache'), 'assize', 'compiled'));
  } catch (error) {
    // A user without a home.
    if (error.code !== 'ERR_SYSTEM_ERROR') throw error;
  }
}

/** Ends as the other process ends: with its exit code, or by the signal that ended it. */
function runUnder(node) {
  const child = spawn(node, [fileURLToPath(main), ...process.argv.slice(2)], { stdio: 'inherit' });
  const pass = (signal) => child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, pass);
  child.on('error', (error) => {
    console.error(`assize: ${node} can't be started: ${error.message}.`);
    process.exitCode = 2;
  });
  child.on('exit', (code, signal) => {
    for (const each of signals) process.off(each, pass);
    if (signal === null) process.exitCode = code ?? 2;
    else process.kill(process.pid, signal);
  });
}
