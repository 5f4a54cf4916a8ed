/**
 * Builds the console into a folder: its document, files with a compressed copy of each, and the
 * page that verifies proof bundles. The first argument names the folder.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { verifierPage } from './verifier-page.ts';

const root = join(import.meta.dirname, '..');
const folder = resolve(process.argv[2] ?? 'dist/console');

const vite = dirname(
  createRequire(join(root, 'console/package.json')).resolve('vite/package.json'),
);
const program = join(vite, 'bin/vite.js');
const args = [program, 'build', '--outDir', folder, '--logLevel', 'error'];
execFileSync(process.execPath, args, {
  cwd: join(root, 'console'),
  stdio: ['ignore', 'ignore', 'inherit'],
  // A test runner has another value, for which React is built with checks and paths of sources.
  env: { ...process.env, NODE_ENV: 'production' },
});
const assets = join(folder, 'assets');
for (const name of readdirSync(assets)) {
  const body = readFileSync(join(assets, name));
  const small = brotliCompressSync(body);
  if (small.length < body.length) writeFileSync(join(assets, `${name}.br`), small);
}
writeFileSync(join(folder, 'verify.html'), verifierPage(program, join(root, 'console/verify')));
