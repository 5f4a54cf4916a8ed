/** `assize init claude-code --sandbox`, with the real program and a model that follows a script. */
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
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { claudeProgram } from '../../../../tests/support/claude-code/program.ts';
import { missingForSandbox } from '../../../../tests/support/sandbox-runtime.ts';
import { type AgentGuide, beginAgentGuide } from '../support/agents/followed-guide.ts';
import { runProgram } from '../support/agents/run-program.ts';
import { type MessagesApi, startMessagesApi, use } from '../support/claude-code/messages-api.ts';

const PAGE = 'claude-code.md';
const CANARY = 'canary-4711';
const OUTSIDE = '/var/tmp/assize-claude-outside';

const missing = missingForSandbox();

let api: MessagesApi;
let place: AgentGuide;

const bash = (id: string, command: string, more = {}) => [use(id, 'Bash', { command, ...more })];

beforeEach(async () => {
  api = await startMessagesApi({
    'the day': [
      bash(
        'toolu_read',
        'x=.en; sh -c "cat $x""v"; sh -c "cat .cla*/*"; grep -r canary . ; echo read',
      ),
      bash('toolu_test', `${process.execPath} -e "fs.writeFileSync('made', '1')"; echo tested`),
      bash('toolu_out', `echo x > ${OUTSIDE}; echo tried`),
      bash('toolu_env', 'n=SECRET; sh -c "printenv $n"_KEY; echo asked'),
      bash('toolu_push', 'git push origin main'),
      bash('toolu_free', 'sh -c "cat .e""nv"', { dangerouslyDisableSandbox: true }),
    ],
    opened: [bash('toolu_opened', 'sh -c "cat .e""nv"')],
  });
  const env: Record<string, string> = {
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    SECRET_KEY: CANARY,
  };
  place = await beginAgentGuide(env, { name: 'claude', program: claudeProgram() as string });
  // A folder that contains the person's home is not a project.
  const own = realpathSync(mkdtempSync('/var/tmp/assize-claude-home-'));
  onTestFinished(() => rmSync(own, { recursive: true, force: true }));
  env['HOME'] = own;
  place = { ...place, home: own };
  const { guide, home } = place;
  const trusted = { projects: { [guide.folder]: { hasTrustDialogAccepted: true } } };
  writeFileSync(join(home, '.claude.json'), JSON.stringify(trusted));
  spawnSync('git', ['init', '-q'], { cwd: guide.folder });
  writeFileSync(join(guide.folder, '.env'), CANARY);
});
afterEach(async () => {
  await place.guide.end();
  await api.close();
  rmSync(OUTSIDE, { force: true });
});

/** The results that Claude Code gave the model, by the id of the tool use. */
function results(lines: string): Readonly<Record<string, string>> {
  const messages = lines.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    const { type, message } = JSON.parse(line);
    return type === 'user' && Array.isArray(message?.content) ? message.content : [];
  });
  return Object.fromEntries(
    messages.flatMap(({ type, tool_use_id, content }: any) =>
      type === 'tool_result' ? [[tool_use_id, JSON.stringify(content)]] : [],
    ),
  );
}

describe.skipIf(claudeProgram() === undefined || missing.length > 0)(
  claudeProgram() === undefined
    ? 'Claude Code (absent without npm ci --prefix peers)'
    : `the sandbox${missing.length > 0 ? ` (absent without ${missing.join(', ')})` : ''}`,
  () => {
    test('what the wall holds needs no question, and what leaves it is judged', async () => {
      const { guide } = place;
      guide.sh('assize init claude-code --sandbox --url http://127.0.0.1:4517 --wait 1 --yes');
      const rules = join(place.home, '.assize/assize.yaml');
      writeFileSync(rules, readFileSync(rules, 'utf8').replace(/^mode: observe\nuntil: .*\n/m, ''));
      await guide.beginWith(PAGE);
      const check = 'assize init claude-code --check --url http://127.0.0.1:4517';
      expect(guide.sh(check)).toContain('the server answers');
      const { folder: cwd, environment: env } = guide;
      const ask = async (prompt: string) => {
        const line = ['-p', prompt, '--output-format', 'stream-json', '--verbose'];
        const told = { cwd, env: env as Record<string, string>, timeoutMs: 90_000 };
        return results((await runProgram(claudeProgram() as string, line, told)).out);
      };
      const day = await ask('the day');
      for (const secret of [CANARY, 'asz_']) expect(JSON.stringify(day)).not.toContain(secret);
      expect(day).toMatchObject({
        toolu_read: expect.stringContaining('read'),
        toolu_test: expect.stringContaining('tested'),
        toolu_out: expect.stringContaining('tried'),
        toolu_env: expect.stringContaining('asked'),
        toolu_push: expect.stringContaining('Assize'),
        toolu_free: expect.stringContaining('Assize'),
      });
      expect(readFileSync(join(guide.folder, 'made'), 'utf8')).toBe('1');
      expect(existsSync(OUTSIDE)).toBe(false);

      mkdirSync(join(guide.folder, '.claude'), { recursive: true });
      const shared = join(guide.folder, '.claude/settings.json');
      writeFileSync(shared, '{ "sandbox": { "excludedCommands": ["sh *"] } }');
      expect(await ask('opened')).toMatchObject({
        toolu_opened: expect.stringContaining('sandbox.excludedCommands'),
      });
      expect(() => guide.sh(check)).toThrow();
      rmSync(shared);
      guide.sh('assize init claude-code --undo --yes');
      expect(existsSync(join(guide.folder, '.claude/settings.local.json'))).toBe(false);
    });
  },
);
