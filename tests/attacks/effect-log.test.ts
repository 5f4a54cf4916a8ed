/** Rows that an attacker writes into the effect log, without a key of the runtime. */
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { bodyText, claimTexts, type EffectClass, readClaim, recordsText } from '#effects';
import { type BlobRow, type Hash, storeSalted } from '#ledger';
import type { Assize, RuntimeError } from '#runtime';
import { MemoryStore } from '#stores';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { OutsideSink, Steps, tally, toolFor } from '../support/tools/effect-sink.ts';

const writ = writFor('alice');
const claims = claimTexts([readClaim('write', 'test:r')]);
const CLASS: EffectClass = { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' };

let store: MemoryStore;
let sink: OutsideSink;
let failures: RuntimeError[];
/** The commit of an honest call, and its key. */
let honest: { readonly entry: Hash; readonly key: Hash };
let isDown: boolean;

beforeEach(async () => {
  [store, sink, failures, isDown] = [new MemoryStore(), new OutsideSink('blind'), [], false];
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

function opened(): Assize {
  const outside = { sink, steps: new Steps(), fault: () => (isDown ? ('fail' as const) : ('none' as const)) };
  const tools = [toolFor(outside, 'irreversible', 'buffered'), toolFor(outside, 'reversible', 'buffered')];
  const onRecoveryFailed = (error: RuntimeError) => void failures.push(error);
  const assize = runtimeOver(store, [tally], { tools, effects: { onRecoveryFailed, maxAttempts: 1 } } as never);
  onTestFinished(() => assize.close());
  return assize;
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
  const record = recordsText([{ entry, is: 'committed', planned: [{ class: CLASS, key, payload, tool }] }]);
  const body = bodyText({ transaction: 'forged', principal: 'alice', writ_id: '0'.repeat(64), claims });
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
  expect(failures).toMatchObject([{ code: 'recovery_failed', cause: { code: 'log_damaged' } }]);
});

test('a decision of an operator calls no tool of a forged row', async () => {
  isDown = true;
  const assize = opened();
  const trajectory = await assize.open('t');
  await trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
    await tx.call('irreversible.buffered', { what: 'second' });
    tx.propose({ action: 'count', role: 'counter', args: 'y' });
  });
  isDown = false;
  const read = store.effectsOf.bind(store);
  store.effectsOf = async (epoch) => {
    const logged = await read(epoch);
    if (logged === undefined) return logged;
    const swapped = (text: string): string =>
      text.replace('"tool":"irreversible.buffered"', '"tool":"reversible.buffered"');
    return { ...logged, records: logged.records.map(swapped) };
  };
  const decided = assize.resolveEffect({ epoch: 2, n: 0, as: 'retry', by: 'ops', evidence: 'asked the sink' });
  await expect(decided).rejects.toMatchObject({ code: 'log_damaged' });
  expect(sink.log.map(({ what }) => what)).toEqual(['honest']);
});
