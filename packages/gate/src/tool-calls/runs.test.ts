/** A run of a framework whose calls stand or fall together, with the framework itself. */
import { describe, expect, test } from 'vitest';
import {
  FRAMEWORKS,
  type Framework,
  hasMastra,
  type Run,
  type SetItem,
  withMastra,
} from '../../../../tests/support/framework-runs.ts';
import { openShop } from '../../../../tests/support/gated-shop.ts';

const rulesOf = (result: string): string => `
id: shop
default: allow
tools:
  shop/set: { class: reversible, writes: /item, undo: { tool: shop/set, args: { item: /args/item, to: ${result} } } }
turns:
  - { id: stock, tools: shop/set }
`;

const stage = async ({ result, work, tools }: Framework) => {
  const { gate } = await openShop({ rules: rulesOf(result) });
  const values: Record<string, string> = { '/pens': '0', '/ink': '0' };
  const made: string[] = [];
  const set: SetItem = async ({ item, to }) => {
    const was = values[item] ?? '';
    values[item] = to;
    made.push(`${item}=${to}`);
    return was;
  };
  const stop = new AbortController();
  const run = (last: Run['last']) =>
    gate.inRun('r1', (run) => work({ gate, set, run, signal: stop.signal, last }), {
      tools: tools(set),
    });
  return { values, made, run, stop };
};

const TAKEN_BACK = ['/pens=5', '/ink=7', '/ink=0', '/pens=0'];

describe.each([
  ...Object.entries(FRAMEWORKS).map(([name, of]) => [name, async () => of] as const),
  ...(hasMastra ? [['Mastra', withMastra] as const] : []),
])('a run of %s', (_, framework) => {
  test('that throws takes its calls back, and starts again when it is asked to', async () => {
    const { values, made, run } = await stage(await framework());
    const gone = run(() => {
      throw new Error('the model is gone');
    });
    await expect(gone).rejects.toThrow('the model is gone');
    expect(made).toEqual(TAKEN_BACK);
    await run(() => 'bye');
    expect(values).toEqual({ '/pens': '5', '/ink': '7' });
  });

  test('that is stopped takes its calls back', async () => {
    const { made, run, stop } = await stage(await framework());
    const stopped = run(() => {
      stop.abort();
      stop.signal.throwIfAborted();
      return '';
    });
    await expect(stopped).rejects.toThrow();
    expect(made).toEqual(TAKEN_BACK);
  });
});
