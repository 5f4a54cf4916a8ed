import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { blockOf } from '../../../../../tests/support/process/guide-files.ts';
import { ServedGuide } from '../../../../../tests/support/process/served-guide.ts';

/** The prompt of the pages about agent programs, and the command that the model makes of it. */
export const PROMPT = 'remove the old build';
export const COMMAND = 'rm -r build';
export const OBSERVED_PROMPT = 'build again';
export const OBSERVED_COMMAND = 'mkdir dist';

/** The folder of a reader with an old build, a home, and an agent program. */
export interface AgentGuide {
  readonly guide: ServedGuide;
  readonly home: string;
}

export async function beginAgentGuide(
  env: Record<string, string>,
  { name, program }: { readonly name: string; readonly program: string },
): Promise<AgentGuide> {
  const guide = await ServedGuide.begin(env);
  const home = join(guide.folder, 'home');
  env['HOME'] = home;
  for (const folder of [join(guide.folder, 'build'), home]) mkdirSync(folder);
  writeFileSync(join(guide.folder, 'build/old.js'), '');
  symlinkSync(program, join(guide.folder, 'bin', name));
  return { guide, home };
}

/** Follows the part of a page in which the rules only observe, and are then put in force. */
export async function observeAndEnforce({ guide, home }: AgentGuide, page: string): Promise<void> {
  const report = await begun(guide, blockOf(page, 'sh observe'));
  expect(existsSync(join(guide.folder, 'dist'))).toBe(true);
  expect(report).toMatch(/observing until \d{4}-/);
  expect(report).toMatch(/observed +default +ask +\d/);
  expect(guide.sh(blockOf(page, 'sh enforce'))).toContain('is in force');
  const rules = readFileSync(join(home, '.assize/assize.yaml'), 'utf8');
  expect(rules).not.toMatch(/^(?:mode|until)/m);
}

/** Follows the part of a page in which a call is held, approved, made once, and verified. */
export async function holdAndApprove(
  { guide, home }: AgentGuide,
  page: string,
  server: string,
): Promise<void> {
  const config = JSON.parse(readFileSync(join(home, '.assize/assize.config.json'), 'utf8'));
  const person = Object.keys(config.principals).find((name) => name.startsWith('human:')) as string;
  expect(guide.sh(blockOf(page, 'sh sign-in'))).toContain('http://127.0.0.1:4517/sign-in#');
  const token = guide
    .sh(`assize token create ${person} --config ~/.assize/assize.config.json`)
    .trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const asked = begun(guide, blockOf(page, 'sh ask'));
  const pending = async () => {
    const answer = await fetch(`${guide.url}/v1/approvals`, { headers });
    return ((await answer.json()) as { approvals: any[] }).approvals;
  };
  await expect.poll(async () => (await pending()).length, { timeout: 30_000 }).toBe(1);
  const [{ id, digest, action }] = await pending();
  expect(action.args).toMatchObject({ server, tool: 'Bash', args: { command: COMMAND } });
  expect(existsSync(join(guide.folder, 'build'))).toBe(true);
  const body = JSON.stringify({ digest, reason: 'it is old' });
  expect(
    (await fetch(`${guide.url}/v1/approvals/${id}/approve`, { method: 'POST', headers, body }))
      .status,
  ).toBe(200);
  expect(await asked).toContain('Done.');
  expect(existsSync(join(guide.folder, 'build'))).toBe(false);
  const log = guide.sh(blockOf(page, 'sh verify'));
  for (const text of ['begin', 'report', 'valid']) expect(log).toContain(text);
}

/** Starts commands, and resolves with their output. */
export function begun({ folder, environment }: ServedGuide, commands: string): Promise<string> {
  const child = spawn('sh', ['-eu', '-c', commands], {
    cwd: folder,
    env: environment,
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
