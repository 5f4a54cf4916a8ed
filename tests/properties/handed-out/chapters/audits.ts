/** Every check of a ledger, and every read of its store. */

import { MemoryStore } from '@assize/testing/memory';
import { generateKeys } from '#canon';
import { budget } from '#domains/budget';
import { readRules } from '#domains/gateway';
import { incident } from '#domains/incident';
import { signerKey } from '#merkle';
import { listingKeyOf } from '#oracle';
import * as audit from '../../../../packages/audit/src/public/audit.ts';
import { HandClock, runtimeOver, writFor } from '../../../support/ledger/runtime.ts';
import type { Stage } from '../stage.ts';

/** The faults that the checks find. */
export async function audits(stage: Stage): Promise<readonly unknown[]> {
  await checkpoints(stage);
  await copies(stage);
  const faults = [...(await checks(stage)), ...(await checks(stage))];
  await rows(stage);
  await rows(stage);
  stage.hands.useKeptViews();
  return faults;
}

async function checkpoints({ hands, on, library, store }: Stage): Promise<void> {
  const signer = signerKey(
    'example.com/shop',
    'note',
    generateKeys(new Uint8Array(32).fill(1)).privateKey,
  );
  const log = { origin: signer.name, keys: [signer] };
  const sinks = [{ put: on('CheckpointSink.put', async () => undefined) }];
  const onProgress = on('onProgress', () => undefined);
  const beforeSigning = on('CheckpointOptions.beforeSigning', async () => undefined);
  const cosign = on(
    'Witness.cosign',
    async (given: string, _size: number, proofFrom: (old: number) => Promise<unknown>) => {
      await hands.library('proofFrom', proofFrom)(1);
      return given;
    },
  );
  const key = signerKey(
    'example.com/witness',
    'cosignature',
    generateKeys(new Uint8Array(32).fill(2)).privateKey,
  );
  await library.integrateLog(store);
  const { signed } = await library.makeCheckpoint(store, {
    ...{ signer, sinks, onProgress, beforeSigning },
    witnesses: [{ key, cosign }],
  });
  library.readCheckpoint(signed, log);
  await library.auditCheckpoints(store, [signed, signed], log);
  const [first] = await store.entries('shop');
  await library.proveEntry(store, first!.id, signed, log);
  await library.verifyLogged(store, { from: 0, to: 3 });
  const scope = { kind: 'entry', entry: first!.id } as const;
  const made = await library.makeBundle(store, {
    scope,
    checkpoint: signed,
    logKey: signer,
    madeAt: new Date(0),
  });
  await library.verifyBundle(made.zip, { logKey: signer });
}

async function copies({ library, store }: Stage): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of library.exportLines(store)) chunks.push(Buffer.from(chunk));
  await library.importLines(new MemoryStore(), library.splitLines(iterated(chunks)));
}

async function checks({ on, library, store, domains, policy }: Stage): Promise<readonly unknown[]> {
  const onProgress = on('onProgress', () => undefined);
  const over = { domains, oracle: store, policy, onProgress };
  await library.backtest(store, 'shop', over);
  await library.backtestStore(store, over);
  const rule = { list: 'rules', value: { id: 'none', deny: 'bank/pay' }, isExact: true } as const;
  const { rules } = readRules('id: team\ndefault: allow\n', 'team');
  await library.backtestRules(store, [rule], { trajectoryIds: [], rules, onProgress });
  await library.listWrits(store, 'shop');
  await library.blastRadius(
    store,
    { principal: 'agent:a' },
    { through: ['state', 'recall'], onProgress },
  );
  await library.makeReport(store, { onProgress });
  await incidents({ on, library });
  // A report of the library is already changed here.
  library.reportHtml(await audit.makeReport(store));
  library.reportMarkdown(await audit.makeReport(store));
  await library.rebuildMemory(store);
  const reports = [
    ...(await library.verifyStore(store, { onProgress })),
    await library.verifyTrajectory(new audit.Replayer(store), 'shop'),
    await library.fsck(store),
    await library.checkMemory(store),
  ];
  const replays = [
    await library.deepReplay(store, 'shop', over),
    ...(await library.deepReplayStore(store, over)),
  ];
  return [...reports.filter(({ valid }) => !valid), ...replays.filter(({ same }) => !same)];
}

/** A response in a ledger of its own, because its revocations would end the shop. */
async function incidents({ on, library }: Pick<Stage, 'on' | 'library'>): Promise<void> {
  const store = new MemoryStore();
  const assize = runtimeOver(store as never, [budget, incident], {
    ports: { clock: new HandClock() },
  });
  const bad = writFor('agent:bad');
  const trajectory = await assize.create(budget, { trajectoryId: 't', writs: [bad] });
  const role = { name: 'spender', params: { agent: 'ada' } } as const;
  await trajectory.propose({ action: 'spend', role, args: { amount: 5 }, writ: bad } as never);
  const radius = () => audit.blastRadius(store, { principal: 'agent:bad' });
  await library.planResponse(store, await radius());
  const office: audit.WritFor = async (action, scope) =>
    writFor('human:ops', { actions: [action], scopes: [scope] });
  // A plan that the library got or gave is changed afterwards.
  const opening = async () => {
    const plan = await audit.planResponse(store, await radius());
    return { plan, because: 'b', openedBy: 'human:ops', writFor: office };
  };
  await library.openIncident(assize, await opening());
  const { incident: id, pending } = await audit.openIncident(assize, await opening());
  const approval = { principal: 'human:ida', method: 'test' };
  await (await assize.open('incidents')).approvals.approve(pending!, approval);
  const onStep = on('CarryOut.onStep', () => undefined);
  await library.carryOut(assize, store, { incident: id, writFor: office, onStep });
  const done = await audit.carryOut(assize, store, { incident: id, writFor: office });
  await library.affectedSince(store, done.incident);
}

async function rows({ hands, on, library, store, assize }: Stage): Promise<void> {
  const watched: any = hands.watched(store, 'Store');
  await assize.trajectories();
  const [row] = await watched.entries('shop');
  library.readRow(row);
  library.checkRow(row);
  const { id } = row;
  await watched.head('shop');
  await watched.resolve(id);
  await watched.find(id.slice(0, 8));
  await watched.trajectories();
  await watched.unlogged(2);
  await watched.logged(0, 2);
  await watched.logNodes(0, 0, 2);
  await watched.logIndex(id);
  await watched.logSize();
  await watched.blob(id);
  await watched.erasedBy(id);
  await watched.erasures();
  await watched.listEffects({ limit: 10 });
  await watched.openEffects();
  const [transaction] = await watched.listEffects({ limit: 1 });
  await watched.effectsOf(transaction.epoch);
  await watched.effectKey(id);
  await watched.hasEffectLog();
  await watched.adopted(id);
  await watched.adopt({
    at: row.at ?? '2026-03-23T09:00:00.000000Z',
    reason: 'moved',
    roots: [id],
  });
  await watched.trajectoriesToReview?.();
  await watched.facts({ space: 'ward' });
  const [fact] = await watched.facts({ space: 'ward', limit: 1 });
  const { space, subject, predicate } = fact;
  await watched.partition({ space, subject, predicate });
  await watched.factsByText({ space, text: 'flu', limit: 5 });
  await watched.factsByVector({
    space,
    embedder: 'letters',
    vector: Float32Array.of(3, 1),
    limit: 5,
  });
  await watched.textsToEmbed('letters', space, 5);
  await watched.claimKey();
  await watched.spaces();
  await watched.branches();
  await watched.branchPartitions({ space, branch: 'branch', limit: 5 });
  await watched.snapshot('shop');
  await store.sidePut([{ kind: 'token', key: 'a', expected: null, body: '1' }]);
  await watched.sideGet('token', 'a');
  await watched.sideList('token', { limit: 5 });
  await watched.oracleWithin(listingKeyOf({ kind: 'memory', space }), { limit: 5 });
  await watched.oracleErased({ limit: 5 });
  await watched.oracleGet(id);
  await watched.commit({ entries: [], blobs: [] });
  await watched.selfCheck?.();
  const read = on('FactStore.read', (facts: any) =>
    hands.library('FactReads.facts', facts.facts)({ space }),
  );
  await watched.withReadSnapshot?.(read);
}

async function* iterated<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
