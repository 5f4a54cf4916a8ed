/** A domain whose code never ends: the process ends, and refuses that proposal afterwards. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '#stores';
import { bundled } from '../support/bundled.ts';
import { onEveryDatabase } from '../support/ledger/stores.ts';

const PROCESS = await bundled(join(import.meta.dirname, 'stuck-process.ts'));
const LIMIT_MS = 400;

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly lines: readonly string[];
  readonly errors: readonly string[];
  /** From the first job on. */
}

async function runProcess(url: string, ...jobs: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [PROCESS, url, String(LIMIT_MS), ...jobs], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [out, errors]: [string[], string[]] = [[], []];
  child.stdout.on('data', (data) => out.push(String(data)));
  child.stderr.on('data', (data) => errors.push(String(data)));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  const lines = (texts: readonly string[]): string[] =>
    texts
      .join('')
      .split('\n')
      .filter((line) => line !== '');
  return { code, signal, lines: lines(out).slice(1), errors: lines(errors) };
}

/** With its exit code, or killed on a busy machine. */
function expectEnded({ code, signal }: Ended): void {
  expect(code === 86 || signal === 'SIGKILL').toBe(true);
}

onEveryDatabase(({ newPlace }) => {
  test.each(['loop', 'pattern'])('code that never ends is ended, and refused afterwards: %s', async (way) => {
    const { url, open } = newPlace();
    await (await open()).close();
    const first = await runProcess(url, 'ok=fine', `bad=${way}`, 'never=fine');
    expectEnded(first);
    expect(first.lines).toEqual(['ok=fine: committed']);
    const [said] = first.errors.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    expect(said).toMatchObject({
      level: 'error',
      event: 'stuck',
      run: { step: 'proposal', trajectory: 't', principal: 'agent', action: 'spin' },
    });
    expect(said.blocked_ms).toBeGreaterThanOrEqual(LIMIT_MS);
    const again = await runProcess(url, `bad=${way}`, 'other=fine', 'bad=fine');
    expect([again.code, again.lines]).toEqual([
      0,
      [`bad=${way}: domain_stuck`, 'other=fine: committed', 'bad=fine: domain_stuck'],
    ]);
  });

  test('of several that are under way, only the one at fault is refused', async () => {
    const callers = fc.record({ before: fc.nat(4), after: fc.nat(4) });
    const run = async ({ before, after }: { readonly before: number; readonly after: number }): Promise<void> => {
      const { url, open } = newPlace();
      await (await open()).close();
      const others = Array.from({ length: before + after }, (_, n) => `k${n}=fine`);
      const job = [...others.slice(0, before), 'bad=loop', ...others.slice(before)].join(',');
      const first = await runProcess(url, job);
      expectEnded(first);
      const again = await runProcess(url, job);
      expect([again.code, again.lines.toSorted()]).toEqual([
        0,
        [...others.map((one) => `${one}: committed`), 'bad=loop: domain_stuck'].toSorted(),
      ]);
      const store = await open();
      expect((await store.sideList('stuck', { limit: 10 })).length).toBe(1);
      // The root, and one entry for each of the others.
      expect((await store.head('t'))?.seq).toBe(others.length);
      await store.close();
    };
    await fc.assert(fc.asyncProperty(callers, run), { numRuns: 4, endOnFailure: true });
  });

  test('code that ends within the limit is left alone', async () => {
    const { url, open } = newPlace();
    await (await open()).close();
    const { code, lines } = await runProcess(url, ...Array.from({ length: 8 }, (_, n) => `k${n}=short`));
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
