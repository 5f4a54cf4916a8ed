/** The sandbox of the rules, with the real runtime. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
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

/** A project and a home folder with secrets, outside of the folder for temporary files. */
function stage(): Stage {
  const top = realpathSync(mkdtempSync('/var/tmp/assize-sandbox-'));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const [project, home] = [join(top, 'project'), join(top, 'home')];
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

    test('hands on the environment, without what looks like a secret', async () => {
      const { out } = await stage().run('printenv OTHER; printenv SECRET; printenv ASSIZE_TOKEN');
      expect(out).toBe(`${CANARY}\n`);
    });
  },
);

test('without the programs of a sandbox nothing runs, and they are named', async () => {
  const { code, out, err } = await stage().run('echo ran', { PATH: '/nowhere' });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/bubblewrap|bwrap|sandbox-runtime/);
});
