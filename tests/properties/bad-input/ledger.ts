import { MemoryStore } from '@assize/testing/memory';
import * as ledgerExport from '#export';
import * as ledger from '#ledger';
import {
  ChainWriter,
  commitMembers,
  DOMAIN,
  pendingMembers,
  rootMembers,
} from '../../support/ledger/rows.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, MADE, PORT, takes } from './table.ts';

const writer = new ChainWriter('t');
const root = writer.add('root', { ...rootMembers({ n: 0 }), domain: DOMAIN });
const commit = writer.add('commit', commitMembers([{ op: 'replace', path: '/n', value: 1 }]));
const pending = writer.add('pending_approval', pendingMembers());
const payload = JSON.parse(commit.payload);
const none = exempt('no arguments');

const filled = async (): Promise<MemoryStore> => {
  const store = new MemoryStore();
  await store.commit({ entries: [root, commit], blobs: [] });
  await ledger.integrateLog(store);
  return store;
};

const over = (
  call: (store: MemoryStore, ...args: any[]) => unknown,
  args: readonly unknown[],
  trusted: Case['trusted'] = {},
): Case => ({
  trusted,
  make: async () => {
    const store = await filled();
    return {
      args,
      call: (...given) => call(store, ...given),
      watch: async () => JSON.stringify([await store.trajectories(), await store.logSize()]),
    };
  },
});

async function* lines(list: unknown): AsyncGenerator<any> {
  yield* list as Iterable<unknown>;
}

const exported: string[] = [];
for await (const line of ledgerExport.exportLines(await filled())) exported.push(line.slice(0, -1));

export const LEDGER: Readonly<Record<string, Case | Exempt>> = {
  'new Replayer': exempt(PORT),
  'Replayer.replay': over(
    (store, id, options) => new ledger.Replayer(store).replay(id, options),
    ['t', { until: commit.id }],
  ),
  'Replayer.stateAt': over(
    (store, id, at) => new ledger.Replayer(store).stateAt(id, at),
    ['t', commit.id],
  ),
  'Replayer.domainAt': over(
    (store, id, at) => new ledger.Replayer(store).domainAt(id, at),
    ['t', commit.id],
  ),
  'Replayer.stoppedAt': over(
    (store, id, at) => new ledger.Replayer(store).stoppedAt(id, at),
    ['t', commit.id],
  ),
  'Replayer.begin': exempt(MADE),
  'Replayer.checkFirst': exempt(MADE),
  'Replayer.keep': exempt(MADE),
  'Replayer.forget': none,
  'ValueReader.erasedIn': over((store, id) => new ledger.ValueReader(store).erasedIn(id), ['t']),
  'ValueReader.answersErased': over(
    (store, id) => new ledger.ValueReader(store).answersErased(id),
    [root.id],
  ),
  'ValueReader.erasureOf': over(
    (store, id) => new ledger.ValueReader(store).erasureOf(id),
    [root.id],
  ),
  blobOf: takes(ledger.blobOf, [{ $blob: root.id }]),
  checkRow: takes(ledger.checkRow, [commit]),
  exportLines: over((store, options) => ledgerExport.exportLines(store, options), [{ size: 2 }]),
  importLines: takes(
    (list, options) => ledgerExport.importLines(new MemoryStore(), lines(list), options),
    [exported, { erase: false }],
    { 0: 'lines are tried one by one below' },
  ),
  'importLines, a line': takes(
    (line) => ledgerExport.importLines(new MemoryStore(), lines([line, ...exported.slice(1)])),
    [exported[0]],
  ),
  wasImported: over((store, id) => ledger.wasImported(store, id), [commit.id]),
  integrateLog: over((store, options) => ledger.integrateLog(store, options), [{}]),
  isErased: takes(ledger.isErased, [{ $erased: root.id }]),
  traceparentOf: takes(ledger.traceparentOf, [
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  ]),
  isPayload: takes(ledger.isPayload, [payload]),
  payloadFault: takes(ledger.payloadFault, [JSON.parse(pending.payload)]),
  readExport: takes(
    (line) => ledgerExport.readExport(lines([line, ...exported.slice(1)])),
    [exported[0]],
  ),
  readRow: takes(ledger.readRow, [commit]),
  share: exempt(MADE),
  splitLines: takes(
    (chunk, max) => ledgerExport.splitLines(lines([chunk]), max),
    [new Uint8Array([65, 10]), 10],
  ),
  compareWithHead: over(
    (store, kept) => ledger.compareWithHead(store, kept),
    [{ size: 2, root: new Uint8Array(32) }],
  ),
  store: takes(ledger.store, () => [{ a: 1 }, [], 8], {
    0: 'JSON that its callers have copied',
    1: 'the list that it fills',
    2: 'a constant of its callers',
  }),
  verifyTrajectory: over(
    (store, id, options) => ledger.verifyTrajectory(new ledger.Replayer(store), id, options),
    ['t', {}],
  ),
};
