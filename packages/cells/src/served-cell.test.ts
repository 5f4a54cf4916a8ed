import { MemoryStore } from '@assize/testing/memory';
import { generateKeys } from 'assize/internal/canon';
import { expect, test } from 'vitest';
import { ServedCell } from './served-cell.ts';

const KEYS = generateKeys(new Uint8Array(32).fill(3));
const NEVER = new AbortController().signal;

const cellOf = (side: MemoryStore, name = 'one', keys = KEYS) => new ServedCell(side, name, keys);

/** A server that answers until it is ended. */
function server(cell: ServedCell): { end: () => Promise<void> } {
  const ended = new AbortController();
  const work = (async () => {
    while (!ended.signal.aborted) {
      await cell.answer();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return {
    end: () => {
      ended.abort();
      return work;
    },
  };
}

test('a question is answered while a server runs, and not after its end', async () => {
  const side = new MemoryStore();
  const cell = cellOf(side);
  expect(await cell.ask(150, NEVER)).toBe(false);
  const running = server(cellOf(side));
  expect(await Promise.all([cell.ask(5_000, NEVER), cellOf(side).ask(5_000, NEVER)])).toEqual([
    true,
    true,
  ]);
  await running.end();
  // The answer to an earlier question is not an answer.
  expect(await cell.ask(150, NEVER)).toBe(false);
});

test('servers of another cell, and under another key, do not answer', async () => {
  const side = new MemoryStore();
  const others = [server(cellOf(side, 'two')), server(cellOf(side, 'one', generateKeys()))];
  expect(await cellOf(side).ask(150, NEVER)).toBe(false);
  await Promise.all(others.map(({ end }) => end()));
  const running = server(cellOf(side));
  expect(await cellOf(side).ask(5_000, NEVER)).toBe(true);
  await running.end();
});

test('a row that is not sealed makes way, and counts as no answer', async () => {
  const side = new MemoryStore();
  const forged = { kind: 'cells/served', key: 'one', expected: null, body: '{"isAnswered":true}' };
  await side.sidePut([forged]);
  expect(await cellOf(side).ask(150, NEVER)).toBe(false);
  const running = server(cellOf(side));
  expect(await cellOf(side).ask(5_000, NEVER)).toBe(true);
  await running.end();
});

test('a wait ends with its signal', async () => {
  const ended = new AbortController();
  const asked = cellOf(new MemoryStore()).ask(60_000, ended.signal);
  ended.abort(new Error('interrupted'));
  await expect(asked).rejects.toThrow();
});
