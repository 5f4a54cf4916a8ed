/** `assize init codex --project --sandbox`, with the real program and a scripted model. */
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
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { codexProgram } from '../../../../tests/support/codex/program.ts';
import { blockOf } from '../../../../tests/support/process/guide-files.ts';
import { missingForSandbox } from '../../../../tests/support/sandbox-runtime.ts';
import { type AgentGuide, beginAgentGuide } from '../support/agents/followed-guide.ts';
import { listenOnLoopback } from '../support/agents/loopback.ts';
import {
  callFreeform,
  callTool,
  type ResponsesApi,
  startResponsesApi,
} from '../support/codex/responses-api.ts';
import { exec, toldOf } from '../support/codex/ruled.ts';
import {
  type CodexOptions,
  profileConfig,
  runCodex,
  WITH_PATCHES,
} from '../support/codex/run-codex.ts';

const PAGE = 'codex.md';
const CANARY = 'canary-4711';
const OUTSIDE = '/var/tmp/assize-codex-outside';
const INIT = 'assize init codex --project --url http://127.0.0.1:4517';

const missing = missingForSandbox();

const patch = (path: string) => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch`;
const node = (text: string) => `${process.execPath} -e "${text}"`;

let api: ResponsesApi;
let place: AgentGuide;

beforeEach(async () => {
  const listening = await listenOnLoopback(createServer((_, answer) => answer.end('sent')));
  onTestFinished(() => listening.close());
  const { port } = new URL(listening.url);
  api = await startResponsesApi({
    'the day': [
      [exec('read', 'x=.en; sh -c "cat $x""v"; python3 -c "print(open(\'.e\'\'nv\').read())"')],
      [exec('walk', 'grep -r canary . ; h=$HOME; sh -c "cat $h/.ssh/* $h/.assize/*"; echo walked')],
      [exec('test', `${node("fs.writeFileSync('made', '1')")} && git add made && git status -s`)],
      [exec('out', `f=${OUTSIDE}; sh -c "echo x > $f; echo x > .git/config"; echo tried`)],
      [exec('move', node("fs.renameSync('pk', 'other')"))],
      [exec('env', 'n=SECRET; sh -c "printenv $n"_KEY; echo asked')],
      [
        exec(
          'send',
          node(`fetch('http:'+'//127.0.0.1:'+${port}).catch(() => console.log('held'))`),
        ),
      ],
      [callTool('child', 'spawn_agent', { message: 'as a child' }, 'multi_agent_v1')],
      [exec('push', 'git push origin main')],
      [exec('wait', 'until test -e child; do sleep 0.2; done')],
    ],
    'as a child': [[exec('inner', 'x=.en; sh -c "cat $x""v > child"')]],
    patches: ['new.txt', OUTSIDE].map((path) => [callFreeform(path, 'apply_patch', patch(path))]),
    opened: [[exec('opened', 'x=.en; sh -c "cat $x""v"')]],
  });
  const env: Record<string, string> = { SCRIPTED_KEY: 'dummy', SECRET_KEY: CANARY };
  place = await beginAgentGuide(env, { name: 'codex', program: codexProgram() as string });
  // A folder that contains the person's home is not a project.
  const home = realpathSync(mkdtempSync('/var/tmp/assize-codex-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  env['HOME'] = home;
  place = { ...place, home };
  const { folder } = place.guide;
  for (const name of ['.codex', '.ssh']) mkdirSync(join(home, name));
  writeFileSync(join(home, '.codex/config.toml'), profileConfig(api.url, folder));
  writeFileSync(join(home, '.ssh/key'), CANARY);
  spawnSync('git', ['init', '-q'], { cwd: folder });
  writeFileSync(join(folder, '.env'), CANARY);
  mkdirSync(join(folder, 'pk/.husky'), { recursive: true });
});
afterEach(async () => {
  await place.guide.end();
  await api.close();
  rmSync(OUTSIDE, { force: true });
});

const ask = (prompt: string, options: Partial<CodexOptions> = {}) => {
  const { guide, home } = place;
  const env = { ...(guide.environment as Record<string, string>) };
  return runCodex({ project: guide.folder, home }, { prompt, env, timeoutMs: 90_000, ...options });
};

describe.skipIf(codexProgram() === undefined || missing.length > 0)(
  codexProgram() === undefined
    ? 'Codex (absent without npm ci --prefix peers)'
    : `the sandbox${missing.length > 0 ? ` (absent without ${missing.join(', ')})` : ''}`,
  () => {
    test('what the wall holds needs no question, and what leaves it is judged', async () => {
      const { guide, home } = place;
      guide.sh(`${INIT} --sandbox --wait 1 --yes`);
      const rules = join(home, '.assize/assize.yaml');
      writeFileSync(rules, readFileSync(rules, 'utf8').replace(/^mode: observe\nuntil: .*\n/m, ''));
      await guide.beginWith(PAGE);
      expect(guide.sh(`${INIT} --check`)).toContain('the server answers');
      const { folder } = guide;
      await ask('the day');
      const told = (id: string) => toldOf(api, id);
      for (const id of ['read', 'walk', 'out', 'env', 'send', 'inner'])
        for (const secret of [CANARY, 'asz_', 'sent']) expect(told(id), id).not.toContain(secret);
      expect(told('read').match(/Permission denied/g)).toHaveLength(2);
      expect(told('walk')).toContain('walked');
      expect(told('test')).toContain('A  made');
      expect(told('out')).toContain('tried');
      // Its copy could be changed.
      expect(told('move')).toContain('EBUSY');
      expect(told('env')).toContain('asked');
      expect(told('send')).toContain('held');
      expect(told('push')).toContain('a person has to approve');
      expect(existsSync(OUTSIDE)).toBe(false);
      // A subagent has a transcript of its own.
      expect(readFileSync(join(folder, 'child'), 'utf8')).toBe('');
      await ask('patches', { args: ['-m', WITH_PATCHES] });
      expect(readFileSync(join(folder, 'new.txt'), 'utf8')).toBe('x\n');
      expect(existsSync(OUTSIDE)).toBe(false);
    });

    test('what opens the sandbox is refused by the hook, and told by the check', async () => {
      const { guide, home } = place;
      const person = join(home, '.codex/config.toml');
      const before = readFileSync(person, 'utf8');
      guide.sh(blockOf(PAGE, 'sh sandbox'));
      const own = join(guide.folder, '.codex/config.toml');
      const written = readFileSync(own, 'utf8');
      const trusted = readFileSync(person, 'utf8');
      await guide.beginWith(PAGE);
      const opened = async (options: Partial<CodexOptions>): Promise<string> => {
        await ask('opened', options);
        return toldOf(api, 'opened');
      };
      writeFileSync(person, `sandbox_mode = "danger-full-access"\n${trusted}`);
      guide.sh(`${INIT} --check`);
      expect(await opened({})).toContain('Permission denied');
      for (const args of [
        ['-s', 'danger-full-access'],
        ['-s', 'read-only'],
        ['--yolo'],
        ['-c', 'default_permissions=":workspace"'],
        ['-c', 'permissions.assize.filesystem.":slash_tmp"="write"'],
        ['-c', 'permissions.assize.filesystem.glob_scan_max_depth=1'],
      ])
        expect(await opened({ args }), args.join(' ')).toContain('does not run in the sandbox of');
      expect(await opened({ args: ['--ephemeral'] })).toContain('keeps no transcript');
      writeFileSync(person, `${trusted}[permissions.assize.filesystem]\n"/usr/local" = "write"\n`);
      expect(await opened({})).toContain('does not run in the sandbox of');
      expect(() => guide.sh(`${INIT} --check`)).toThrow();
      writeFileSync(person, trusted);
      guide.sh(`${INIT} --check`);
      // Codex keeps there what the person let through for ever, and runs it outside.
      const allowed = join(home, '.codex/rules/default.rules');
      mkdirSync(join(home, '.codex/rules'), { recursive: true });
      writeFileSync(allowed, 'prefix_rule(pattern=["sh"], decision="allow")\n');
      expect(await opened({})).toContain('lets commands out of the sandbox');
      expect(() => guide.sh(`${INIT} --check`)).toThrow();
      rmSync(allowed);
      writeFileSync(own, written.replace('.env" = "deny"', '.env" = "read"'));
      expect(() => guide.sh(`${INIT} --check`)).toThrow();
      writeFileSync(own, written);
      guide.sh(`${INIT} --undo --yes`);
      expect({ own: existsSync(own), person: readFileSync(person, 'utf8') }).toEqual({
        own: false,
        person: before,
      });
    });

    test('a configuration with a sandbox of its own is refused, and stays', () => {
      const { guide, home } = place;
      const person = join(home, '.codex/config.toml');
      const refused = (args: string): string => {
        const line = `${INIT} ${args} --yes 2>&1 || true`;
        return guide.sh(line);
      };
      const own = join(guide.folder, '.codex/config.toml');
      mkdirSync(join(guide.folder, '.codex'));
      writeFileSync(own, 'sandbox_mode = "read-only"\n');
      expect(refused('--sandbox')).toContain('has a sandbox of its own');
      expect(readFileSync(own, 'utf8')).toBe('sandbox_mode = "read-only"\n');
      rmSync(own);
      const text = `${readFileSync(person, 'utf8')}[permissions.assize.filesystem]\n"/a" = "write"\n`;
      writeFileSync(person, text);
      expect(refused('--sandbox')).toContain('is not that of the rules');
      expect({ own: existsSync(own), person: readFileSync(person, 'utf8') }).toEqual({
        own: false,
        person: text,
      });
    });
  },
);
