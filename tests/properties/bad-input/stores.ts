import { hash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  EffectStore,
  FactStore,
  FactWrite,
  LedgerStore,
  LogStore,
  SideStore,
  SnapshotStore,
} from '#ledger';
import type { OracleStore } from '#oracle';
import type { Adoptable } from '#stores';
import * as stores from '#stores';
import { ALICE, changeOf, day } from '../../../packages/testing/src/fact-rows.ts';
import { batchOf, blobOf, entryAfter } from '../../../packages/testing/src/store-rows.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, PATH, takes } from './table.ts';

type Whole = LedgerStore &
  LogStore &
  SnapshotStore &
  OracleStore &
  EffectStore &
  FactStore &
  SideStore &
  Adoptable;

const first = entryAfter(undefined, 't');
const blob = blobOf('"x"');
// The fence belongs to no lease: a valid write is refused, and an invalid one is refused for its
// form.
const effects = {
  fence: 77,
  begun: [{ epoch: 1, trajectory_id: 't', body: '{}' }],
  records: [{ epoch: 1, place: 0, record: '{}' }],
  keys: [{ key: first.id, epoch: 1, n: 0 }],
  ended: [1],
};
const node = new Uint8Array(32);
// The partition has never had a fact: a valid change is outdated, and an invalid one is refused for
// its form.
const change: FactWrite = changeOf(
  ALICE,
  9,
  10,
  [{ fact_id: 'a' }],
  [{ fact_id: 'b', system_time_start: day(9) }],
);
const ranked = { ...ALICE, kind: 'all', valid: day(1), system: day(2), lineage: 'a', limit: 3 };
const vector = new Float32Array([1, 2]);
const noPages = (async function* () {})();
const none = exempt('no arguments');

/** The same for every store; `open` gives one with nothing in it. */
export function storeCases(
  name: string,
  open: () => Promise<Whole>,
): Readonly<Record<string, Case | Exempt>> {
  const on = (call: (store: Whole, ...args: any[]) => unknown, ...args: unknown[]): Case => ({
    trusted: {},
    make: async () => {
      const store = await open();
      return {
        args,
        call: (...given) => call(store, ...given),
        watch: async () =>
          JSON.stringify([
            await store.trajectories(),
            await store.logSize(),
            await store.blob(blob.hash),
            await store.effectsOf(1),
            await store.spaces(),
          ]),
      };
    },
  });
  const cases: Record<string, Case | Exempt> = {
    commit: on((store, batch) => store.commit(batch), {
      ...batchOf([first], [blob]),
      erased: [{ hash: 'a'.repeat(64), by: first.id }],
      awaitsFacts: false,
      clock: { at: day(1), maxAheadMs: 1 },
    }),
    resolve: on((store, id) => store.resolve(id), first.id),
    entries: on((store, id, options) => store.entries(id, options), 't', { from: 0, limit: 5 }),
    head: on((store, id) => store.head(id), 't'),
    trajectories: none,
    trajectoriesToReview: none,
    blob: on((store, hash) => store.blob(hash), blob.hash),
    erasedBy: on((store, hash) => store.erasedBy(hash), blob.hash),
    find: on((store, prefix) => store.find(prefix), first.id.slice(0, 8)),
    oracleGet: on((store, key) => store.oracleGet(key), first.id),
    oracleWithin: on((store, within, page) => store.oracleWithin!(within, page), first.id, {
      limit: 1,
    }),
    oracleErased: on((store, page) => store.oracleErased!(page), { limit: 1 }),
    oraclePut: on((store, row) => store.oraclePut(row), { key: first.id, answer: '1', at: 'x' }),
    logSize: none,
    unlogged: on((store, limit) => store.unlogged(limit), 3),
    integrate: on((store, step) => store.integrate(step), {
      size: 0,
      leaves: [{ id: first.id, hash: node }],
      nodes: [{ level: 1, index: 0, hash: node }],
    }),
    logNodes: on((store, level, from, count) => store.logNodes(level, from, count), 1, 0, 2),
    logIndex: on((store, id) => store.logIndex(id), first.id),
    logged: on((store, from, limit) => store.logged(from, limit), 0, 2),
    snapshot: on((store, id) => store.snapshot(id), 't'),
    putSnapshot: on(
      (store, row, erasures) => store.putSnapshot(row, erasures),
      { trajectory_id: 't', seq: 0, hash: first.id, text: 'x' },
      0,
    ),
    sideGet: on((store, kind, key) => store.sideGet(kind, key), 'k', 'a'),
    sideList: on((store, kind, page) => store.sideList(kind, page), 'k', { after: 'a', limit: 2 }),
    sidePut: on(
      (store, changes) => store.sidePut(changes),
      [{ kind: 'k', key: 'a', expected: 1, body: '1' }],
    ),
    'commit, effects': on(
      (store, write) => store.commit({ ...batchOf([]), effects: write }),
      effects,
    ),
    leaseEffects: on(
      async (store, signal) => (await store.leaseEffects(signal)).release(),
      new AbortController().signal,
    ),
    logEffects: on((store, write, blobs) => store.logEffects(write, blobs), effects, [blob]),
    openEffects: on((store, page) => store.openEffects(page), {
      after: 7,
      limit: 2,
      trajectoryId: 't',
    }),
    listEffects: on((store, page) => store.listEffects(page), {
      before: 7,
      limit: 2,
      trajectoryId: 't',
    }),
    effectsOf: on((store, epoch) => store.effectsOf(epoch), 1),
    effectKey: on((store, key) => store.effectKey(key), first.id),
    hasEffectLog: none,
    'commit, facts': on((store, facts) => store.commit({ ...batchOf([]), facts }), [change]),
    partition: on((store, name) => store.partition(name), ALICE),
    facts: on((store, query) => store.facts(query), {
      ...ALICE,
      kind: 'all',
      valid: day(1),
      system: day(2),
      lineage: 'a',
      after: change.insert[0],
      limit: 3,
    }),
    factsByText: on((store, query) => store.factsByText(query), {
      ...ranked,
      text: 'aspirin daily',
    }),
    factsByVector: on((store, query) => store.factsByVector(query), {
      ...ranked,
      embedder: 'm',
      vector,
    }),
    textsToEmbed: on(
      (store, embedder, space, limit) => store.textsToEmbed(embedder, space, limit),
      'm',
      'clinic',
      3,
    ),
    putVectors: on((store, embedder, vectors) => store.putVectors(embedder, vectors), 'm', [
      { id: '7', vector },
    ]),
    claimKey: on((store, key) => store.claimKey(key), new Uint8Array(32)),
    spaces: none,
    branches: none,
    branchPartitions: on((store, query) => store.branchPartitions(query), {
      ...ALICE,
      branch: 'try',
      after: { subject: 'alice', predicate: 'drug' },
      limit: 3,
    }),
    withReadSnapshot: {
      ...on(
        (store, read, options) => store.withReadSnapshot?.(read, options),
        async () => 1,
        { byText: true },
      ),
      trusted: { '0': 'what reads is the caller’s own' },
    },
    rebuildFacts: on((store, pages) => store.rebuildFacts(pages), noPages),
    keepFacts: none,
    acquireWriteLock: on((store, id) => store.acquireWriteLock?.(id).then((end) => end?.()), 't'),
    adopt: on((store, adoption) => store.adopt(adoption), {
      at: '2026-03-01T00:00:00.000000Z',
      reason: 'moved',
      roots: ['0'.repeat(64)],
    }),
    adopted: on((store, root) => store.adopted(root), '0'.repeat(64)),
    erasures: none,
    dropSnapshots: none,
    selfCheck: none,
    scrub: none,
    readInParallel: on(
      (store, ranges) => {
        const ahead = store.readInParallel?.(ranges);
        return ahead?.close();
      },
      [{ trajectory_id: 't', entries: 1, position: 0 }],
    ),
    close: none,
  };
  return Object.fromEntries(
    Object.entries(cases).map(([method, one]) => [`${name}.${method}`, one]),
  );
}

const folder = mkdtempSync(join(tmpdir(), 'assize-bad-input-'));
let opened = 0;
const fresh = (): string => join(folder, `${opened++}.db`);
const closing = async (store: Promise<{ close(): Promise<void> }>): Promise<void> =>
  (await store).close();

// One file for all SQLite attempts: they must write nothing to it, and each table is inspected
// before and after.
let lasting: Promise<stores.SqliteStore> | undefined;

/** The first entry is there, for an attempt that names it. */
async function openLasting(): Promise<stores.SqliteStore> {
  const store = await stores.openSqlite({ path: fresh() });
  await store.commit(batchOf([first], [blob]));
  return store;
}

export const STORES: Readonly<Record<string, Case | Exempt>> = {
  'new TemporaryStore': exempt('no arguments'),
  ...storeCases('TemporaryStore', async () => new stores.TemporaryStore()),
  'new SqliteStore': exempt('made by openSqlite from a connection'),
  ...storeCases('SqliteStore', () => (lasting ??= openLasting())),
  'SqliteStore.requireInPlace': exempt('no arguments'),
  'SqliteStore.requireSpace': exempt('no arguments'),
  ...Object.fromEntries(
    ['TemporaryStore', 'SqliteStore', 'PostgresStore'].flatMap((name) => [
      [`${name}.sealState`, none],
      [`${name}.requireSeals`, none],
      [`${name}.sealEntries`, exempt('its listener is the caller’s own')],
    ]),
  ),
  sealKeys: exempt('internal: takes a root key that was read'),
  'SqliteStore.follow': takes(
    async (listener) => {
      lasting ??= openLasting();
      await (await (await lasting).follow(listener))();
    },
    [() => undefined],
  ),
  'SqliteStore.retire': takes(
    async (retirement) => {
      const store = await stores.openSqlite({ path: fresh() });
      await store.retire(retirement).finally(() => store.close());
    },
    [{ at: '2026-03-01T00:00:00.000000Z', reason: 'moved' }],
  ),
  'SqliteStore.archiveEntries': takes(
    async (options) => {
      const store = await stores.openSqlite({ path: fresh(), archive: `file:${folder}/archive` });
      await store.archiveEntries(options).finally(() => store.close());
    },
    [
      {
        checkpoint: { origin: 'log', size: 0, root: hash('sha256', '', 'buffer') },
        keep: 1,
        level: 3,
      },
    ],
    { '0.checkpoint.size': 'a size is a number or a bigint, and is compared with the log' },
  ),
  'SqliteStore.archiveState': exempt('no arguments'),
  'SqliteStore.vacuum': exempt('no arguments'),
  'SqliteStore.copyInto': takes(
    async (file, accept) => {
      lasting ??= openLasting();
      return (await lasting).copyInto(file, accept);
    },
    [join(folder, 'copy.db'), async () => false],
    { 1: 'what accepts the copy is the caller’s own' },
  ),
  'new PostgresStore': exempt('made by openPostgres from a connection'),
  ...Object.fromEntries(
    [
      ...Object.keys(storeCases('PostgresStore', async () => new stores.TemporaryStore())),
      'PostgresStore.follow',
      'PostgresStore.time',
      'PostgresStore.retire',
      'PostgresStore.archiveEntries',
      'PostgresStore.archiveState',
      'PostgresStore.joinEffects',
    ].map((name) => [
      name,
      exempt(
        'needs a server; the checks of arguments are those of the stores above (packages/assize/src/stores/input.ts)',
      ),
    ]),
  ),
  checkpointFile: takes(stores.checkpointFile, ['sqlite:./x.db']),
  ...Object.fromEntries(
    [
      'new SealedRows',
      'SealedRows.get',
      'SealedRows.list',
      'SealedRows.put',
      'SealedRows.delete',
      'sideSecretOf',
    ].map((name) => [name, exempt('no export of the package; the side log checks each row')]),
  ),
  defaultArchive: takes(stores.defaultArchive, ['sqlite:./x.db']),
  checkStoreUrl: takes(stores.checkStoreUrl, ['sqlite:./x.db']),
  openSqlite: takes(
    (options) => closing(stores.openSqlite(options)),
    () => [
      { path: fresh(), mode: 'create', durability: 'full', lockTimeoutMs: 10, vectors: 'exact' },
    ],
    { '0.path': PATH },
  ),
  openStore: takes(
    (url, options) => closing(stores.openStore(url, options)),
    () => [
      `sqlite:${fresh()}`,
      {
        mode: 'create',
        durability: 'full',
        lockTimeoutMs: 10,
        vectors: 'exact',
        checkpoint: false,
      },
    ],
    {},
  ),
  openPostgres: exempt('needs a server; packages/postgres/src/open.slow.test.ts has its options'),
};
