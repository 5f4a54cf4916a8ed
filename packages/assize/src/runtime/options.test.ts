import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '#oracle';
import {
  HandClock,
  operator,
  runtimeOver,
  START,
} from '../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../tests/support/tools/effect-sink.ts';
import { Assize } from './assize.ts';

const GROUPS = ['approvals', 'effects', 'memory', 'ports'] as const;

/** The error of a runtime with tools and these options, or undefined. */
function errorOf(options: object): { code: string; message: string; evidence: object } | undefined {
  const required = {
    store: new MemoryStore(),
    domains: [tally],
    anchors: [operator.publicKey],
    tools: [],
  };
  try {
    new Assize({ ...required, ...options } as never);
    return undefined;
  } catch (error) {
    return error as never;
  }
}

describe.each(GROUPS)('the group %s', (group) => {
  test('may be left out, undefined or empty', () => {
    for (const value of [undefined, {}, Object.create(null)])
      expect(errorOf({ [group]: value })).toBeUndefined();
  });

  test('must be an object', () => {
    for (const value of [null, 7, 'x', true, [], [{}], () => ({}), Symbol('x'), 1n]) {
      const error = errorOf({ [group]: value });
      expect(error).toMatchObject({
        code: 'bad_argument',
        evidence: { argument: `options.${group}` },
      });
    }
  });

  test('has no other member, also none that is inherited or undefined', () => {
    for (const value of [
      { timeoutMS: 5 },
      { timeoutMS: undefined },
      Object.create({ timeoutMS: 5 }),
    ]) {
      const error = errorOf({ [group]: value });
      expect(error).toMatchObject({
        code: 'bad_argument',
        evidence: { argument: `options.${group}.timeoutMS` },
      });
      expect(error?.message).toContain('not a known field');
    }
  });

  test('may come from a getter that throws its own error', () => {
    const read = (get: () => unknown) =>
      errorOf(Object.defineProperty({}, group, { get, enumerable: true }));
    const own = new Error('the settings are away');
    const throws = () => {
      throw own;
    };
    expect(read(() => ({}))).toBeUndefined();
    expect(read(throws)).toBe(own);
    expect(read(() => 7)).toMatchObject({ code: 'bad_argument' });
    expect(errorOf({ [group]: new Proxy({}, { ownKeys: throws }) })).toBe(own);
  });
});

test.each([
  ['approvalTimeoutMs', 5],
  ['clock', new HandClock()],
  ['embedder', undefined],
  ['maxAttempts', 3],
  ['onPending', () => undefined],
])('the member %s of a group is refused outside of it', (name, value) => {
  expect(errorOf({ [name]: value })).toMatchObject({
    code: 'bad_argument',
    evidence: { argument: `options.${name}` },
  });
});

test.each([
  [{ approvals: { timeoutMs: 0 } }, 'approvals.timeoutMs must be'],
  [{ approvals: { onPending: 'mail' } }, 'options.approvals.onPending must be a function'],
  [{ approvals: { onResolved: null } }, 'options.approvals.onResolved must be a function'],
  [{ effects: { blockTimeoutMs: 99 } }, 'effects.blockTimeoutMs must be'],
  [{ effects: { callTimeoutMs: 0 } }, 'effects.callTimeoutMs must be'],
  [{ effects: { maxAttempts: 101 } }, 'effects.maxAttempts must be'],
  [{ effects: { leaseMs: 1 } }, 'effects.leaseMs must be'],
  [{ effects: { frontier: 'late' } }, 'effects.frontier must be'],
  [{ effects: { resolvers: [] } }, 'effects.resolvers must be'],
  [{ effects: { onRecoveryFailed: 7 } }, 'options.effects.onRecoveryFailed must be a function'],
  [{ memory: { judge: null } }, 'options.memory.judge must be an object'],
  [{ memory: { judge: { choose: 1 } } }, 'options.memory.judge.choose must be a function'],
  [
    { memory: { embedder: { id: '', dimensions: 2, embed: () => [] } } },
    'memory.embedder must have an id',
  ],
  [
    { memory: { embedder: { id: 'm', dimensions: 0, embed: () => [] } } },
    'memory.embedder must have at least',
  ],
  [{ store: Promise.resolve(new MemoryStore()) }, 'pass the result of `await openStore(url)`'],
  [{ store: 'sqlite:./a.db' }, 'pass the result of `await openStore(url)`'],
  [{ approvals: { timeoutMs: Number.POSITIVE_INFINITY } }, 'or never'],
  [{ ports: { clock: null } }, 'options.ports.clock must be an object'],
  [{ ports: { clock: Date } }, 'options.ports.clock must be an object'],
  [{ ports: { random: {} } }, 'options.ports.random.bytes must be a function'],
  [{ ports: { pause: 5 } }, 'options.ports.pause must be a function'],
])('an error names the path of its option: %j', (options, text) => {
  expect(errorOf(options)?.message).toContain(text);
});

test('ports that are given do not replace those that are not', async () => {
  const named = async (options: object): Promise<string> => {
    const assize = runtimeOver(new MemoryStore(), [tally], options);
    return (await assize.create(tally)).id;
  };
  const clock = new HandClock();
  expect(await named({ ports: { clock } })).toBe(await named({ ports: { clock: undefined } }));
  expect(await named({ ports: { clock } })).not.toBe(
    await named({ ports: { random: seededRandom('another') } }),
  );
  const store = new MemoryStore();
  const ports = { clock, random: seededRandom('runtime') };
  const assize = new Assize({ store, domains: [tally], anchors: [operator.publicKey], ports });
  await assize.create(tally, { trajectoryId: 't' });
  const [root] = await store.entries('t', { from: 0, limit: 1 });
  expect(JSON.parse(root!.payload)).toMatchObject({ at: START });
});

test.each([new Date(START), new Date(START).toISOString()])(
  'a clock may return %o',
  async (time) => {
    const store = new MemoryStore();
    const ports = { clock: { now: () => time as string } };
    await runtimeOver(store, [tally], { ports }).create(tally, { trajectoryId: 't' });
    const [root] = await store.entries('t', { from: 0, limit: 1 });
    expect(JSON.parse(root!.payload)).toMatchObject({ at: START });
  },
);

test.each([[`${START} `], [undefined], [5]])(
  'a clock that returns %s is named by the error',
  async (now) => {
    const assize = runtimeOver(new MemoryStore(), [tally], {
      ports: { clock: { now: () => now as never } },
    });
    await expect(assize.create(tally)).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringMatching(
        /^The options are not valid: ports\.clock\.now\(\) returned .*Date/,
      ),
    });
  },
);

test('a branch without a note names the missing option', async () => {
  const assize = runtimeOver(new MemoryStore(), [tally]);
  const { id, head } = await assize.create(tally);
  await expect(assize.branch(id, head, {} as never)).rejects.toMatchObject({
    code: 'bad_argument',
    message: expect.stringContaining('options.note'),
  });
});

test('an anchor that is not in a list is refused, and the list is named', () => {
  const error = errorOf({ anchors: operator.publicKey });
  expect(error).toMatchObject({
    code: 'bad_argument',
    message: expect.stringContaining('is a text, and must be a list; pass [publicKey].'),
    name: 'RuntimeError',
  });
  expect(error?.message).toContain('must be a list; pass [publicKey]');
});
