/** docs/guide/claude-code.md, followed with the real program and a model that follows a script. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type MessagesApi, startMessagesApi, use } from '../../support/claude-code/messages-api.ts';
import { claudeProgram } from '../../support/claude-code/program.ts';
import { blockOf } from '../../support/process/guide-files.ts';
import { ServedGuide } from '../../support/process/served-guide.ts';

const PAGE = 'claude-code.md';
const PROMPT = 'remove the old build';
const COMMAND = 'rm -r build';

let api: MessagesApi;
let guide: ServedGuide;
let home: string;

beforeEach(async () => {
  api = await startMessagesApi({ [PROMPT]: [[use('toolu_1', 'Bash', { command: COMMAND })]] });
  const env: Record<string, string> = {
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  };
  guide = await ServedGuide.begin(env);
  home = join(guide.folder, 'home');
  env['HOME'] = home;
  mkdirSync(join(guide.folder, 'build'));
  mkdirSync(home);
  writeFileSync(join(guide.folder, 'build/old.js'), '');
  writeFileSync(
    join(home, '.claude.json'),
    JSON.stringify({ projects: { [guide.folder]: { hasTrustDialogAccepted: true } } }),
  );
  symlinkSync(claudeProgram() as string, join(guide.folder, 'bin/claude'));
});
afterEach(async () => {
  await guide.end();
  await api.close();
});

/** Starts the commands of a block, and resolves with their output. */
function begun(says: string): Promise<string> {
  const child = spawn('sh', ['-eu', '-c', blockOf(PAGE, says)], {
    cwd: guide.folder,
    env: guide.environment,
    stdio: 'pipe',
  });
  child.stdin.end();
  return new Promise((resolve) => {
    let out = '';
    child.stdout.on('data', (piece) => {
      out += piece;
    });
    child.on('close', () => resolve(out));
  });
}

describe.skipIf(claudeProgram() === undefined)('Claude Code (absent without npm ci --prefix peers)', () => {
  test('the guide: installed, held, approved, run once, verified, taken out', async () => {
    guide.sh(blockOf(PAGE, 'sh init'));
    const settings = join(guide.folder, '.claude/settings.local.json');
    expect(statSync(settings).mode & 0o777).toBe(0o600);
    await guide.beginWith(PAGE);
    const config = JSON.parse(readFileSync(join(home, '.assize/assize.config.json'), 'utf8'));
    const person = Object.keys(config.principals).find((name) => name.startsWith('human:')) as string;
    guide.sh(`export PERSON=${person}`);
    expect(guide.sh(blockOf(PAGE, 'sh sign-in'))).toContain('http://127.0.0.1:4517/sign-in#');
    expect(guide.sh('assize init claude-code --check --url http://127.0.0.1:4517')).toContain('the server answers');
    const token = guide.sh(`assize token create ${person} --config ~/.assize/assize.config.json`).trim();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const asked = begun('sh ask');
    const pending = async () => {
      const answer = await fetch(`${guide.url}/v1/approvals`, { headers });
      return ((await answer.json()) as { approvals: any[] }).approvals;
    };
    await expect.poll(async () => (await pending()).length, { timeout: 30_000 }).toBe(1);
    const [{ id, digest, action }] = await pending();
    expect(action.args).toMatchObject({ server: 'claude-code', tool: 'Bash', args: { command: COMMAND } });
    expect(existsSync(join(guide.folder, 'build'))).toBe(true);
    const body = JSON.stringify({ digest, reason: 'it is old' });
    expect((await fetch(`${guide.url}/v1/approvals/${id}/approve`, { method: 'POST', headers, body })).status).toBe(
      200,
    );
    expect(await asked).toContain('Done.');
    expect(existsSync(join(guide.folder, 'build'))).toBe(false);
    const log = guide.sh(blockOf(PAGE, 'sh verify'));
    expect(log).toMatch(/begin/);
    expect(log).toMatch(/report/);
    expect(log).toContain('valid');
    expect(guide.sh('assize init claude-code --undo --yes')).toContain('its token is revoked');
    expect(readFileSync(settings, 'utf8')).toBe('{}\n');
  });
});
