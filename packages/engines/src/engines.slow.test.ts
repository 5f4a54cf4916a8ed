/** Calls in steps of engines that repeat what they have not kept. */

import { connectGate, type Gate, type HeldCall } from '@assize/gate/internal/calls';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  codeOf,
  type Fake,
  fakeDbos,
  fakeRestate,
  fakeTemporal,
  type MakeFake,
  settledOf,
} from '../tests/support/fakes.ts';
import { Shop } from '../tests/support/shop.ts';
import type { DoubtfulCall, WaitingOptions } from './index.ts';

interface Opened {
  readonly shop: Shop;
  readonly gate: Gate;
  readonly engine: Fake;
  readonly made: unknown[];
  readonly pay: (begun: {
    readonly args: object;
    readonly key: string;
  }) => Promise<{ receipt: number }>;
}

async function opened(make: MakeFake, options?: WaitingOptions): Promise<Opened> {
  const shop = new Shop();
  onTestFinished(() => shop.close());
  const gate = await shop.gate();
  const made: unknown[] = [];
  return {
    ...{ shop, gate, made, engine: make(gate, options) },
    pay: async ({ args, key }) => ({ receipt: made.push({ ...args, key }) }),
  };
}

/** The code of the error with which a run ends. */
async function endOf(run: Promise<unknown>): Promise<string | undefined> {
  try {
    await run;
    return 'done';
  } catch (error) {
    return codeOf(error);
  }
}

const large = { to: 'eve', cents: 900 };

describe.each([
  ['Restate', fakeRestate],
  ['DBOS', fakeDbos],
  ['Temporal', fakeTemporal],
] as const)('%s', (name, make) => {
  test('a result that the engine lost comes from the ledger', async () => {
    const { engine, pay, made } = await opened(make);
    engine.losses = 3;
    expect(await engine.run('w1', {}, pay)).toEqual({ receipt: 1 });
    expect(await engine.run('w1', {}, pay)).toEqual({ receipt: 1 });
    expect(made).toEqual([{ to: 'bob', cents: 50, key: 'w1.pay' }]);
    expect(await engine.run('w2', {}, pay)).toEqual({ receipt: 2 });
  });

  test('two runs of one order make its call once, with the same arguments', async () => {
    const { engine, pay, made } = await opened(make);
    await engine.run('w1', { run: 'order-7' }, pay);
    expect(await engine.run('w2', { run: 'order-7' }, pay)).toEqual({ receipt: 1 });
    const other = { run: 'order-7', args: { to: 'bob', cents: 60 } };
    expect(await endOf(engine.run('w3', other, pay))).toBe('call_refused');
    expect(made).toHaveLength(1);
  });

  test('a repetition waits for the end of an attempt that still runs', async () => {
    const { shop, engine, pay, made } = await opened(make);
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const first = engine.run('w1', {}, async (call) => {
      begun.resolve();
      await end.promise;
      return pay(call);
    });
    await begun.promise;
    const other = make(await shop.gate(), { askAgainMs: 10 });
    other.beforeWakeUp = async () => {
      end.resolve();
      await first;
    };
    expect(await other.run('w1', {}, pay)).toEqual({ receipt: 1 });
    expect(other.waits).toEqual([10]);
    expect(made).toHaveLength(1);
  });

  test('a call in doubt waits until a person settles it', async () => {
    const doubtful: DoubtfulCall[] = [];
    const { shop, engine, pay, made } = await opened(make);
    const begun = Promise.withResolvers<void>();
    void engine.run('w1', {}, () => {
      begun.resolve();
      return new Promise(() => {});
    });
    await begun.promise;
    const other = make(await shop.gate(), {
      ...{ askAgainMs: 10, askAgainMaxMs: 25 },
      onDoubt: (call) => void doubtful.push(call),
    });
    other.beforeWakeUp = async () => {
      if (other.waits.length === 4) await shop.settle('w1.pay', 'failed');
    };
    const error = await other.run('w1', {}, pay).catch((thrown: unknown) => thrown);
    expect([codeOf(error), settledOf(error)]).toEqual(['call_in_doubt', 'failed']);
    expect(other.waits).toEqual([10, 20, 25, 25]);
    expect(doubtful[0]).toMatchObject({
      run: 'w1',
      id: 'pay',
      tool: 'pay',
      args: { cents: 50 },
      call: 'w1.pay',
    });
    expect(doubtful).toHaveLength(name === 'Temporal' ? 4 : 1);
    expect(await other.run('w1', { key: 'again' }, pay)).toEqual({ receipt: 1 });
    expect(made).toHaveLength(1);
  });

  test('a call that waits is asked about again, later each time, and made once', async () => {
    const held: HeldCall[] = [];
    const { shop, engine, pay, made } = await opened(make, {
      ...{ askAgainMs: 10, askAgainMaxMs: 25 },
      onPending: (call) => void held.push(call),
    });
    engine.losses = 1;
    engine.beforeWakeUp = async () => {
      if (engine.waits.length === 4) await shop.decide(held.at(-1) as HeldCall);
    };
    expect(await engine.run('w1', { args: large }, pay)).toEqual({ receipt: 1 });
    expect(engine.waits).toEqual([10, 20, 25, 25]);
    expect(held[0]).toMatchObject({
      run: 'w1',
      id: 'pay',
      tool: 'pay',
      args: large,
      call: 'w1.pay',
    });
    // An activity tells it at each attempt.
    expect(held).toHaveLength(name === 'Temporal' ? 4 : 1);
    expect(made).toEqual([{ ...large, key: 'w1.pay' }]);
  });

  test('a call that is rejected, or that the rules refuse, is not made', async () => {
    const held: HeldCall[] = [];
    const { shop, engine, pay, made } = await opened(make, {
      onPending: (call) => void held.push(call),
    });
    engine.beforeWakeUp = () => shop.decide(held[0] as HeldCall, 'reject');
    expect(await endOf(engine.run('w1', { args: large }, pay))).toBe('call_refused');
    expect(await endOf(engine.run('w1', { args: large }, pay))).toBe('call_refused');
    expect(await endOf(engine.run('w2', { args: { to: 'mallory', cents: 5 } }, pay))).toBe(
      'call_refused',
    );
    expect(made).toEqual([]);
  });

  test('a failure is final, and its repetition says the same', async () => {
    const { shop, engine } = await opened(make);
    let tries = 0;
    const fails = (): never => {
      tries++;
      throw new Error('no funds');
    };
    const error = await engine.run('w1', {}, fails).catch((thrown: unknown) => thrown);
    expect(codeOf(error)).toBe('call_failed');
    expect(String(error)).toContain('no funds');
    const again = await make(await shop.gate())
      .run('w1', {}, fails)
      .catch((thrown: unknown) => thrown);
    expect(String(again)).toBe(String(error));
    expect(tries).toBe(1);
  });

  test('an idempotent call is repeated by the engine, under one key', async () => {
    const { engine, pay, made } = await opened(make);
    let tries = 0;
    const fails = async (begun: Parameters<typeof pay>[0]) => {
      const paid = await pay(begun);
      if (++tries < 3) throw new Error('no line');
      return paid;
    };
    expect(await engine.run('w1', {}, fails, { idempotent: true })).toEqual({ receipt: 3 });
    expect(made.map((paid) => (paid as { key: string }).key)).toEqual([
      'w1.pay',
      'w1.pay',
      'w1.pay',
    ]);
  });

  test('an idempotent call that always fails ends after five times', async () => {
    const { engine } = await opened(make);
    let tries = 0;
    const fails = (): never => {
      tries++;
      throw new Error('no line');
    };
    expect(await endOf(engine.run('w1', {}, fails, { idempotent: true }))).toBe('call_failed');
    expect(tries).toBe(5);
  });

  test('a call whose time ran out waits until a person settles it', async () => {
    const { shop, engine } = await opened(make);
    const late = () => Promise.reject(new DOMException('late', 'TimeoutError'));
    engine.beforeWakeUp = () => shop.settle('w1.pay', 'done');
    const error = await engine.run('w1', {}, late).catch((thrown: unknown) => thrown);
    expect([codeOf(error), settledOf(error)]).toEqual(['call_in_doubt', 'done']);
    expect(engine.waits).toHaveLength(1);
  });

  test('a call that is done does not wait for a result that is too large', async () => {
    const { engine, shop } = await opened(make);
    const large = () => 'x'.repeat(1_100_000);
    expect(await engine.run('w1', {}, large)).toBe(large());
    const other = make(await shop.gate());
    other.beforeWakeUp = () => Promise.reject(new TypeError('it waits'));
    expect(await endOf(other.run('w1', {}, large))).toBe('call_in_doubt');
  });

  test('a ledger that does not answer is asked again', async () => {
    const gate = connectGate({ url: 'http://127.0.0.1:9', token: 't', server: 'shop' });
    let asked = 0;
    const ask = gate.port.ask.bind(gate.port);
    gate.port.ask = (...given) => {
      asked++;
      return ask(...given);
    };
    await expect(make(gate).run('w1', {}, () => null)).rejects.toThrow(/does not answer/);
    expect(asked).toBeGreaterThan(5);
  });

  test.each([
    ['a big number', 1n],
    ['a circle', circle()],
    ['half of a character', '\ud800'],
  ])('a result with %s is lost, and its repetition says so', async (_name, value) => {
    const { engine, shop, made } = await opened(make);
    const bad = async () => ({ value, at: made.push(1) }) as never;
    expect(await endOf(engine.run('w1', {}, bad))).toBe('not_json');
    expect(await endOf(make(await shop.gate()).run('w1', {}, bad))).toBe('not_json');
    expect(made).toHaveLength(1);
  });

  test('a result has the same form at first and later', async () => {
    const { engine, shop } = await opened(make);
    const loose = () => ({ receipt: 1, note: undefined }) as never;
    expect(Object.keys((await engine.run('w1', {}, loose)) as object)).toEqual(['receipt']);
    expect(Object.keys((await make(await shop.gate()).run('w1', {}, loose)) as object)).toEqual([
      'receipt',
    ]);
    expect(await engine.run('w2', {}, () => undefined)).toBeUndefined();
    expect(await make(await shop.gate()).run('w2', {}, () => undefined)).toBeUndefined();
  });
});

function circle(): object {
  const made: Record<string, unknown> = {};
  made['self'] = made;
  return made;
}
