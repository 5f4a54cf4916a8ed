import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { writId } from '#authority';
import * as blast from '#blast';
import * as bundle from '#bundle';
import * as checkpoints from '#checkpoints';
import { integrateLog } from '#ledger';
import { openCheckpoint } from '#merkle';
import { seededRandom } from '#oracle';
import * as replay from '#replay';
import * as runtime from '#runtime';
import {
  begun,
  DOCTOR,
  desk,
  granted,
  lead,
  openOf,
  task,
  worker,
} from '../../support/ledger/delegations.ts';
import { deskOf } from '../../support/ledger/desk.ts';
import { LOG, ORIGIN, WITNESSES } from '../../support/ledger/merkle-fixtures.ts';
import {
  HandClock,
  intent,
  operator,
  operatorWrit,
  runtimeOver,
  START,
  writFor,
} from '../../support/ledger/runtime.ts';
import { OutsideSink, Steps, tally, toolFor } from '../../support/tools/effect-sink.ts';
import type { Case, Exempt } from './case.ts';
import { RUNTIME_MEMORY } from './runtime-memory.ts';
import { exempt, MADE, PATH, PORT, takes } from './table.ts';

const none = exempt('no arguments');
const anchors = [operator.publicKey];
const folder = mkdtempSync(join(tmpdir(), 'assize-bad-input-'));
const plain = ({ name, use, id, publicKey }: any): any => ({ name, use, id, publicKey });
const known = { origin: ORIGIN, keys: [plain(LOG)] };

/** A root writ of the key that issued the others' roots: it stands above them. */
const REVOKER = writFor('warden');

/** The next version of the domain, and the options of an upgrade to it. */
const upgraded = deskOf('world', '2');
const UPGRADE = {
  migrate: () => {},
  writ: writId(REVOKER),
  principal: 'warden',
  reason: 'r',
  override: { principal: 'dr-who', method: 'test', reason: 'r' },
  dryRun: false,
};

async function world() {
  const store = new MemoryStore();
  const assize = new runtime.Assize({
    store,
    oracle: store,
    domains: [desk, upgraded],
    anchors,
    ports: { clock: new HandClock(), random: seededRandom('runtime'), pause: async () => {} },
  });
  const trajectory = await assize.create(desk, {
    trajectoryId: 't',
    writs: [granted, worker, REVOKER],
  });
  const asked = async (): Promise<string> => {
    const ruling = await trajectory.propose(intent('ask', { amount: 1 }, worker));
    return ruling.ruling === 'escalated' ? ruling.pending : '';
  };
  const watch = async (): Promise<string> =>
    JSON.stringify([
      await store.trajectories(),
      trajectory.head,
      trajectory.state(),
      trajectory.approvals.pending().length,
    ]);
  return { store, assize, trajectory, asked, watch };
}

type Made = Awaited<ReturnType<typeof world>>;

/** A call on a trajectory of its own. */
function on(
  call: (made: Made, ...args: any[]) => unknown,
  args: readonly unknown[] | ((made: Made) => readonly unknown[] | Promise<readonly unknown[]>),
  trusted: Case['trusted'] = {},
): Case {
  return {
    trusted,
    make: async () => {
      const made = await world();
      const given = typeof args === 'function' ? await args(made) : args;
      return { args: given, call: (...all) => call(made, ...all), watch: made.watch };
    },
  };
}

/** A call on a runtime with tools. An effect in its store is in doubt. */
function withDoubt(
  call: (
    made: { assize: runtime.Assize; trajectory: runtime.Trajectory },
    ...args: any[]
  ) => unknown,
  given: readonly unknown[] | ((made: { readonly committed: string }) => readonly unknown[]),
  trusted: Case['trusted'] = {},
): Case {
  return {
    trusted,
    make: async () => {
      const store = new MemoryStore();
      const outside = {
        sink: new OutsideSink('blind'),
        steps: new Steps(),
        fault: () => 'lose_before' as const,
      };
      const tools = [toolFor(outside, 'irreversible', 'buffered')];
      const assize = runtimeOver(store, [tally], { tools });
      const trajectory = await assize.create(tally, { trajectoryId: 't' });
      const options = { name: 'order 1', writ: writFor('alice'), writes: ['test:**'] };
      const { ruling } = await trajectory.transaction(options, async (tx) => {
        await tx.call('irreversible.buffered', { what: 'a' });
        tx.propose({ action: 'count', role: 'counter', args: 'order' });
      });
      const committed = ruling.ruling === 'committed' ? ruling.entry.id : '';
      const args = typeof given === 'function' ? given({ committed }) : given;
      const watch = async () =>
        JSON.stringify([await store.openEffects(), trajectory.head, outside.sink.log]);
      return { args, call: (...all) => call({ assize, trajectory }, ...all), watch };
    },
  };
}

const proposal = {
  action: 'add',
  role: { name: 'worker', params: {} },
  args: { by: 1 },
  writ: writId(worker),
  principal: 'agent',
  observations: [{ name: 'seen', value: { a: 1 }, sensitive: false }],
  idempotencyKey: 'k',
};

export const RUNTIME: Readonly<Record<string, Case | Exempt>> = {
  ...RUNTIME_MEMORY,
  'new Assize': takes(
    (options) => new runtime.Assize(options),
    () => [
      {
        store: new MemoryStore(),
        oracle: new MemoryStore(),
        domains: [desk],
        anchors,
        signer: lead,
        tools: [],
        strict: false,
        approvals: { timeoutMs: 1_000, onPending: () => undefined },
        maxClockAheadMs: 300_000,
        effects: {
          resolvers: {},
          blockTimeoutMs: 1_000,
          callTimeoutMs: 100,
          maxAttempts: 1,
          leaseMs: 1_000,
        },
        memory: { embedder: { id: 'm', dimensions: 2, embed: async () => [] } },
        ports: { clock: new HandClock(), random: seededRandom('runtime'), pause: async () => {} },
      },
    ],
    {},
  ),
  'Assize.trajectories': none,
  'Assize.newTrajectoryId': none,
  'Assize.complete': exempt('protected: what an opening does for itself'),
  'Assize.erasures': exempt('internal: reads of a server'),
  'Assize.background': exempt('internal: no arguments'),
  'Assize.findExpiries': exempt('internal: the work of a server'),
  'Assize.requireClock': exempt('internal: no arguments'),
  'Assize.rulingAt': exempt('internal: takes a row of the store'),
  'Assize.isHaltedAt': exempt('internal: takes a row of the store'),
  'MemoryView.lostOf': exempt('internal: the work of withdraw; that checks its input'),
  requestOf: exempt('internal: takes a payload that was read'),
  rulingFrom: exempt('internal: takes a row and its payload'),
  wholeRuling: exempt('internal: takes a ruling of the runtime'),
  'Assize.namesToReview': exempt('internal: no arguments'),
  'Assize.readState': exempt('internal: reads of a server'),
  'Assize.readHead': exempt('internal: reads of a server'),
  'Assize.domainAt': exempt('internal: reads of a server'),
  'Assize.pending': on(
    ({ assize }, query) => assize.pending(query),
    async ({ asked }) => {
      await asked();
      return [{ trajectoryId: 't', channel: 'md' }];
    },
  ),
  'Assize.create': on(
    ({ assize }, domain, options) => assize.create(domain, options),
    [
      desk,
      { trajectoryId: 'u', initial: desk.initial, writs: [worker], note: 'n', override: false },
    ],
  ),
  'Assize.branch': on(
    ({ assize }, source, id, options) => assize.branch(source, id, options),
    ({ trajectory }) => [
      't',
      trajectory.head,
      { trajectoryId: 'u', writs: [worker], note: 'n', override: false },
    ],
  ),
  'Assize.open': on(({ assize }, id) => assize.open(id), ['t']),
  'Assize.revoke': on(
    ({ assize }, input) => assize.revoke(input),
    [
      {
        trajectoryId: 't',
        writ: writId(worker),
        reason: 'r',
        by: writId(REVOKER),
        principal: 'warden',
      },
    ],
  ),
  'Assize.upgrade': on(
    ({ assize }, id, domain, options) => assize.upgrade(id, domain, options),
    ['t', upgraded, UPGRADE],
  ),
  'Assize.changeEntryKey': on(
    ({ store }, id, options) =>
      runtimeOver(store, [desk], { signer: lead }).changeEntryKey(id, options),
    ['t', { reason: 'r' }],
  ),
  'Assize.awaitEffects': withDoubt(
    ({ assize }, id, options) => assize.awaitEffects(id, options),
    ({ committed }) => [
      committed,
      { until: '2026-01-01T00:00:00.000000Z', signal: new AbortController().signal },
    ],
  ),
  'Assize.effects': withDoubt(
    ({ assize }, query) => assize.effects(query),
    [
      { trajectoryId: 't', epoch: 1 },
      { trajectoryId: 't', all: true, before: 7, limit: 2 },
    ],
  ),
  'Assize.recoverEffects': withDoubt(
    ({ assize }, signal) => assize.recoverEffects(signal),
    [undefined],
    {
      0: 'a signal of the platform',
    },
  ),
  'Assize.close': withDoubt(({ assize }, options) => assize.close(options), [{ recover: false }]),
  'Assize.resolveEffect': withDoubt(
    ({ assize }, resolution) => assize.resolveEffect(resolution),
    [
      {
        epoch: 1,
        n: 0,
        as: 'retry',
        by: 'ops',
        writ: operatorWrit(),
        evidence: { seen: 'nothing' },
        confirm: true,
      },
    ],
  ),
  'Trajectory.transaction': withDoubt(
    ({ trajectory }, options, body) => trajectory.transaction(options, body),
    [
      {
        name: 'n',
        writ: writFor('alice'),
        principal: 'alice',
        reads: ['other:x'],
        writes: ['other:y'],
        deadlineMs: 1_000,
        idleTimeoutMs: 1_000,
        retries: 0,
      },
      (tx: any) => tx.propose({ action: 'count', role: 'counter', args: 'next' }),
    ],
    { 1: PORT },
  ),
  'Assize.release': on(({ assize }, id) => assize.release(id), ['t']),
  'new Trajectory': exempt('made by Assize'),
  'new Approvals': exempt('made by Trajectory'),
  'new Delegations': exempt('made by Trajectory'),
  'new TrajectoryWrits': exempt('made by Trajectory'),
  'Trajectory.domain': none,
  'Trajectory.head': none,
  'Trajectory.length': none,
  'Trajectory.state': none,
  'Trajectory.refresh': none,
  'Trajectory.peek': none,
  'Approvals.pending': none,
  'TrajectoryWrits.revoked': none,
  'Delegations.origin': none,
  'Delegations.open': none,
  'Delegations.hasBegun': exempt('a start that was read from this trajectory'),
  'Delegations.complete': none,
  'TrajectoryWrits.complete': none,
  'Trajectory.reload': none,
  'Trajectory.halt': on(
    ({ trajectory }, input) => trajectory.halt(input),
    [{ writ: writId(worker), reason: 'r', principal: 'agent' }],
  ),
  'Trajectory.resume': on(
    ({ trajectory }, input) => trajectory.resume(input).catch(notHalted),
    [{ writ: writId(worker), reason: 'r', principal: 'agent' }],
  ),
  'Trajectory.adoptHalt': exempt(
    'of a trajectory below; see packages/assize/src/runtime/delegate/halt.test.ts',
  ),
  'Trajectory.completeDelegations': none,
  'Trajectory.slice': on(
    ({ trajectory }, role, params) => trajectory.slice(role, params),
    ['filer', { box: 'a' }],
  ),
  'Trajectory.sliceAt': on(
    ({ trajectory }, id, role, params) => trajectory.sliceAt(id, role, params),
    ({ trajectory }) => [trajectory.head, 'filer', { box: 'a' }],
  ),
  'Trajectory.subscribe': on(
    ({ trajectory }, role, params, listener) => trajectory.subscribe(role, params, listener),
    ['filer', { box: 'a' }, () => {}],
  ),
  'Trajectory.propose': on(({ trajectory }, input) => trajectory.propose(input), [proposal]),
  'Trajectory.propose, with writs': on(
    ({ trajectory }, input) => trajectory.propose(input),
    [{ action: 'add', role: 'worker', args: { by: 1 }, writ: { writ: worker, chain: [] } }],
  ),
  'Trajectory.judge': on(
    ({ trajectory }, input, at) => trajectory.judge(input, at),
    ({ trajectory }) => [
      { action: 'add', role: 'worker', args: { by: 1 }, writ: worker },
      trajectory.head,
    ],
  ),
  'Trajectory.withTurn': exempt(
    'time and chance of a turn (packages/agents/src/agents reads them from the oracle log); the rest is code',
  ),
  'Approvals.approve': on(
    ({ trajectory }, id, input) => trajectory.approvals.approve(id, input),
    async ({ asked, trajectory }) => {
      const id = await asked();
      const [pending] = trajectory.approvals.pending();
      const digest = runtime.digestOf((pending as any).payload.proposal);
      return [
        id,
        {
          ...DOCTOR,
          reason: 'r',
          override: true,
          digest,
          replacement: [{ op: 'add', path: '/asked', value: 1 }],
        },
      ];
    },
  ),
  'Approvals.judge': on(
    ({ trajectory }, id, input) => trajectory.approvals.judge(id, input),
    async ({ asked }) => [
      await asked(),
      { ...DOCTOR, role: { name: 'worker', params: {} }, args: { amount: 2 } },
    ],
  ),
  'Approvals.approve, with args': on(
    ({ trajectory }, id, input) => trajectory.approvals.approve(id, input),
    async ({ asked }) => [
      await asked(),
      { ...DOCTOR, role: { name: 'worker', params: {} }, args: { amount: 2 } },
    ],
  ),
  'Approvals.reject': on(
    ({ trajectory }, id, input) => trajectory.approvals.reject(id, input),
    async ({ asked }) => [await asked(), { ...DOCTOR, reason: 'r' }],
  ),
  'Approvals.statusOf': on(
    ({ trajectory }, id) => trajectory.approvals.statusOf(id),
    async ({ asked }) => [await asked()],
  ),
  'Approvals.decidersAmong': on(
    ({ trajectory }, id, principals) => trajectory.approvals.decidersAmong(id, principals),
    async ({ asked }) => [await asked(), ['doctor', 'nurse']],
  ),
  'Trajectory.rulingOf': on(
    ({ trajectory }, key, principal) => trajectory.rulingOf(key, principal),
    ['key', 'agent'],
  ),
  'Approvals.awaitDecision': on(
    ({ trajectory }, id, options) => trajectory.approvals.awaitDecision(id, options),
    async ({ asked, trajectory }) => {
      const id = await asked();
      await trajectory.approvals.reject(id, { ...DOCTOR, reason: 'r' });
      return [id, { until: START, signal: new AbortController().signal }];
    },
  ),
  'Delegations.delegate': on(
    ({ trajectory }, input) => trajectory.delegations.delegate(input),
    [{ ...task(), initial: desk.initial, nonce: 'n' }],
  ),
  'Trajectory.erase': on(
    ({ trajectory }, input) => trajectory.erase(input).catch(nothingToErase),
    ({ trajectory }) => [
      {
        at: ['/by'],
        entries: [trajectory.head],
        beliefs: [{ space: 's', subject: 'x', predicate: 'p' }],
        transactions: [],
        reason: 'r',
        writ: writId(worker),
        principal: 'agent',
      },
    ],
  ),
  'Trajectory.previewErasure': on(
    ({ trajectory }, input) => trajectory.previewErasure(input).catch(nothingToErase),
    ({ trajectory }) => [
      {
        at: ['/by'],
        entries: [trajectory.head],
        beliefs: [{ space: 's', subject: 'x', predicate: 'p' }],
        transactions: [],
        reason: 'r',
        writ: writId(worker),
        principal: 'agent',
      },
    ],
  ),
  'Trajectory.halted': none,
  'Trajectory.upgrade': on(
    ({ trajectory }, domain, options) => trajectory.upgrade(domain, options),
    [upgraded, UPGRADE],
  ),
  'TrajectoryWrits.revoke': on(
    ({ trajectory }, input) => trajectory.writs.revoke(input),
    [{ writ: writId(worker), reason: 'r', by: writId(REVOKER), principal: 'warden' }],
  ),
  'TrajectoryWrits.adopt': exempt(
    'of a trajectory below; see packages/assize/src/runtime/delegate/revoke.test.ts',
  ),
  'Delegations.conclude': {
    trusted: {},
    make: async () => {
      const { store, trajectory } = await begun();
      await trajectory.delegations.delegate(task());
      return {
        args: [openOf(trajectory), { finalAnswer: { a: 1 } }],
        call: (id, conclusion) => trajectory.delegations.conclude(id, conclusion),
        watch: async () => JSON.stringify([await store.trajectories(), trajectory.head]),
      };
    },
  },
  'Delegations.answer': {
    trusted: {},
    make: async () => {
      const { store, trajectory } = await begun();
      const child = await trajectory.delegations.delegate(task());
      return {
        args: [{ finalAnswer: { a: 1 } }],
        call: (conclusion) => child.delegations.answer(conclusion),
        watch: async () => JSON.stringify([await store.trajectories(), child.head]),
      };
    },
  },
  checkMemory: on(
    ({ store }, options) => runtime.checkMemory(store, options),
    [{ readOnly: new Map([['t', 1]]) }],
  ),
  checkObservationName: takes(runtime.checkObservationName, ['a']),
  digestOf: takes(runtime.digestOf, [{ action: 'a' }], { 0: MADE }),
  recordedToolCalls: on(({ store }, id) => runtime.recordedToolCalls(store, id), ['t']),
  'new WritHolders': exempt(PORT),
  'WritHolders.learn': takes(
    (writs) => new runtime.WritHolders(new MemoryStore()).learn(writs),
    () => [[worker]],
  ),
  'WritHolders.chainOf': takes(
    (id) => new runtime.WritHolders(new MemoryStore()).chainOf(id),
    [writId(worker)],
  ),
  listWrits: on(({ store }, id) => runtime.listWrits(store, id), ['t']),
  rebuildMemory: on(
    ({ store }, options) => runtime.rebuildMemory(store, options),
    [{ keep: false }],
  ),
  isExpired: exempt('takes a payload that the ledger has checked'),
  withdrawnSourceOf: exempt('takes a payload that the ledger has checked'),
  rulingOf: exempt(MADE),
  watched: exempt('runs the given code, in a layer that runs code of a domain'),
  isForeignEntry: on(({ store }) => runtime.isForeignEntry(store), []),
  verifyStore: on(({ store }, options) => runtime.verifyStore(store, options), [{ threads: 1 }]),
};

/** Functions of the package of audits. */
export const AUDIT: Readonly<Record<string, Case | Exempt>> = {
  auditCheckpoints: on(
    ({ store }, signed, log) => checkpoints.auditCheckpoints(store, signed, log),
    async ({ store }) => {
      const { signed } = await checkpoints.makeCheckpoint(store, { signer: LOG });
      return [[signed, signed], known];
    },
  ),
  backtest: on(
    ({ store }, id, options) => replay.backtest(store, id, options),
    ['t', { domains: [desk], instead: [deskOf('footprint')], limit: 5 }],
  ),
  backtestStore: on(
    ({ store }, options) => replay.backtestStore(store, options),
    [{ domains: [desk], instead: [deskOf('footprint')], limit: 5, trajectoryIds: ['t'] }],
  ),
  deepReplay: on(
    ({ store }, id, options) => replay.deepReplay(store, id, options),
    ['t', { domains: [desk], changedDomains: false, sources: true, limit: 5 }],
  ),
  gatewayCall: exempt(MADE),
  blastRadius: on(
    ({ store }, start, options) => blast.blastRadius(store, start, options),
    [
      { principal: 'worker', since: START, until: '2100-01-01T00:00:00.000000Z' },
      { through: ['state'] },
    ],
  ),
  deepReplayStore: on(
    ({ store }, options) => replay.deepReplayStore(store, options),
    [{ domains: [desk], changedDomains: false, limit: 5, trajectoryIds: ['t'] }],
  ),
  domainToRun: takes(replay.domainToRun as never, [
    { name: desk.name, version: desk.version, hash: desk.hash },
    { domains: [desk], changedDomains: false },
  ]),
  fileSink: takes((path) => checkpoints.fileSink(path), [join(folder, 'checkpoint')]),
  fsck: on(
    ({ store }, options) => checkpoints.fsck(store, options),
    async ({ store }) => {
      const { signed } = await checkpoints.makeCheckpoint(store, { signer: LOG });
      const verdict = openCheckpoint(signed, known);
      return [{ checkpoint: verdict.valid ? { ...verdict.checkpoint } : undefined, threads: 1 }];
    },
  ),
  httpWitness: takes(
    (options) => checkpoints.httpWitness(options),
    [{ url: 'https://witness.example/', key: plain(WITNESSES[0]), timeoutMs: 100 }],
  ),
  makeCheckpoint: on(
    ({ store }, options) => checkpoints.makeCheckpoint(store, options),
    async ({ store }) => {
      await integrateLog(store);
      return [{ signer: { ...LOG }, witnesses: [], sinks: [] }];
    },
  ),
  makeBundle: on(
    ({ store }, options) => bundle.makeBundle(store, options),
    async ({ store }) => {
      const { signed } = await checkpoints.makeCheckpoint(store, { signer: LOG });
      const scope = {
        kind: 'period',
        from: '2000-01-01T00:00:00.000000Z',
        to: '2100-01-01T00:00:00.000000Z',
      };
      return [
        {
          scope,
          checkpoint: signed,
          logKey: plain(LOG),
          witnesses: [plain(WITNESSES[0])],
          madeAt: START,
        },
      ];
    },
  ),
  verifyBundle: on(
    (_made, zip, options) => bundle.verifyBundle(zip, options),
    [new Uint8Array([80, 75]), { logKey: plain(LOG), witnesses: [plain(WITNESSES[0])] }],
  ),
  proveEntry: on(
    ({ store }, id, signed, log) => checkpoints.proveEntry(store, id, signed, log),
    async ({ store, trajectory }) => {
      const { signed } = await checkpoints.makeCheckpoint(store, { signer: LOG });
      return [trajectory.head, signed, known];
    },
  ),
  readCheckpoint: on(
    (_made, signed, log, witnesses) => checkpoints.readCheckpoint(signed, log, witnesses),
    async ({ store }) => {
      const { signed } = await checkpoints.makeCheckpoint(store, { signer: LOG });
      return [signed, known, [plain(WITNESSES[0])]];
    },
  ),
  readCheckpointFile: takes(checkpoints.readCheckpointFile, [join(folder, 'none')], { 0: PATH }),
  requireContinuation: on(
    ({ store }, checkpoint) => checkpoints.requireContinuation(store, checkpoint),
    async ({ store }) => {
      const { signed } = await checkpoints.makeCheckpoint(store, { signer: LOG });
      const verdict = openCheckpoint(signed, known);
      return [verdict.valid ? { ...verdict.checkpoint } : undefined];
    },
  ),
  streamSink: exempt(PORT),
  requireLogged: exempt('internal: the first step of verifyLogged below'),
  verifyLogged: on(
    ({ store }, positions, options) => checkpoints.verifyLogged(store, positions, options),
    async ({ store }) => [{ from: 0, to: await integrateLog(store) }, {}],
  ),
};

/** The trajectory is not halted. */
function notHalted(error: { code?: string }): void {
  if (error.code !== 'already_done') throw error;
}

function nothingToErase(error: unknown): void {
  if ((error as { code?: unknown }).code !== 'nothing_to_erase') throw error;
}
