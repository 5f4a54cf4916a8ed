import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sendEffect } from '../driver/effect-of.ts';
import { Sink } from './sink.ts';

const effect = { run: 'r', call: 'p1', tool: 'pay', args: { to: 'bob' } };

async function sinkWithFile(): Promise<{
  readonly sink: Sink;
  readonly rows: () => readonly unknown[];
}> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-sink-'));
  const file = join(folder, 'effects.jsonl');
  const sink = await Sink.start(file);
  onTestFinished(async () => {
    await sink.stop();
    rmSync(folder, { recursive: true });
  });
  return {
    sink,
    rows: () =>
      readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((row) => JSON.parse(row)),
  };
}

test('an effect is kept in memory and in a file, a repetition too', async () => {
  const { sink, rows } = await sinkWithFile();
  expect(await sendEffect(sink.url, { ...effect, key: 'k' })).toBe('pay p1 is done');
  await sendEffect(sink.url, { ...effect, key: 'k' });
  const both = [
    { ...effect, key: 'k' },
    { ...effect, key: 'k' },
  ];
  expect((await sink.state()).effects).toEqual(both);
  expect(rows()).toEqual(both);
});

test('a reply that is dropped or late is of an effect, a refusal is not', async () => {
  const { sink } = await sinkWithFile();
  for (const does of ['fail', 'drop'] as const) await sink.behave('p1', { does });
  await sink.behave('p1', { does: 'late', ms: 5_000 });
  await expect(sendEffect(sink.url, effect)).rejects.toThrow('the sink refused: not now');
  expect((await sink.state()).effects).toEqual([]);
  await expect(sendEffect(sink.url, effect)).rejects.toThrow(TypeError);
  expect((await sink.state()).effects).toHaveLength(1);
  const late = sendEffect(sink.url, effect, { timeoutMs: 300 });
  await expect(late).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(await sink.state()).toMatchObject({ effects: [effect, effect], arrived: { p1: 3 } });
});

test('a held request has its effect if it is released with it', async () => {
  const { sink } = await sinkWithFile();
  for (const take of [false, true]) {
    await sink.behave('p1', { does: 'hold' });
    const sent = sendEffect(sink.url, { ...effect, run: String(take) });
    const ended = sent.then(() => true).catch(() => false);
    expect(await sink.hasArrived('p1', 5_000)).toBe(true);
    if (take) await expect.poll(async () => (await sink.state()).arrived).toEqual({ p1: 2 });
    await sink.release('p1', { take });
    expect(await ended).toBe(take);
  }
  expect((await sink.state()).effects).toEqual([{ ...effect, run: 'true' }]);
});

test('a request without the form of an effect is refused', async () => {
  const { sink } = await sinkWithFile();
  const bad: readonly unknown[][] = [
    [sink.url, { run: 'r' }],
    [sink.url, { ...effect, args: { at: new Date(0) } }],
    ['not an address', effect],
    [sink.url, effect, { timeoutMs: 0 }],
    [sink.url, effect, { signal: 'stop' }],
  ];
  for (const given of bad)
    await expect(sendEffect(...(given as [never, never]))).rejects.toMatchObject({
      code: 'bad_argument',
    });
  for (const body of ['{"run": "r"}', 'no JSON', ''])
    expect((await fetch(`${sink.url}/effects`, { method: 'POST', body })).status).toBe(400);
  expect((await fetch(sink.url)).status).toBe(404);
  expect(await sink.hasArrived('p1', 0)).toBe(false);
});
