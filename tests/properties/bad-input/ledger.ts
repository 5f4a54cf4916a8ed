import * as ledger from '#ledger';
import { MemoryStore } from '#stores';
import { ChainWriter, commitMembers, DOMAIN, pendingMembers, rootMembers } from '../../support/ledger/rows.ts';
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
for await (const line of ledger.exportLines(await filled())) exported.push(line.slice(0, -1));

export const LEDGER: Readonly<Record<string, Case | Exempt>> = {
  blobLine: exempt(MADE),
  entryLine: exempt(MADE),
  erasedLine: exempt(MADE),
  isEffectStore: exempt(PORT),
  isFactStore: exempt(PORT),
  'new Chain': exempt(MADE),
  'Chain.state': none,
  'Chain.copy': none,
  'Chain.frozenBy': none,
  'Chain.halted': none,
  'Chain.accept': exempt(MADE),
  'Chain.join': exempt(MADE),
  'Chain.inherit': exempt(MADE),
  'new Replayer': exempt(PORT),
  'Replayer.replay': over(
    (store, id, options) => new ledger.Replayer(store).replay(id, options),
    ['t', { until: commit.id }],
  ),
  'Replayer.stateAt': over((store, id, at) => new ledger.Replayer(store).stateAt(id, at), ['t', commit.id]),
  'Replayer.domainAt': over((store, id, at) => new ledger.Replayer(store).domainAt(id, at), ['t', commit.id]),
  'Replayer.stoppedAt': over((store, id, at) => new ledger.Replayer(store).stoppedAt(id, at), ['t', commit.id]),
  'Replayer.begin': exempt(MADE),
  'Replayer.checkFirst': exempt(MADE),
  'new EntryKeyRules': exempt(PORT),
  'EntryKeyRules.checkFirst': exempt(MADE),
  'EntryKeyRules.checkWhole': exempt(MADE),
  isKeyChange: exempt(MADE),
  keyAfter: exempt(MADE),
  signed: exempt(MADE),
  'Replayer.keep': exempt(MADE),
  'Replayer.forget': none,
  'new ValueReader': exempt(PORT),
  'ValueReader.read': exempt(MADE),
  'ValueReader.erasedIn': over((store, id) => new ledger.ValueReader(store).erasedIn(id), ['t']),
  'ValueReader.answersErased': over((store, id) => new ledger.ValueReader(store).answersErased(id), [root.id]),
  'ValueReader.erasureOf': over((store, id) => new ledger.ValueReader(store).erasureOf(id), [root.id]),
  'ValueReader.value': exempt(MADE),
  'ValueReader.patches': exempt(MADE),
  'ValueReader.erasure': exempt(MADE),
  applyPatches: exempt(MADE),
  approvalsOf: exempt(MADE),
  askNodes: exempt(PORT),
  beliefChange: takes(ledger.beliefChange, [
    { systemTime: '2026-03-23T09:00:00.000000Z', close: [], insert: [] },
    { partition: { $blob: root.id, bytes: 9, salted: true }, version: 1, cardinality: 'single-valued', objects: [] },
  ]),
  blobOf: takes(ledger.blobOf, [{ $blob: root.id }]),
  checkRow: takes(ledger.checkRow, [commit]),
  entryRow: takes(ledger.entryRow, [payload], { 0: MADE }),
  pendingEffectIn: exempt(MADE),
  factWrites: exempt(MADE),
  loggedErasedBy: takes(ledger.loggedErasedBy, [{ at: ['/n'], entries: [], reason: 'r', values: [], logged: [] }]),
  answersErasedBy: takes(ledger.answersErasedBy, [{ at: ['/n'], entries: [], reason: 'r', values: [], answers: [] }]),
  inheritanceOf: exempt(MADE),
  erasureArgs: takes(ledger.erasureArgs, [{ at: ['/n'], entries: [], reason: 'r', values: [] }]),
  exportLines: over((store, options) => ledger.exportLines(store, options), [{ size: 2 }]),
  fresh: exempt(MADE),
  inheritanceFaults: exempt(MADE),
  importLines: takes(
    (list, options) => ledger.importLines(new MemoryStore(), lines(list), options),
    [exported, { erase: false }],
    { 0: 'lines are tried one by one below' },
  ),
  'importLines, a line': takes(
    (line) => ledger.importLines(new MemoryStore(), lines([line, ...exported.slice(1)])),
    [exported[0]],
  ),
  wasImported: over((store, id) => ledger.wasImported(store, id), [commit.id]),
  integrateLog: over((store, options) => ledger.integrateLog(store, options), [{}]),
  abandonedArgs: exempt(MADE),
  isAbandonment: exempt(MADE),
  isBlobRef: takes(ledger.isBlobRef, [{ $blob: root.id }]),
  isCauseCode: exempt(MADE),
  isEffectPending: exempt(MADE),
  isExpired: exempt(MADE),
  isErased: takes(ledger.isErased, [{ $erased: root.id }]),
  isErasure: exempt(MADE),
  observationsOf: exempt(MADE),
  principalsOf: exempt(MADE),
  tokenMakersIn: exempt(MADE),
  traceparentIn: exempt(MADE),
  traceparentOf: takes(ledger.traceparentOf, ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01']),
  isHash: takes(ledger.isHash, [root.id]),
  isEffectEntry: exempt(MADE),
  isPayload: takes(ledger.isPayload, [payload]),
  haltArgs: exempt(MADE),
  passesHalt: exempt(MADE),
  isHalt: exempt(MADE),
  isRevocation: exempt(MADE),
  isUpgrade: exempt(MADE),
  domainFrom: exempt(MADE),
  isSamePrincipal: exempt(MADE),
  isSettlement: exempt(MADE),
  logHead: exempt(PORT),
  outcomeOf: exempt(MADE),
  pageAt: exempt(MADE),
  placedProvenance: takes(ledger.placedProvenance, ['w:@0', root.id]),
  payloadFault: takes(ledger.payloadFault, [JSON.parse(pending.payload)]),
  readExport: takes((line) => ledger.readExport(lines([line, ...exported.slice(1)])), [exported[0]]),
  readRow: takes(ledger.readRow, [commit]),
  revokedBy: exempt(MADE),
  revocationArgs: exempt(MADE),
  runsOf: exempt(MADE),
  erasableHashesOf: exempt(MADE),
  formsOf: exempt(MADE),
  positionsOf: exempt(MADE),
  referencesOf: exempt(MADE),
  writParent: exempt(MADE),
  writsNamedBy: exempt(MADE),
  difference: exempt(MADE),
  settlementArgs: exempt(MADE),
  undoingCostsOf: exempt(MADE),
  share: exempt(MADE),
  splitLines: takes((chunk, max) => ledger.splitLines(lines([chunk]), max), [new Uint8Array([65, 10]), 10]),
  comparisonFault: exempt(MADE),
  compareWithHead: over((store, kept) => ledger.compareWithHead(store, kept), [{ size: 2, root: new Uint8Array(32) }]),
  store: takes(ledger.store, () => [{ a: 1 }, [], 8], {
    0: 'JSON, which its callers have copied',
    1: 'the list that it fills',
  }),
  storeSalted: takes(ledger.storeSalted, () => [{ a: 1 }, 'a'.repeat(32), []], { 2: 'the list that it fills' }),
  verifyTrajectory: over(
    (store, id, options) => ledger.verifyTrajectory(new ledger.Replayer(store), id, options),
    ['t', {}],
  ),
  pendingEffectOf: exempt(MADE),
};
