#!/usr/bin/env node
// Starts the command in the package @assize/cli. Without that package, a person at a terminal is
// asked whether npx may run it, and a script gets an error that names it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const cli = `@assize/cli@${version}`;

if (isInstalled()) await import('@assize/cli/bin');
else if (process.stdin.isTTY && process.stderr.isTTY && (await isWanted())) {
  const { status } = spawnSync('npx', ['--yes', cli, ...process.argv.slice(2)], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 2;
} else {
  console.error(
    `assize: the command is a package of its own. Run npm install ${cli}, or npx ${cli}.`,
  );
  process.exitCode = 2;
}

function isInstalled() {
  try {
    return import.meta.resolve('@assize/cli/bin') !== undefined;
  } catch {
    return false;
  }
}

async function isWanted() {
  const asked = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asked.question(`The command is the package ${cli}. Run it with npx? [Y/n] `);
  asked.close();
  return /^y?$/i.test(answer.trim());
}
