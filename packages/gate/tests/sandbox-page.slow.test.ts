/** The table of docs/guide/sandbox.md: each command, judged and run, in the sandbox and without. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { missingForSandbox } from '../../../tests/support/sandbox-runtime.ts';
import { Judge } from './reality/judge.ts';
import { runProgram } from './support/agents/run-program.ts';

const ROOT = join(import.meta.dirname, '../../..');
const MAIN = join(ROOT, 'packages/cli/src/main.ts');
const CANARY = 'canary-4711';
const missing = missingForSandbox();

const ROWS = [
  ...readFileSync(join(ROOT, 'docs/guide/sandbox.md'), 'utf8').matchAll(
    /^\| ([^|]+) \| `([^`]+)` \| (\w+) \| (\w+) \|$/gm,
  ),
].map(([, reach, command, says, held]) => ({ reach, command, says, held }) as Row);

interface Row {
  readonly reach: string;
  readonly command: string;
  readonly says: string;
  readonly held: string;
}

const PROGRAMS = {
  read: "console.log(fs.readFileSync('.env', 'utf8'))",
  write: "fs.writeFileSync('../beside', 'x')",
  send: "await fetch('http://127.0.0.1:PORT/')",
  env: 'console.log(process.env.API_KEY)',
  other: 'console.log(process.env.OTHER)',
};

/** A project under rules, and a server on loopback that counts requests. */
async function stage() {
  const top = realpathSync(mkdtempSync('/var/tmp/assize-page-'));
  const [project, home] = [join(top, 'project'), join(top, 'home')];
  let requests = 0;
  const server = createServer((_, answer) => {
    requests += 1;
    answer.end('x');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.close();
    rmSync(top, { recursive: true });
  });
  const port = String((server.address() as AddressInfo).port);
  for (const folder of [join(project, 'src'), join(home, '.ssh')])
    mkdirSync(folder, { recursive: true });
  const git = (...args: string[]) => spawnSync('git', args, { cwd: project, encoding: 'utf8' });
  git('init', '-q', '-b', 'main');
  git('init', '-q', '--bare', '../remote.git');
  git('remote', 'add', 'origin', '../remote.git');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'a');
  writeFileSync(join(project, '.env'), CANARY);
  writeFileSync(join(home, '.ssh/key'), CANARY);
  for (const [name, text] of Object.entries(PROGRAMS)) {
    const program = `import fs from 'node:fs';\n${text.replace('PORT', port)};\n`;
    writeFileSync(join(project, `${name}.mjs`), program);
  }
  const rules = `id: page
rules:
  - { id: look, allow: ['files/*', 'shell/*'], class: read, path: ${project} }
  - { id: edit, allow: [files/write, files/edit, shell/write], path: ${project} }
  - { id: secrets, deny: ['files/*', 'shell/*'], path: ${project}/.env }
`;
  writeFileSync(join(top, 'rules.yaml'), rules);
  const env = {
    ...{ PATH: process.env['PATH'] ?? '', HOME: home, API_KEY: CANARY, OTHER: CANARY, x: '.env' },
  };
  const reached = (out: string): boolean =>
    out.includes(CANARY) ||
    requests > 0 ||
    existsSync(join(top, 'beside')) ||
    existsSync(join(project, '.git/hooks/pre-commit')) ||
    spawnSync('git', ['-C', join(top, 'remote.git'), 'rev-parse', 'main']).status === 0;
  return {
    ...{ top, project, home, rules },
    /** Whether a command of the page reaches what it tries to reach. */
    async run(command: string, isSandboxed: boolean): Promise<boolean> {
      const line = command
        .replace('http://canary.example.com', `http://127.0.0.1:${port}/`)
        .replace(/^node /, `${process.execPath} `);
      const own = ['run-in-sandbox', '--rules', join(top, 'rules.yaml'), '--', 'sh', '-c', line];
      const [program, ...args] = isSandboxed
        ? [process.execPath, MAIN, ...own]
        : ['sh', '-c', line];
      const { out, code } = await runProgram(program as string, args, {
        ...{ cwd: project, env, timeoutMs: 60_000 },
      });
      return reached(out) || (command.startsWith('getent') && code === 0);
    },
  };
}

const SAYS = { deny: 'refused', ask: 'asked', allow: 'allowed' } as const;

test('the page has every kind of reach', () => expect(ROWS.length).toBeGreaterThan(14));

test.each(ROWS)('$reach: the rules say what the page says', async ({ command, says }) => {
  const { top: root, project, home, rules } = await stage();
  const judge = new Judge({ rules, fault: undefined } as never);
  onTestFinished(() => judge.close());
  const call = { tool: 'Bash', input: { command } };
  const { was } = await judge.judge(call as never, { root, project, home } as never);
  expect(SAYS[was]).toBe(says);
});

describe.skipIf(missing.length > 0)(
  `the sandbox${missing.length > 0 ? ` (absent without ${missing.join(', ')})` : ''}`,
  () => {
    test.each(ROWS)('$reach: it is $held', async ({ command, held }) => {
      const place = await stage();
      expect(await place.run(command, true)).toBe(held === 'open');
      // Without the sandbox it comes through. A name server may be missing here.
      if (!command.startsWith('getent')) expect(await place.run(command, false)).toBe(true);
    });
  },
);
