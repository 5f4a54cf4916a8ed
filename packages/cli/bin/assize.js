#!/usr/bin/env node
// The command, installed or in a clone. The release of Node is checked before any module loads that an older Node
// lacks. A clone runs the TypeScript sources, and starts its own Node 24 where the calling Node is too old for them.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const built = new URL('../src/main.js', import.meta.url);
const isBuilt = existsSync(built);
// The oldest release of each line, as in packages/assize/src/canon/node-version.ts. TypeScript sources take Node 24.
const oldest = isBuilt
  ? [
      [22, 16],
      [24, 0],
    ]
  : [[24, 0]];
const main = isBuilt ? built : new URL('../src/main.ts', import.meta.url);
const executable = process.platform === 'win32' ? 'node.exe' : 'node';
const own = fileURLToPath(new URL(`../../../node_modules/node/bin/${executable}`, import.meta.url));

if (isNewEnough(process.versions.node)) {
  hideSqliteWarning();
  keepCompiled();
  await import(main.href);
} else if (!isBuilt && existsSync(own)) runUnder(own);
else {
  const then = isBuilt
    ? 'Install Node 24, or Node 22.16 or newer of the 22 line; npm install --save-dev node@24 brings Node 24 to one project'
    : 'Run npm ci to bring Node 24 to this clone';
  console.error(`assize: the command can't run on Node ${process.versions.node}. ${then}.`);
  process.exitCode = 2;
}

/** @param {string} version */
function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const newest = oldest[oldest.length - 1];
  return major > newest[0] || oldest.some((each) => major === each[0] && minor >= each[1]);
}

/** Node 22 calls its SQLite experimental in every process that opens a store; all other warnings are printed. */
function hideSqliteWarning() {
  const emit = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    const isOfSqlite = rest[0] === 'ExperimentalWarning' && String(warning).startsWith('SQLite ');
    if (!isOfSqlite) emit.call(process, warning, ...rest);
  };
}

/**
 * Loading is most of what a command takes, and compiling most of that: what was compiled is kept for the next time. Not where
 * Node would keep it, in a folder for temporary files that is everybody's, because whoever writes there could have this run
 * something else. Where it can't be kept, nothing is lost but time. `NODE_DISABLE_COMPILE_CACHE=1` keeps nothing.
 */
function keepCompiled() {
  const caches = process.env['XDG_CACHE_HOME'] ?? '';
  try {
    module.enableCompileCache(
      join(isAbsolute(caches) ? caches : join(homedir(), '.cache'), 'assize', 'compiled'),
    );
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
