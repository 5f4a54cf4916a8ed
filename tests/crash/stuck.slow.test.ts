/** A domain whose code never ends: the process ends, and refuses that proposal afterwards. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '#stores';
import { onEveryDatabase } from '../support/ledger/stores.ts';

const PROCESS = fileURLToPath(new URL('./stuck-process.ts', import.meta.url));
const LIMIT_MS = 400;

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly lines: readonly string[];
  readonly errors: readonly string[];
  /** From the first job on. */
  readonly ms: number;
}

async function run(url: string, ...jobs: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [PROCESS, url, String(LIMIT_MS), ...jobs], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [out, errors]: [string[], string[]] = [[], []];
  let began = 0;
  child.stdout.on('data', (data) => {
    began ||= performance.now();
    out.push(String(data));
  });
  child.stderr.on('data', (data) => errors.push(String(data)));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  const ms = performance.now() - began;
  const lines = (texts: readonly string[]): string[] =>
    texts
      .join('')
      .split('\n')
      .filter((line) => line !== '');
  return { code, signal, lines: lines(out).slice(1), errors: lines(errors), ms };
}

/** With its exit code, or killed on a busy machine. */
function expectEnded({ code, signal }: Ended): void {
  expect(code === 86 || signal === 'SIGKILL').toBe(true);
}

onEveryDatabase(({ newPlace }) => {
  test.each(['loop', 'pattern'])('code that never ends is ended, and refused afterwards: %s', async (way) => {
    const { url, open } = newPlace();
    await (await open()).close();
    const first = await run(url, 'ok=fine', `bad=${way}`, 'never=fine');
    expectEnded(first);
    expect(first.lines).toEqual(['ok=fine: committed']);
    expect(first.ms).toBeLessThan(LIMIT_MS + 3_500);
    const [said] = first.errors.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    expect(said).toMatchObject({
      level: 'error',
      event: 'stuck',
      proposals: [{ trajectory: 't', principal: 'agent', action: 'spin' }],
    });
    expect(said.blocked_ms).toBeGreaterThanOrEqual(LIMIT_MS);
    const again = await run(url, `bad=${way}`, 'other=fine', 'bad=fine');
    expect([again.code, again.lines]).toEqual([
      0,
      [`bad=${way}: domain_stuck`, 'other=fine: committed', 'bad=fine: domain_stuck'],
    ]);
  });

  test('of several that ran, each runs alone, and the one at fault is refused', async () => {
    const { url, open } = newPlace();
    await (await open()).close();
    const first = await run(url, 'a=wait,bad=loop,b=wait');
    expectEnded(first);
    const second = await run(url, 'a=wait,b=wait,c=fine', 'bad=loop');
    expectEnded(second);
    expect(second.lines.toSorted()).toEqual(['a=wait: committed', 'b=wait: committed', 'c=fine: committed']);
    const third = await run(url, 'bad=loop', 'a=wait', 'd=fine');
    expect([third.code, third.lines]).toEqual([
      0,
      ['bad=loop: domain_stuck', 'a=wait: committed', 'd=fine: committed'],
    ]);
  });

  test('code that ends within the limit is left alone', async () => {
    const { url, open } = newPlace();
    await (await open()).close();
    const { code, lines } = await run(url, ...Array.from({ length: 8 }, (_, n) => `k${n}=short`));
    expect([code, lines.length]).toEqual([0, 8]);
  });
});

test('a process that was stopped for longer than the limit goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-stuck-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const url = `sqlite:${join(folder, 'a.db')}`;
  await (await openStore(url)).close();
  const child = spawn(process.execPath, [PROCESS, url, String(LIMIT_MS), 'a=wait', 'b=wait', 'c=wait'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  child.stdout.on('data', (data) => (out += data));
  await once(child.stdout, 'data');
  const closed = once(child, 'close');
  child.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, LIMIT_MS * 4));
  child.kill('SIGCONT');
  expect(await closed).toEqual([0, null]);
  expect(out).toContain('c=wait: committed');
});
