/**
 * Values that an action derived from its statements and wrote into the state are erased with them,
 * or their entries are named.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fsck } from '@assize/audit/internal/checkpoints';
import { exportLines } from '@assize/audit/internal/export';
import { deepReplay } from '@assize/audit/internal/replay';
import { afterAll, describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { isErased } from '#kernel';
import { type EntryRow, type ErasureArgs, integrateLog, Replayer, type SnapshotRow } from '#ledger';
import { openStore, type Store } from '#stores';
import { committed } from '../../../../../tests/support/clinic/mentions-of-patient.ts';
import { scales } from '../../../../../tests/support/clinic/scales.ts';
import { HandClock, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import type { Assize } from '../assize.ts';
import { verifyStore } from '../inspect/verify.ts';
import type { ErasureRuling } from '../records/erasure-input.ts';
import type { Ruling } from '../records/ruling.ts';
import type { Trajectory } from '../trajectory.ts';
import { foldTrajectory } from '../writer/load/fold.ts';
import { snapshotOf } from '../writer/snapshots/snapshot.ts';
import type { Memory } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-erase-written-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WHO = 'Zqwho';
const HERS = [WHO, 'zq81', 'zq79', '81000', '79000'];
const writ = writFor('nurse');
const officer = writFor('officer', { actions: ['assize.erase'], scopes: ['erase:memory:ward'] });
let files = 0;

interface Ward {
  readonly url: string;
  readonly store: Store;
  readonly clock: HandClock;
  readonly assize: Assize;
  readonly trajectory: Trajectory;
  readonly memory: Memory;
}

interface State {
  readonly cards: Readonly<Record<string, Json>>;
  readonly queue: readonly Json[];
  readonly board: Readonly<Record<string, Json>>;
}

async function begun(kind: string): Promise<Ward> {
  const url = kind === 'memory' ? 'memory:' : `sqlite:${join(folder, `${++files}.db`)}`;
  const store = await openStore(url);
  const clock = new HandClock();
  const assize = runtimeOver(store, [scales], { ports: { clock } });
  const trajectory = (await assize.create(scales, {
    trajectoryId: 't',
    writs: [writ],
  })) as Trajectory;
  return {
    url,
    store,
    clock,
    assize,
    trajectory,
    memory: trajectory.memory({ space: 'ward', writ: officer }),
  };
}

const does = (
  trajectory: Trajectory,
  action: string,
  args: object,
  more: object = {},
): Promise<Ruling> => trajectory.propose({ action, role: 'nurse', args, writ, ...more });

const did = async (trajectory: Trajectory, action: string, args: object): Promise<EntryRow> =>
  (await committed(does(trajectory, action, args))).entry;

const stateOf = (trajectory: Trajectory): State => trajectory.state() as unknown as State;

const erasing = (
  memory: Memory,
  narrower: object = {},
): Promise<ErasureRuling & { readonly ruling: 'committed' }> =>
  committed(memory.erase({ subject: WHO, reason: 'request 17', ...narrower }));

const argsOf = ({ payload }: EntryRow): ErasureArgs => JSON.parse(payload).action.args;

/** All rows of the store, its snapshots, and for a file its bytes, including deleted rows. */
async function everything({ store, url }: Ward): Promise<string> {
  await integrateLog(store);
  let text = JSON.stringify((await store.snapshot('t')) ?? {});
  for await (const line of exportLines(store)) text += line;
  if (!url.startsWith('sqlite:')) return text;
  const file = url.slice('sqlite:'.length);
  for (const name of readdirSync(folder).filter((each) => join(folder, each).startsWith(file)))
    text += readFileSync(join(folder, name)).toString('latin1');
  return text;
}

const foundIn = (text: string, secrets: readonly string[] = HERS): string[] =>
  secrets.filter((secret) => text.includes(secret));

async function snapped({ store }: Ward): Promise<SnapshotRow> {
  const row = snapshotOf(await foldTrajectory('t', new Replayer(store), store)) as SnapshotRow;
  await store.putSnapshot(row, await store.erasures());
  return row;
}

/** The chains verify, replay and snapshot give the same state, and all rulings are the same. */
async function expectSound(ward: Ward): Promise<void> {
  const { store, trajectory } = ward;
  for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
  const opened = async (): Promise<Json> => {
    const again = await runtimeOver(store, [scales], { ports: { clock: ward.clock } }).open(
      't',
      scales,
    );
    return again.state() as Json;
  };
  expect(await opened()).toEqual(trajectory.state());
  await snapped(ward);
  expect(await opened()).toEqual(trajectory.state());
  expect(await fsck(store)).toMatchObject({ valid: true, faults: [] });
  for (const { trajectory_id } of await store.trajectories())
    expect(await deepReplay(store, trajectory_id, { domains: [scales] })).toMatchObject({
      same: true,
      differences: [],
    });
}

describe.each(['memory', 'sqlite'])('on %s', (kind) => {
  test('erased values leave state, snapshot and stored bytes; the rest is intact', async () => {
    const ward = await begun(kind);
    const { store, trajectory, memory } = ward;
    await did(trajectory, 'weigh', { at: 'a', patient: WHO, weight: 'zq81' });
    await did(trajectory, 'weigh', { at: 'b', patient: 'p8', weight: '70 kg' });
    await did(trajectory, 'weigh', { at: 'c', patient: WHO, weight: 'zq79' });
    const { text } = await snapped(ward);
    expect(foundIn(text)).toEqual(HERS);
    const before = stateOf(trajectory);
    const { remaining, unmarked, entry } = await erasing(memory);
    expect([remaining, unmarked]).toEqual([[], []]);
    expect(await store.snapshot('t')).toBe(undefined);
    expect(foundIn(await everything(ward))).toEqual([]);
    const { cards, queue } = stateOf(trajectory);
    expect(Object.values(cards).map(isErased)).toEqual([true, false, true]);
    expect(queue.map(isErased)).toEqual([true, false, true]);
    expect([cards['b'], queue[1]]).toEqual([before.cards['b'], before.queue[1]]);
    // As the arguments of an erasure name them.
    const places = argsOf(entry).values.flatMap(({ path = [] }) => path);
    expect(places.sort()).toEqual(['/cards/a', '/cards/c', '/queue/0', '/queue/2']);
    await expectSound(ward);
    expect(foundIn(await everything(ward))).toEqual([]);
    await did(trajectory, 'weigh', { at: 'a', patient: WHO, weight: 'zq81' });
    await erasing(memory);
    expect(foundIn(await everything(ward))).toEqual([]);
    await expectSound(ward);
    await store.close();
  });

  test('overwritten, extended or moved values are erased; other writers’ stay', async () => {
    const ward = await begun(kind);
    const { trajectory, memory } = ward;
    await did(trajectory, 'weigh', { at: 'z', patient: 'p8', weight: '70 kg' });
    for (const [at, weight] of [
      ['overwritten', 'zq81'],
      ['seen', 'of zq79'],
    ] as const)
      await did(trajectory, 'weigh', { at, patient: WHO, weight });
    await did(trajectory, 'weigh', { at: 'last', patient: 'p9', weight: '60 kg' });
    await did(trajectory, 'clear', { at: 'overwritten' });
    for (let twice = 0; twice < 2; twice++) await did(trajectory, 'next', {});
    await did(trajectory, 'see', { at: 'seen' });
    await did(trajectory, 'see', { at: 'z' });
    expect(foundIn(await everything(ward))).toEqual([WHO, 'zq81', 'zq79', '81000', '79000']);
    expect((await erasing(memory)).remaining).toEqual([]);
    expect(foundIn(await everything(ward))).toEqual([]);
    const { cards, queue } = stateOf(trajectory);
    expect(cards).toMatchObject({
      z: { text: 'p8 weighs 70 kg', seen: true },
      overwritten: { text: 'a card for somebody' },
      seen: { $erased: expect.any(String) },
      last: { text: 'p9 weighs 60 kg' },
    });
    expect(queue).toEqual([{ $erased: expect.any(String) }, 'p9 is at the scales']);
    await expectSound(ward);
  });

  test.each(['predicate', 'claim'])(
    'erasing a %s erases the state written by its assertion',
    async (what) => {
      const ward = await begun(kind);
      const { trajectory, memory } = ward;
      await did(trajectory, 'weigh', { at: 'a', patient: WHO, weight: 'zq81' });
      await did(trajectory, 'weigh', { at: 'b', patient: 'p8', weight: 'zq81' });
      await did(trajectory, 'weigh', { at: 'c', patient: WHO, weight: 'zq79' });
      const facts = await memory.recall({ subject: WHO, kind: 'all', valid: 'any', system: 'any' });
      const claim = facts.facts.find(({ object }) => object === 'zq81')!.lineage;
      await erasing(memory, { predicate: 'weight', ...(what === 'claim' && { claim }) });
      const { cards } = stateOf(trajectory);
      expect(Object.values(cards).map(isErased)).toEqual([true, false, what === 'predicate']);
      expect(cards['b']).toMatchObject({ text: 'p8 weighs zq81' });
      await expectSound(ward);
    },
  );

  test('unmarked values stay, and their entries are reported', async () => {
    const ward = await begun(kind);
    const { trajectory, memory } = ward;
    const post = (at: string, shown: string | number, weight = 'zq81', patient = WHO) =>
      did(trajectory, 'post', { at, patient, weight, shown });
    const [, object, subject, figure, , name] = [
      await post('nothing of it', 'weighed'),
      await post('b', 'it is zq81'),
      await post('c', WHO),
      await post('d', 81000, '81000'),
      await post('e', 8130),
      await post(`of ${WHO}`, 'weighed'),
      await post('g', 'it is zq81', 'zq79', 'p8'),
    ];
    const { remaining, unmarked } = await erasing(memory);
    expect(remaining).toEqual(['t']);
    expect(unmarked).toEqual([object, subject, figure, name].map((entry) => entry!.id));
    const { cards, board } = stateOf(trajectory);
    expect(Object.values(cards).filter(isErased)).toHaveLength(6);
    expect(board).toMatchObject({ b: 'it is zq81', c: WHO, d: 81000, g: 'it is zq81' });
    await expectSound(ward);
    await expect(memory.erase({ subject: WHO, reason: 'again' })).rejects.toMatchObject({
      code: 'nothing_to_erase',
    });
  });

  test('a branch loses inherited values with its source and erases its own ones', async () => {
    const ward = await begun(kind);
    const { store, assize, trajectory, memory } = ward;
    await did(trajectory, 'weigh', { at: 'a', patient: WHO, weight: 'zq81' });
    const branch = await assize.branch('t', trajectory.head, {
      trajectoryId: 'b',
      note: 'what if',
      writs: [writ],
    });
    await did(branch as Trajectory, 'weigh', { at: 'c', patient: WHO, weight: 'zq79' });
    expect((await erasing(memory)).remaining).toEqual(['b']);
    const cardsIn = async (): Promise<boolean[]> => {
      const again = await runtimeOver(store, [scales], { ports: { clock: ward.clock } }).open(
        'b',
        scales,
      );
      expect(again.state()).toEqual(branch.state());
      return Object.values(stateOf(again as Trajectory).cards).map(isErased);
    };
    expect(await cardsIn()).toEqual([true, false]);
    // The statement contradicts an earlier one, and the witness has both.
    expect(foundIn(await everything(ward))).toEqual([WHO, 'zq81', 'zq79', '79000']);
    expect(
      (await erasing((branch as Trajectory).memory({ space: 'ward', writ: officer }))).remaining,
    ).toEqual([]);
    expect(await cardsIn()).toEqual([true, true]);
    expect(foundIn(await everything(ward))).toEqual([]);
    await expectSound(ward);
  });

  test('a pending proposal loses erased values and freezes erasures of its paths', async () => {
    const ward = await begun(kind);
    const { trajectory, memory } = ward;
    const careful = { writ: writFor('careful', { require_approval: ['weigh'] }) };
    const asked = await does(
      trajectory,
      'weigh',
      { at: 'a', patient: WHO, weight: 'zq81' },
      careful,
    );
    if (asked.ruling !== 'escalated') throw new Error(asked.ruling);
    expect(foundIn(await everything(ward))).toEqual([WHO, 'zq81', '81000']);
    await erasing(memory);
    expect(foundIn(await everything(ward))).toEqual([]);
    const doctor = { principal: 'dr house', method: 'test' };
    await expect(trajectory.approvals.approve(asked.pending, doctor)).rejects.toMatchObject({
      code: 'erased',
    });
    await trajectory.approvals.reject(asked.pending, { ...doctor, reason: 'gone' });
    await did(trajectory, 'weigh', { at: 'a', patient: WHO, weight: 'zq79' });
    const other = await does(
      trajectory,
      'weigh',
      { at: 'b', patient: 'p8', weight: '70 kg' },
      careful,
    );
    if (other.ruling !== 'escalated') throw new Error(other.ruling);
    const again = () => memory.erase({ subject: WHO, reason: 'request 18' });
    expect(await again()).toMatchObject({ ruling: 'frozen', by: other.pending });
    await trajectory.approvals.reject(other.pending, { ...doctor, reason: 'no' });
    await committed(again());
    expect(foundIn(await everything(ward))).toEqual([]);
    await expectSound(ward);
  });
});

test('an erasure over several entries is complete and names earlier findings', async () => {
  const ward = await begun('memory');
  const { store, trajectory, memory } = ward;
  const { id } = await did(trajectory, 'stack', {
    at: 'a',
    patient: WHO,
    weight: 'zq81',
    cards: 2_001,
  });
  await did(trajectory, 'see', { at: 'a 0' });
  await did(trajectory, 'see', { at: 'a 2000' });
  const { remaining, unmarked } = await erasing(memory);
  expect([remaining, unmarked]).toEqual([['t'], [id]]);
  const erasures = (await store.entries('t')).filter(({ payload }) =>
    payload.includes('"name":"assize.erase"'),
  );
  expect(erasures).toHaveLength(2);
  expect(Object.values(stateOf(trajectory).cards).every(isErased)).toBe(true);
  expect(foundIn(await everything(ward))).toEqual(['zq81']);
  await expectSound(ward);
});
