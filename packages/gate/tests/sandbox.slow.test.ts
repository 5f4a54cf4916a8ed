/** The sandbox of the rules, with the real runtime. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
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
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ADA, served } from '../../../tests/support/mcp/served-gateway.ts';
import { missingForSandbox } from '../../../tests/support/sandbox-runtime.ts';
import { type ProgramRun, runProgram } from './support/agents/run-program.ts';

const MAIN = join(import.meta.dirname, '../../cli/src/main.ts');
const missing = missingForSandbox();

const CANARY = 'canary-4711';

interface Stage {
  readonly project: string;
  readonly home: string;
  /** Runs a line of a shell in the sandbox of the rules. */
  run(line: string, env?: Readonly<Record<string, string>>): Promise<ProgramRun>;
}

/**
 * A project and a home folder with secrets, outside of the folder for temporary files. `within`:
 * the project is in the home folder.
 */
function stage(within = false): Stage {
  const top = realpathSync(mkdtempSync('/var/tmp/assize-sandbox-'));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const home = join(top, 'home');
  const project = join(within ? home : top, 'project');
  for (const folder of [`${project}/.git/hooks`, `${project}/src`, `${home}/.ssh`])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(project, '.env'), CANARY);
  writeFileSync(join(home, '.ssh/key'), CANARY);
  writeFileSync(
    join(project, 'read.mjs'),
    "process.stdout.write((await import('node:fs')).readFileSync('.env', 'utf8'));\n",
  );
  writeFileSync(join(top, 'rules.yaml'), rulesFor(project));
  return {
    project,
    home,
    run: (line, env = {}) =>
      runProgram(
        process.execPath,
        [MAIN, 'run-in-sandbox', '--rules', join(top, 'rules.yaml'), '--', 'sh', '-c', line],
        {
          cwd: project,
          env: {
            PATH: process.env['PATH'] ?? '',
            HOME: home,
            SECRET: CANARY,
            OTHER: CANARY,
            ASSIZE_TOKEN: 'a-token',
            ...env,
          },
          timeoutMs: 60_000,
        },
      ),
  };
}

const rulesFor = (project: string) => `
id: sandboxed
rules:
  - { id: look, allow: ['files/*', 'shell/*'], class: read, path: ${project} }
  - { id: edit, allow: [files/write, files/edit, shell/write], path: ${project} }
  - { id: secrets, deny: ['files/*', 'shell/*'], path: ${project}/.env }
`;

const NODE = process.execPath;
const FILES = join(
  import.meta.dirname,
  '../../../peers/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
);
const ABSENT = existsSync(FILES) ? '' : ' (absent without npm ci --prefix peers)';

describe.skipIf(missing.length > 0)(
  `the sandbox${missing.length > 0 ? ` (absent without ${missing.join(', ')})` : ''}`,
  () => {
    test.each([
      ['by its name', 'cat .env'],
      ['by recursion', 'grep -r canary .'],
      ['by a program that reads by itself', `${NODE} read.mjs`],
      ['by a text that is known only when it runs', 'x=.en; sh -c "cat $x""v"'],
      ['by a link', 'ln -s .env src/link; cat src/link'],
      ['in the home folder', 'cat ~/.ssh/key'],
      ['by the processes of others', 'cat /proc/*/root/proc/self/cwd/../home/.ssh/key'],
    ])('hides a secret %s', async (_, line) => {
      const { out, code, err } = await stage().run(`${line}; echo end`);
      expect(`${out}${err}`).not.toContain(CANARY);
      expect({ out: out.endsWith('end\n'), code }).toEqual({ out: true, code: 0 });
    });

    test('a project in the home folder is written, and the rest is hidden', async () => {
      const { run, project } = stage(true);
      const line = 'cat .env; cat ~/.ssh/key; echo x > src/a; cat src/a; ls ~; echo x > ../beside';
      const { out, err } = await run(line);
      expect(out.split('\n').filter(Boolean), err).toEqual(['x', 'project']);
      expect(existsSync(join(project, 'src/a'))).toBe(true);
      expect(existsSync(join(project, '../beside'))).toBe(false);
    });

    test('lets a command work in the project, and says its exit code', async () => {
      const place = stage();
      const { code, out } = await place.run(
        'echo a > src/a && cat src/a && ls src | wc -l; exit 7',
      );
      expect({ code, out }).toEqual({ code: 7, out: 'a\n1\n' });
    });

    test.each([
      ['beside the project', '../beside'],
      ['into the folders of the system', '/etc/assize-was-here'],
      ['into what Git runs later', '.git/hooks/pre-commit'],
      ['into the settings of an agent', '.claude/settings.json'],
    ])('keeps a write from going %s', async (_, path) => {
      const place = stage();
      const { code } = await place.run(`mkdir -p .claude; echo x > ${path}`);
      expect(code).not.toBe(0);
      expect((await place.run(`cat ${path}`)).out).not.toContain('x\n');
    });

    test.each([
      ['curl', (url: string) => `curl -sS -m 5 --noproxy '' ${url}`],
      ['curl around the proxy', (url: string) => `curl -sS -m 5 --noproxy '*' ${url}`],
      [
        'a script',
        (url: string) => `${NODE} -e "fetch('${url}').then(r=>r.text()).then(console.log)"`,
      ],
    ])('keeps a request of %s from leaving', async (_, line) => {
      let requests = 0;
      const server = createServer((_, answer) => {
        requests += 1;
        answer.end(CANARY);
      }).listen(0, '127.0.0.1');
      onTestFinished(() => void server.close());
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as AddressInfo;
      const { out } = await stage().run(line(`http://127.0.0.1:${port}/`));
      expect({ requests, seen: out.includes(CANARY) }).toEqual({ requests: 0, seen: false });
    });

    test('has no name server to ask', async () => {
      const { code } = await stage().run('getent ahosts canary.example.com');
      expect(code).not.toBe(0);
    });

    test('hands on variables that tell nothing', async () => {
      const place = stage();
      expect((await place.run('printenv OTHER; printenv SECRET; printenv ASSIZE_TOKEN')).out).toBe(
        '',
      );
      expect((await place.run('printenv LANG', { LANG: 'C.UTF-8' })).out).toBe('C.UTF-8\n');
    });

    test('leaves Git nothing to see of the places that it keeps', async () => {
      const place = stage();
      rmSync(join(place.project, '.git'), { recursive: true });
      spawnSync('git', ['init', '-q'], { cwd: place.project });
      const line = 'git status --short; git add -A && echo added; git status --short';
      expect((await place.run(line)).out).toBe('?? read.mjs\nadded\nA  read.mjs\n');
    });

    test('hides other names of a denied file, and says what Git has of it', async () => {
      const place = stage();
      rmSync(join(place.project, '.git'), { recursive: true });
      spawnSync('git', ['init', '-q'], { cwd: place.project });
      spawnSync('git', ['add', '-f', '.env'], { cwd: place.project });
      linkSync(join(place.project, '.env'), join(place.project, 'src/other'));
      const { out, err } = await place.run('cat src/other; echo end');
      expect(out).toBe('end\n');
      expect(err).toContain(`git has a copy of ${place.project}/.env`);
    });

    test.each(['.envrc', '.github/workflows/x', '.vscode/tasks.json', '.cursor/mcp.json'])(
      'keeps %s from being made, and the scripts of hooks from being changed',
      async (path) => {
        const place = stage();
        const { project } = place;
        mkdirSync(join(project, 'scripts'));
        writeFileSync(join(project, 'scripts/check.sh'), '');
        writeFileSync(join(project, '.git/hooks/pre-commit'), '#!/bin/sh\nsh scripts/check.sh\n');
        spawnSync('git', ['init', '-q'], { cwd: project });
        const line = `mkdir -p $(dirname ${path}); echo x > ${path}; echo x > scripts/check.sh`;
        await place.run(line);
        expect(existsSync(join(project, path))).toBe(false);
        expect(readFileSync(join(project, 'scripts/check.sh'), 'utf8')).toBe('');
      },
    );

    test.skipIf(!existsSync(FILES))(`an MCP server reads no denied file${ABSENT}`, async () => {
      const { project } = stage();
      const rules = `id: notes\ndefault: allow\ntrust: [notes]\nrules:\n  - { id: secrets, deny: ['files/*', 'shell/*'], path: ${project}/.env }\n`;
      const place = await served(rules);
      const [file, token] = [`${project}/../mcp.yaml`, `${project}/../ada.token`];
      writeFileSync(file, rules);
      writeFileSync(token, place.tokens[ADA] as string, { mode: 0o600 });
      writeFileSync(join(project, 'a.txt'), 'one');
      const read = async (more: readonly string[], name: string): Promise<string> => {
        const own = ['mcp', '--name', 'notes', '--url', place.server.url, '--token-file', token];
        const client = new Client({ name: 'test', version: '0' });
        await client.connect(
          new StdioClientTransport({
            command: NODE,
            args: [MAIN, ...own, ...more, '--', NODE, FILES, project],
            env: { PATH: process.env['PATH'] ?? '', HOME: `${project}/../home` },
            cwd: project,
            stderr: 'ignore',
          }),
        );
        const path = join(project, name);
        const result = await client.callTool({ name: 'read_text_file', arguments: { path } });
        await client.close();
        return JSON.stringify(result);
      };
      expect(await read([], '.env')).toContain(CANARY);
      const walled = ['--sandbox', '--rules', file];
      expect(await read(walled, '.env')).not.toContain(CANARY);
      expect(await read(walled, 'a.txt')).toContain('one');
    });
  },
);

test('without the programs of a sandbox nothing runs, and they are named', async () => {
  const { code, out, err } = await stage().run('echo ran', { PATH: '/nowhere' });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/bubblewrap|bwrap|sandbox-runtime/);
});
