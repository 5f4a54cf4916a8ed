/** Rows that an attacker writes into the effect log, without a key of the runtime. */
import { setImmediate as turn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Json } from '#base';
import {
  bodyText,
  claimTexts,
  type EffectClass,
  type EffectPayload,
  type LogRecord,
  readClaim,
  recordsText,
} from '#effects';
import {
  type BlobRef,
  type BlobRow,
  type EntrySigner,
  type Hash,
  type LoggedTransaction,
  storeSalted,
} from '#ledger';
import type { Clock } from '#oracle';
import { type Assize, type RuntimeError, verifyStore } from '#runtime';
import { keysOf } from '../support/ledger/rows.ts';
import { HandClock, operatorWrit, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import {
  type Fault,
  OutsideSink,
  Steps,
  storeOf,
  tally,
  toolFor,
} from '../support/tools/effect-sink.ts';

const writ = writFor('alice');
const claims = claimTexts([readClaim('write', 'test:r')]);
const CLASS: EffectClass = { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' };

let store: MemoryStore;
let sink: OutsideSink;
let failures: RuntimeError[];
/** The commit of an honest call, and its key. */
let honest: { readonly entry: Hash; readonly key: Hash };
/** The fault of the next calls. */
let fault: Fault;

beforeEach(async () => {
  [store, sink, failures, fault] = [new MemoryStore(), new OutsideSink('blind'), [], 'none'];
  const assize = opened();
  const trajectory = await assize.create(tally, { trajectoryId: 't', writs: [writ] });
  await assize.create(tally, { trajectoryId: 'u' });
  const { ruling } = await trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
    await tx.call('irreversible.buffered', { what: 'honest' });
    tx.propose({ action: 'count', role: 'counter', args: 'x' });
  });
  if (ruling.ruling !== 'committed') throw new Error(ruling.ruling);
  const [effect] = JSON.parse(ruling.entry.payload).delta.effects;
  honest = { entry: ruling.entry.id, key: effect.id };
  await assize.close();
});

function opened(
  more: {
    readonly recoveryKey?: string;
    readonly steps?: Steps;
    readonly signer?: EntrySigner;
    readonly clock?: Clock;
  } = {},
): Assize {
  const { recoveryKey, steps, signer, clock } = more;
  const outside = { sink, steps: new Steps(), fault: () => fault };
  const tools = [
    toolFor(outside, 'irreversible', 'buffered'),
    toolFor(outside, 'reversible', 'buffered'),
    toolFor(outside, 'reversible', 'externalised'),
  ];
  const onRecoveryFailed = (error: RuntimeError) => void failures.push(error);
  const effects = {
    onRecoveryFailed,
    maxAttempts: 1,
    ...(recoveryKey === undefined ? {} : { recoveryKey }),
  };
  const seen = steps === undefined ? store : storeOf(store, steps);
  const assize = runtimeOver(seen, [tally], {
    tools,
    effects,
    ...(signer && { signer }),
    ...(clock && { ports: { clock } }),
  });
  if (steps === undefined) onTestFinished(() => assize.close());
  return assize;
}

/** Writes a transaction with these rows into the log. */
async function forgeRows(
  rows: (payload: BlobRef) => readonly LogRecord[][],
  of: EffectPayload,
): Promise<void> {
  const blobs: BlobRow[] = [];
  const payload = storeSalted(of as unknown as Json, 'ab'.repeat(16), blobs);
  const body = bodyText({
    transaction: 'forged',
    principal: 'alice',
    writ_id: '0'.repeat(64),
    claims,
  });
  const { fence, lastEpoch, release } = await store.leaseEffects();
  const epoch = lastEpoch + 1;
  const records = rows(payload).map((row, place) => ({ epoch, place, record: recordsText(row) }));
  await store.logEffects({ fence, begun: [{ epoch, trajectory_id: 't', body }], records }, blobs);
  await release();
}

/** Writes a committed transaction with one call into the log. */
async function forge(trajectory: string, entry: Hash, key: Hash): Promise<void> {
  const blobs: BlobRow[] = [];
  const tool = 'irreversible.buffered';
  const input = { what: 'stolen', at: 'r' };
  const payload = storeSalted(
    { tool, class: { ...CLASS }, input, claims: [...claims], cost: {} },
    'ab'.repeat(16),
    blobs,
  );
  const record = recordsText([
    { entry, is: 'committed', planned: [{ class: CLASS, key, payload, tool }] },
  ]);
  const body = bodyText({
    transaction: 'forged',
    principal: 'alice',
    writ_id: '0'.repeat(64),
    claims,
  });
  const { fence, release } = await store.leaseEffects();
  const begun = [{ epoch: 2, trajectory_id: trajectory, body }];
  await store.logEffects({ fence, begun, records: [{ epoch: 2, place: 0, record }] }, blobs);
  await release();
}

test.each<[string, string, () => Hash]>([
  ['no entry', 't', () => 'f'.repeat(64)],
  ['an entry with another call', 't', () => honest.entry],
  ['an entry of another trajectory', 'u', () => honest.entry],
])('a forged commit that names %s calls no tool', async (_, trajectory, entry) => {
  await forge(trajectory, entry(), 'e'.repeat(64));
  const assize = opened();
  await assize.open(trajectory);
  await assize.recoverEffects();
  expect(sink.log.map(({ what }) => what)).toEqual(['honest']);
  expect(failures).toMatchObject([{ code: 'background_failed', cause: { code: 'log_damaged' } }]);
});

test('a decision of an operator calls no tool of a forged row', async () => {
  fault = 'fail';
  const assize = opened();
  const trajectory = await assize.open('t');
  await trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
    await tx.call('irreversible.buffered', { what: 'second' });
    tx.propose({ action: 'count', role: 'counter', args: 'y' });
  });
  fault = 'none';
  const read = store.effectsOf.bind(store);
  store.effectsOf = async (epoch) => {
    const logged = await read(epoch);
    if (logged === undefined) return logged;
    const swapped = (text: string): string =>
      text.replace('"tool":"irreversible.buffered"', '"tool":"reversible.buffered"');
    return { ...logged, records: logged.records.map(swapped) };
  };
  const decided = assize.resolveEffect({
    epoch: 2,
    n: 0,
    as: 'retry',
    by: 'ops',
    writ: operatorWrit(),
    evidence: 'asked the sink',
  });
  await expect(decided).rejects.toMatchObject({ code: 'log_damaged' });
  expect(sink.log.map(({ what }) => what)).toEqual(['honest']);
});

/** An open transaction of a process that ended, with a call that a recovery would compensate. */
const UNCOMMITTED: EffectClass = {
  reversibility: 'reversible',
  delivery: 'externalised',
  sink: 'blind',
};

function stolen(kind: EffectClass): EffectPayload {
  const tool = `${kind.reversibility}.${kind.delivery}`;
  return {
    tool,
    class: { ...kind },
    input: { what: 'stolen', at: 'r' },
    claims: [...claims],
    cost: {},
  };
}

const executed =
  (key: Hash) =>
  (payload: BlobRef): readonly LogRecord[][] => [
    [{ is: 'intended', class: UNCOMMITTED, key, payload, tool: 'reversible.externalised' }],
    [{ is: 'executed', n: 0 }],
  ];

test.each<[string, (payload: BlobRef) => readonly LogRecord[][], string]>([
  ['executed', executed('e'.repeat(64)), 'unresolved'],
  ['intended', (payload) => executed('e'.repeat(64))(payload).slice(0, 1), 'in_doubt'],
  [
    'undoing',
    (payload) => [...executed('e'.repeat(64))(payload), [{ is: 'undoing', n: 0 }]],
    'in_doubt',
  ],
])('a forged transaction without a commit, %s, waits for an operator', async (_, rows, phase) => {
  await forgeRows(rows, stolen(UNCOMMITTED));
  const assize = opened();
  await assize.open('t');
  const left = await assize.recoverEffects();
  expect(left).toMatchObject([{ n: 0, phase }]);
  if (phase === 'unresolved') expect(left).toMatchObject([{ why: 'unauthenticated' }]);
  expect(sink.log.map(({ what }) => what)).toEqual(['honest']);
});

test('an operator may have an unauthenticated call compensated', async () => {
  await forgeRows(executed('e'.repeat(64)), stolen(UNCOMMITTED));
  const assize = opened();
  const [left] = await assize.recoverEffects();
  const { epoch, n } = left!;
  await assize.resolveEffect({
    epoch,
    n,
    as: 'retry',
    by: 'ops',
    writ: operatorWrit(),
    evidence: 'the call is ours',
  });
  expect(sink.log.map(({ did, what }) => `${did} ${what}`)).toEqual(['do honest', 'undo stolen']);
});

/** The store with the rows of one transaction up to the first that has that record. */
function cutBefore(is: string, epoch: number): void {
  const [read, open, list] = [store.effectsOf, store.openEffects, store.listEffects].map((each) =>
    each.bind(store),
  ) as [MemoryStore['effectsOf'], MemoryStore['openEffects'], MemoryStore['listEffects']];
  const cut = (logged: LoggedTransaction): LoggedTransaction => {
    const end = logged.records.findIndex((row) => row.includes(`"is":"${is}"`));
    return logged.epoch === epoch ? { ...logged, records: logged.records.slice(0, end) } : logged;
  };
  store.effectsOf = async (asked) => {
    const logged = await read(asked);
    return logged && cut(logged);
  };
  store.openEffects = async (page) =>
    (page?.after ?? 0) < epoch ? [cut((await read(epoch))!)] : open(page);
  store.listEffects = async (page) => (await list(page)).map(cut);
}

const did = (): string[] => sink.log.slice(1).map(({ did, what }) => `${did} ${what}`);

test('a settled commit without its records compensates no call', async () => {
  const assize = opened();
  const trajectory = await assize.open('t');
  const { effects } = await trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
    await tx.call('reversible.externalised', { what: 'paid' });
    tx.propose({ action: 'count', role: 'counter', args: 'y' });
  });
  expect(effects).toBe('settled');
  await assize.close();
  cutBefore('committed', 2);
  expect(await verifyStore(store)).toMatchObject([
    {
      fault: {
        code: 'effects_differ',
        detail: expect.stringContaining('but this entry commits it'),
      },
    },
    { valid: true },
  ]);
  await opened().recoverEffects();
  expect(did()).toEqual(['do paid']);
  expect(failures).toMatchObject([
    { cause: { code: 'log_damaged', message: expect.stringContaining('ends it') } },
  ]);
});

test('an ended transaction without its last rows compensates no call twice', async () => {
  const assize = opened();
  const trajectory = await assize.open('t');
  const thrown = trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
    await tx.call('reversible.externalised', { what: 'paid' });
    throw new Error('no');
  });
  await expect(thrown).rejects.toThrow('no');
  await assize.close();
  expect(did()).toEqual(['do paid', 'undo paid']);
  cutBefore('undoing', 2);
  await opened().recoverEffects();
  expect(did()).toEqual(['do paid', 'undo paid']);
  expect(failures).toMatchObject([{ cause: { code: 'log_damaged' } }]);
});

test('a call that waits for an operator is not made again without its rows', async () => {
  fault = 'lose';
  const assize = opened();
  const trajectory = await assize.open('t');
  const { effects } = await trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
    await tx.call('irreversible.buffered', { what: 'wire' });
    tx.propose({ action: 'count', role: 'counter', args: 'y' });
  });
  expect(effects).toBe('needs_human');
  await assize.close();
  fault = 'none';
  cutBefore('applying', 2);
  await opened().recoverEffects();
  expect(did()).toEqual(['do wire']);
  expect(failures).toMatchObject([
    {
      cause: {
        code: 'log_damaged',
        message: expect.stringContaining('waits for an operator in the ledger'),
      },
    },
  ]);
});

/** A transaction with a call that ended with its process before the transaction did. */
async function leftOpen(assize: Assize, steps: Steps): Promise<void> {
  const trajectory = await assize.open('t');
  const running = trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
    await tx.call('reversible.externalised', { what: 'kept' });
    // The answer of the call reaches the log.
    await turn();
    await turn();
    steps.endAfter(1);
    await tx.call('reversible.externalised', { what: 'lost' });
  });
  await Promise.race([running, steps.ended]);
}

test.each(['payload', 'result'])('a tool gets no exchanged %s', async (text) => {
  const steps = new Steps();
  await leftOpen(opened({ recoveryKey: SECRET, steps }), steps);
  const { records } = (await store.effectsOf(2))!;
  const [, hash] = new RegExp(`"${text}":\\{"\\$blob":"(\\w+)"`).exec(records.join())!;
  const read = store.blob.bind(store);
  store.blob = async (asked) => {
    const found = await read(asked);
    return asked === hash ? found?.replace(/"value":.*/, '"value":"exchanged"}') : found;
  };
  await opened({ recoveryKey: SECRET }).recoverEffects();
  expect(did()).toEqual(['do kept']);
  expect(failures).toMatchObject([
    { cause: { code: 'log_damaged', message: expect.stringContaining(hash!) } },
  ]);
});

test('rows of another store call no tool, under the same key and names', async () => {
  const steps = new Steps();
  const there = new MemoryStore();
  const [here, clock] = [store, new HandClock()];
  clock.forward(1);
  store = there;
  const assize = opened({ recoveryKey: SECRET, steps, clock });
  const trajectory = await assize.create(tally, { trajectoryId: 't', writs: [writ] });
  await trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
    await tx.call('reversible.externalised', { what: 'first' });
    tx.propose({ action: 'count', role: 'counter', args: 'x' });
  });
  await leftOpen(assize, steps);
  store = here;
  const logged = (await there.effectsOf(2))!;
  const blobs: BlobRow[] = [];
  for (const [, hash] of logged.records.join().matchAll(/"\$blob":"(\w+)"/g))
    blobs.push({ hash: hash!, text: (await there.blob(hash!))! });
  const { fence, release } = await store.leaseEffects();
  const records = logged.records.map((record, place) => ({ epoch: 2, place, record }));
  const begun = [{ epoch: 2, trajectory_id: 't', body: logged.body }];
  await store.logEffects({ fence, begun, records }, blobs);
  await release();
  sink.log.length = 1;
  await opened({ recoveryKey: SECRET }).recoverEffects();
  expect(did()).toEqual([]);
  expect(failures).toMatchObject([
    { cause: { code: 'log_damaged', message: expect.stringContaining('began after') } },
  ]);
});

const SECRET = 'a secret of the runtime: 0123456789';

test.each([
  ['the same recovery key', SECRET, ['do kept', 'undo kept'], 0],
  ['another recovery key', 'another secret of a runtime: 012345', ['do kept'], 1],
])('with %s a process resumes what another one left', async (_, recoveryKey, calls, waiting) => {
  const steps = new Steps();
  await leftOpen(opened({ recoveryKey: SECRET, steps }), steps);
  const left = await opened({ recoveryKey }).recoverEffects();
  expect(sink.log.slice(1).map(({ did, what }) => `${did} ${what}`)).toEqual(calls);
  expect(left).toHaveLength(waiting);
});

test('a changed row of a transaction without a commit waits for an operator', async () => {
  const steps = new Steps();
  await leftOpen(opened({ recoveryKey: SECRET, steps }), steps);
  const read = store.effectsOf.bind(store);
  store.effectsOf = async (epoch) => {
    const logged = await read(epoch);
    if (logged === undefined || epoch === 1) return logged;
    return {
      ...logged,
      records: [logged.records[0]!.replace('"blind"', '"keyed"'), ...logged.records.slice(1)],
    };
  };
  const damaged = opened({ recoveryKey: SECRET });
  await damaged.recoverEffects();
  expect(sink.log.map(({ did, what }) => `${did} ${what}`)).toEqual(['do honest', 'do kept']);
});

test('a copy of a settled commit under a new epoch calls no tool', async () => {
  const [first] = await store.listEffects({ limit: 1 });
  const [row] = first!.records;
  const { fence, release } = await store.leaseEffects();
  const begun = [{ ...first!, epoch: 2 }].map(({ epoch, trajectory_id, body }) => ({
    epoch,
    trajectory_id,
    body,
  }));
  await store.logEffects({ fence, begun, records: [{ epoch: 2, place: 0, record: row! }] }, []);
  await release();
  await opened().recoverEffects();
  expect(sink.log.map(({ what }) => what)).toEqual(['honest']);
  expect(failures).toMatchObject([
    { cause: { code: 'log_damaged', message: expect.stringContaining('belongs to') } },
  ]);
});

test('a settled transaction that is opened again calls no tool', async () => {
  const [read, open] = [store.effectsOf.bind(store), store.openEffects.bind(store)];
  const cut = async () => {
    const logged = (await read(1))!;
    return { ...logged, records: logged.records.slice(0, 1) };
  };
  store.effectsOf = async () => cut();
  store.openEffects = async (page) => ((page?.after ?? 0) < 1 ? [await cut()] : open(page));
  await opened().recoverEffects();
  expect(sink.log.map(({ what }) => what)).toEqual(['honest']);
  expect(failures).toMatchObject([
    { cause: { code: 'log_damaged', message: expect.stringContaining('has settled') } },
  ]);
});

test('a forged failure of a commit compensates no other call', async () => {
  const steps = new Steps();
  const trajectory = await opened({ steps }).open('t');
  const running = trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
    await tx.call('reversible.externalised', { what: 'stays' });
    await tx.call('irreversible.buffered', { what: 'second' });
    steps.endAfter(2);
    tx.propose({ action: 'count', role: 'counter', args: 'y' });
  });
  await Promise.race([running, steps.ended]);
  const { fence, release } = await store.leaseEffects();
  const { records } = (await store.effectsOf(2))!;
  const record = recordsText([
    { is: 'applying', n: 1 },
    { is: 'failed', n: 1, final: true },
    { is: 'failing', n: 1 },
  ]);
  await store.logEffects({ fence, records: [{ epoch: 2, place: records.length, record }] }, []);
  await release();
  const left = await opened().recoverEffects();
  expect(left).toMatchObject([{ epoch: 2, n: 0, why: 'unauthenticated' }]);
  expect(sink.log.map(({ did, what }) => `${did} ${what}`)).toEqual(['do honest', 'do stays']);
});

test('a row with another class than the call of its commit calls no tool', async () => {
  const steps = new Steps();
  const trajectory = await opened({ steps }).open('t');
  const running = trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
    await tx.call('irreversible.buffered', { what: 'second' });
    steps.endAfter(2);
    tx.propose({ action: 'count', role: 'counter', args: 'y' });
  });
  await Promise.race([running, steps.ended]);
  const read = store.effectsOf.bind(store);
  store.effectsOf = async (epoch) => {
    const logged = await read(epoch);
    if (logged === undefined || epoch === 1) return logged;
    return { ...logged, records: logged.records.map((row) => row.replace('"blind"', '"keyed"')) };
  };
  await opened().recoverEffects();
  expect(sink.log.map(({ what }) => what)).toEqual(['honest']);
  expect(failures).toMatchObject([
    { cause: { code: 'log_damaged', message: expect.stringContaining('class') } },
  ]);
});

test('a runtime that cannot record an outcome makes no call of a commit', async () => {
  const [owner, other] = [keysOf(31), keysOf(32)];
  const steps = new Steps();
  const assize = opened({ signer: owner, steps });
  const trajectory = await assize.create(tally, { trajectoryId: 'signed', writs: [writ] });
  const running = trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
    await tx.call('irreversible.buffered', { what: 'signed' });
    steps.endAfter(2);
    tx.propose({ action: 'count', role: 'counter', args: 'y' });
  });
  await Promise.race([running, steps.ended]);
  for (const signer of [undefined, other]) {
    const wrong = opened(signer && { signer });
    await wrong.recoverEffects();
    expect(failures.splice(0)).toMatchObject([
      { code: 'background_failed', cause: { code: 'wrong_signer' } },
    ]);
    expect(sink.log.map(({ what }) => what)).toEqual(['honest']);
    await wrong.close();
  }
  expect(await opened({ signer: owner }).recoverEffects()).toEqual([]);
  expect(sink.log.map(({ what }) => what)).toEqual(['honest', 'signed']);
});
