/** Runs of the SDK that are resumed twice, retried, or tampered with. */
import { expect, test, vi } from 'vitest';
import {
  type Desk,
  decide,
  deskOf,
  named,
  pay,
} from '../../../tests/support/openai-agents-runs.ts';

test('the same state that is resumed twice makes the call once', async () => {
  const it = await deskOf();
  const { state, held } = await it.start([pay('c1', 'bob', 500)]);
  const kept = state.toString();
  await decide(it, held[0]!, 'approve');
  const copy = await it.copy();
  expect((await it.resume(await it.restore(kept))).told).toEqual([['c1', 'paid bob']]);
  expect((await copy.resume(await copy.restore(kept))).told).toEqual([['c1', 'paid bob']]);
  expect(it.made).toHaveLength(1);
});

test('of three processes that resume together, one makes the call', async () => {
  const it = await deskOf(named);
  const { state } = await it.start([pay('c1', 'bob', 500)]);
  const kept = state.toString();
  const copies = [it, await it.copy(), await it.copy()];
  const ended = await Promise.allSettled(
    copies.map(async (copy) => {
      const restored = await copy.restore(kept);
      restored.approve(restored.getInterruptions()[0]!);
      return copy.resume(restored);
    }),
  );
  expect(it.made).toHaveLength(1);
  expect(ended.some(({ status }) => status === 'fulfilled')).toBe(true);
});

test('changed arguments in the state are refused', async () => {
  const it = await deskOf(named);
  const { state, held } = await it.start([pay('c1', 'bob', 500)]);
  await decide(it, held[0]!, 'approve');
  const changed = state.toString().replaceAll('\\"cents\\":500', '\\"cents\\":900');
  expect(changed).not.toBe(state.toString());
  const { told } = await it.resume(await it.restore(changed));
  expect(told).toEqual([['c1', expect.stringContaining('other arguments')]]);
  expect(it.made).toEqual([]);
});

test('a sibling of a held call is made once, whatever is resumed', async () => {
  const it = await deskOf();
  const { state, held } = await it.start([pay('c1', 'ann', 5), pay('c2', 'bob', 500)]);
  const kept = state.toString();
  await decide(it, held[0]!, 'approve');
  const { told } = await it.resume(state);
  expect(told).toEqual([
    ['c1', 'paid ann'],
    ['c2', 'paid bob'],
  ]);
  const copy = await it.copy();
  expect((await copy.resume(await copy.restore(kept))).told).toEqual(told);
  expect(it.made.map(({ to }) => to).sort()).toEqual(['ann', 'bob']);
});

test('a run that starts again under its id gets the recorded results', async () => {
  const it = await deskOf();
  const first = await it.start([pay('c1', 'ann', 5)]);
  const copy = await it.copy();
  expect((await copy.start([pay('c1', 'ann', 5)])).told).toEqual(first.told);
  await copy.start([pay('c1', 'ann', 5)], { runId: 'r2' });
  expect(it.made).toHaveLength(2);
});

test('a call that failed is reported, and is not made again', async () => {
  const it = await deskOf({
    pays: () => {
      throw new Error('no money');
    },
  });
  const first = await it.start([pay('c1', 'bob', 5)]);
  expect(first.told).toEqual([['c1', expect.stringContaining('An error occurred')]]);
  expect(await it.gate.port.outcomeOf('r1.c1')).toMatchObject({ outcome: 'failed' });
  const copy = await it.copy();
  expect((await copy.start([pay('c1', 'bob', 5)])).told).toEqual(first.told);
  expect(it.made).toHaveLength(1);
});

test('an error that the tool does not put into words ends the run', async () => {
  const error = new Error('no money');
  const it = await deskOf({
    tool: { errorFunction: null },
    pays: () => {
      throw error;
    },
  });
  await expect(it.start([pay('c1', 'bob', 5)])).rejects.toMatchObject({ error });
  const copy = await it.copy();
  await expect(copy.start([pay('c1', 'bob', 5)])).rejects.toMatchObject({
    error: { code: 'call_failed' },
  });
  expect(it.made).toHaveLength(1);
});

test('a tool that may be called again is made again after a failure', async () => {
  let fails = true;
  const it = await deskOf({
    idempotent: ['pay'],
    pays: () => {
      if (fails) throw new Error('no money');
      return 'paid';
    },
  });
  await it.start([pay('c1', 'bob', 5)]);
  fails = false;
  expect((await it.start([pay('c1', 'bob', 5)])).told).toEqual([['c1', 'paid']]);
  expect(it.made).toHaveLength(2);
});

test('a sibling that ends the run leaves a judged call to be made later', async () => {
  let fails = true;
  const it = await deskOf({
    tool: { errorFunction: null },
    pays: ({ to }) => {
      if (to === 'eve' && fails) throw new Error('no money');
      return `paid ${to}`;
    },
  });
  const judge = it.gate.port.judge.bind(it.gate.port);
  const failed = Promise.withResolvers<void>();
  it.gate.port.judge = async (call, options) => {
    const judgement = await judge(call, options);
    // The call of bob is judged, and the run ends before it starts.
    if (call.id === 'r1.c1') await failed.promise;
    return judgement;
  };
  const ended = it.start([pay('c1', 'bob', 5), pay('c2', 'eve', 5)]);
  await vi.waitFor(() => expect(it.made).toHaveLength(1), { timeout: 5_000 });
  failed.resolve();
  await expect(ended).rejects.toThrow('no money');
  fails = false;
  const copy = await it.copy();
  const { told } = await copy.start([pay('c1', 'bob', 5)]);
  expect(told).toEqual([['c1', 'paid bob']]);
  expect(it.made).toEqual([
    { to: 'eve', cents: 5 },
    { to: 'bob', cents: 5 },
  ]);
});

test('a call whose process ends before its outcome is in doubt', async () => {
  const it = await deskOf();
  it.gate.port.report = () => Promise.reject(new Error('the process has ended'));
  await it.start([pay('c1', 'bob', 5)]);
  const copy = await it.copy();
  await expect(copy.start([pay('c1', 'bob', 5)])).rejects.toThrow('calls.settle');
  expect(it.made).toHaveLength(1);
});

test('a call that started and was not made is in doubt, and is not made', async () => {
  const it = await deskOf();
  await it.gate.port.ask(
    { id: 'r1.c1', session: 'r1', server: 'shop', tool: 'pay', args: { to: 'bob', cents: 5 } },
    { waitMs: 0, match: 'id' },
  );
  const copy = await it.copy();
  await expect(copy.start([pay('c1', 'bob', 5)])).rejects.toMatchObject({
    error: { code: 'call_in_doubt' },
  });
  expect(it.made).toEqual([]);
});

test('an aborted run ends, and its call is in doubt', async () => {
  const abort = new AbortController();
  const it = await deskOf({
    pays: (_, details) =>
      new Promise((_resolve, reject) => {
        const { signal } = details as { signal: AbortSignal };
        signal.addEventListener('abort', () => reject(signal.reason));
        abort.abort();
      }),
  });
  await it
    .start([pay('c1', 'bob', 5)], { runId: 'r1' }, { signal: abort.signal })
    .catch(() => undefined);
  expect(await outcomeOf(it, 'r1.c1')).toMatchObject({ outcome: 'unknown' });
  expect(it.made).toHaveLength(1);
});

test('a call that is too slow is reported as such, and is in doubt', async () => {
  const it = await deskOf({
    tool: { timeoutMs: 30 },
    pays: (_, details) =>
      new Promise((_resolve, reject) => {
        const { signal } = details as { signal: AbortSignal };
        const stop = (): void => reject(signal.reason);
        // On a busy machine the time is up before the tool is called.
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop);
      }),
  });
  expect((await it.start([pay('c1', 'bob', 5)])).told).toEqual([
    ['c1', expect.stringContaining('timed out')],
  ]);
  expect(await outcomeOf(it, 'r1.c1')).toMatchObject({ outcome: 'unknown' });
});

test.each([
  ['an object', { at: new Date(0), paid: 5 }],
  ['an image', { type: 'image', image: { data: new Uint8Array([1, 2]), mediaType: 'image/png' } }],
  ['nothing', undefined],
  ['an object of a class', new URL('http://bank/')],
])('a repetition tells the model of %s as the first time', async (_, output) => {
  const it = await deskOf({ pays: () => output });
  const first = await it.start([pay('c1', 'bob', 5)]);
  const copy = await it.copy();
  expect((await copy.start([pay('c1', 'bob', 5)])).told).toEqual(first.told);
  expect(it.made).toHaveLength(1);
});

/** The outcome of a call that is reported while the run goes on. */
async function outcomeOf({ gate }: Desk, call: string): Promise<unknown> {
  for (let wait = 10; wait < 2_000; wait *= 2) {
    const found = await gate.port.outcomeOf(call);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  return undefined;
}
