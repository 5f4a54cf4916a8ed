import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { canonicalize, type Instant } from '#canon';
import { exportLines } from '#export';
import {
  checkRow,
  type EntryRow,
  type ErasureArgs,
  type FactStore,
  type FactVersion,
  type FactWrite,
  factWrites,
  integrateLog,
  ValueReader,
} from '#ledger';
import { deepReplay } from '#replay';
import {
  type Assize,
  type ErasureRuling,
  type Memory,
  type Trajectory,
  verifyStore,
} from '#runtime';
import type { Store } from '#stores';
import { HandClock, runtimeOver, writFor } from '../ledger/runtime.ts';
import type { Stores } from '../ledger/stores.ts';
import { clinic } from './clinic.ts';
import { WHO } from './mentions-of-patient.ts';

export const writ = writFor('nurse');
export const officer = writFor('officer', {
  actions: ['assize.erase'],
  scopes: ['erase:memory:ward'],
});
export const doctor = { principal: 'dr house', method: 'test' };
export const day = (text: string): Instant => `${text}T00:00:00.000000Z`;

export interface Ward {
  readonly url: string;
  readonly store: Store & FactStore;
  readonly clock: HandClock;
  readonly assize: Assize;
  readonly trajectory: Trajectory;
  readonly memory: Memory;
}

export async function begun({ newPlace }: Stores): Promise<Ward> {
  const place = newPlace();
  const { url } = place;
  const store = await place.open();
  const clock = new HandClock();
  const assize = runtimeOver(store, [clinic], { ports: { clock } });
  const trajectory = (await assize.create(clinic, {
    trajectoryId: 't',
    writs: [writ],
  })) as Trajectory;
  return {
    url,
    store,
    clock,
    assize,
    trajectory,
    memory: trajectory.memory({ space: 'ward', writ }),
  };
}

export async function exported(store: Store): Promise<string> {
  await integrateLog(store);
  let text = '';
  for await (const line of exportLines(store)) text += line;
  return text;
}

export async function rowsOf(
  store: FactStore,
  space = 'ward',
  more: object = {},
): Promise<FactVersion[]> {
  return store.facts({ space, kind: 'all', limit: 10_000, ...more });
}

/** All that the store has, and, of a file, its bytes: also what is not a row any more. */
export async function everything({ store, url }: Ward): Promise<string> {
  let text = await exported(store);
  for (const space of await store.spaces()) text += JSON.stringify(await rowsOf(store, space));
  if (!url.startsWith('sqlite:')) return text;
  const file = url.slice('sqlite:'.length);
  const folder = dirname(file);
  for (const name of readdirSync(folder).filter((each) => join(folder, each).startsWith(file)))
    text += readFileSync(join(folder, name)).toString('latin1');
  return text;
}

export function foundIn(text: string, secrets: readonly string[]): string[] {
  return secrets.filter(
    (secret) => text.includes(secret) || text.includes(Buffer.from(secret).toString('latin1')),
  );
}

/** The facts as rebuilt from the ledger. */
export async function rebuilt(store: Store & FactStore): Promise<void> {
  const writes: FactWrite[] = [];
  for (const { trajectory_id } of await store.trajectories())
    for (const row of await store.entries(trajectory_id))
      writes.push(...(await factWrites(checkRow(row), new ValueReader(store))));
  await store.rebuildFacts(
    (async function* () {
      yield writes.sort((a, b) => a.version - b.version);
    })(),
  );
}

export async function expectSound({ store }: Ward): Promise<void> {
  for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
  for (const { trajectory_id } of await store.trajectories())
    expect(await deepReplay(store, trajectory_id, { domains: [clinic] })).toMatchObject({
      same: true,
      differences: [],
    });
  expect((await store.selfCheck?.()) ?? []).toEqual([]);
  const spaces = await store.spaces();
  const before = await Promise.all(spaces.map((space) => rowsOf(store, space)));
  await rebuilt(store);
  expect(await store.spaces()).toEqual(spaces);
  expect(await Promise.all(spaces.map((space) => rowsOf(store, space)))).toEqual(before);
}

export const erasing = (trajectory: Trajectory, place: object): Promise<ErasureRuling> =>
  trajectory.erase({
    beliefs: [{ space: 'ward', subject: WHO, ...place }],
    reason: 'request 17',
    writ: officer,
  });

export function gone(hash: string): string {
  return canonicalize({ $erased: hash });
}

/** The arguments of an erasure. */
export function argsOf(entry: EntryRow): ErasureArgs {
  return JSON.parse(entry.payload).action.args;
}

/** Hashes of the names that an erasure says it was asked for. */
export function namesIn(entry: EntryRow): string[] {
  return argsOf(entry).beliefs!.flatMap(({ partitions }) => partitions);
}
