/** A runtime over a store with an archive: the same ledger as over the store without one. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fsck } from '#checkpoints';
import { exportLines, importLines } from '#export';
import { integrateLog, logHead } from '#ledger';
import { backtestStore, deepReplayStore } from '#replay';
import { verifyStore } from '#runtime';
import { openStore, type Store } from '#stores';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { onEveryDatabase } from '../support/ledger/stores.ts';
import { tally } from '../support/tools/effect-sink.ts';

const root = mkdtempSync(join(tmpdir(), 'assize-archived-'));
afterAll(() => rmSync(root, { recursive: true }));

const writ = writFor('alice');
const REFUSED = 3;
const PROPOSALS = 11;

/** A large value is in a blob. One of the proposals is refused. */
async function fill(store: Store): Promise<void> {
  const assize = runtimeOver(store, [tally]);
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  for (let n = 0; n < PROPOSALS; n++) {
    const args = n === REFUSED ? 'forbidden' : n % 3 === 0 ? `${n}`.repeat(6_000) : `at ${n}`;
    await trajectory.propose({ action: 'count', role: 'counter', args, writ });
  }
  await assize.close();
  await integrateLog(store);
}

/** The answers of every reader of a ledger. */
async function answers(store: Store): Promise<Record<string, unknown>> {
  const assize = runtimeOver(store, [tally]);
  const trajectory = await assize.open('t');
  const entries = await store.entries('t');
  const slices = [];
  for (const { id } of entries) slices.push(await trajectory.sliceAt(id, 'counter'));
  const said = {
    state: trajectory.state(),
    slices,
    verified: await verifyStore(store, { threads: 1 }),
    inTwoThreads: await verifyStore(store, { threads: 2 }),
    replayed: await deepReplayStore(store, { domains: [tally] }),
    judged: await backtestStore(store, { domains: [tally] }),
    sound: await fsck(store),
  };
  await assize.close();
  let text = '';
  for await (const line of exportLines(store)) text += line;
  return { ...said, text };
}

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.trimEnd().split('\n');
}

onEveryDatabase((stores) => {
  test('every reader answers over an archive as it did before', async () => {
    const place = stores.newPlace();
    const archive = `file:${mkdtempSync(join(root, 'archive-'))}`;
    const plain = await place.open();
    await fill(plain);
    const before = await answers(plain);
    await plain.close();
    const store = await place.open({ archive });
    // Without the snapshot, the runtime replays from the first entry.
    await store.dropSnapshots();
    const report = await store.archiveEntries!({
      checkpoint: { origin: 'test', ...(await logHead(store)) },
      level: 2,
    });
    expect(report).toMatchObject({ moved: PROPOSALS + 1, archived: PROPOSALS + 1 });
    expect(await answers(store)).toEqual(before);

    const assize = runtimeOver(store, [tally]);
    const trajectory = await assize.open('t');
    const next = await trajectory.propose({ action: 'count', role: 'counter', args: 'next', writ });
    expect(next).toMatchObject({ ruling: 'committed' });
    const [, source] = await store.entries('t');
    const branch = await assize.branch('t', source!.id, { note: 'what if' });
    expect(branch.state()).toEqual({ done: { ['0'.repeat(6_000)]: 1 } });
    await assize.close();
    await integrateLog(store);
    expect((await verifyStore(store)).map(({ valid }) => valid)).toEqual([true, true]);

    const other = await openStore(
      `sqlite:${join(mkdtempSync(join(root, 'import-')), 'ledger.db')}`,
    );
    const { text } = await answers(store);
    await importLines(other, linesOf(text as string));
    await integrateLog(other);
    expect(await logHead(other)).toEqual(await logHead(store));
    await other.close();
    await store.close();
  });

  test('fsck names each file of an archive that is missing or damaged', async () => {
    const archive = mkdtempSync(join(root, 'archive-'));
    const store = await stores.newPlace().open({ archive: `file:${archive}` });
    await fill(store);
    await store.archiveEntries!({
      checkpoint: { origin: 'test', ...(await logHead(store)) },
      level: 2,
    });
    const [missing, damaged] = readdirSync(archive).filter((name) => name.includes('-entries-'));
    rmSync(join(archive, missing!));
    writeFileSync(join(archive, damaged!), 'no gzip');
    const { valid, entries, trajectories, faults } = await fsck(store);
    expect({ valid, entries, trajectories }).toEqual({
      valid: false,
      entries: PROPOSALS + 1,
      trajectories: [],
    });
    expect(faults).toEqual([
      { code: 'damaged', detail: expect.stringContaining(`has no file ${missing}`) },
      { code: 'damaged', detail: expect.stringContaining(damaged!) },
      { code: 'damaged', detail: expect.stringContaining('no entry was verified') },
    ]);
    await store.close();
  });
});
