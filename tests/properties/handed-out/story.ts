/** The days of a shop, in any order of their chapters. Together they make every public call. */
import fc from 'fast-check';
import * as index from '../../../packages/assize/src/public/index.ts';
import type { Place } from '../../support/ledger/stores.ts';
import { approvals } from './chapters/approvals.ts';
import { audits } from './chapters/audits.ts';
import { endings } from './chapters/endings.ts';
import { memories } from './chapters/memories.ts';
import { proposals } from './chapters/proposals.ts';
import { relatives } from './chapters/relatives.ts';
import { messages, runs } from './chapters/runs.ts';
import { transactions } from './chapters/transactions.ts';
import { values } from './chapters/values.ts';
import type { Hands } from './hands.ts';
import type { Freeze } from './shop.ts';
import { openShop } from './stage.ts';

const MIDDLE = { values, transactions, approvals, memories, relatives, runs, messages } as const;
export type Chapter = keyof typeof MIDDLE;
export const CHAPTERS = Object.keys(MIDDLE) as readonly Chapter[];

/** The parts of a run that differ between runs. */
export interface Plan {
  readonly freeze: Freeze;
  /** The chapters between the first proposals and the last audits. */
  readonly order: readonly Chapter[];
}

export const plans: fc.Arbitrary<Plan> = fc.record({
  freeze: fc.constantFrom('world', 'footprint', 'reserve'),
  order: fc.shuffledSubarray([...CHAPTERS], { minLength: CHAPTERS.length }),
});

/** The content of the store after a run, and the faults that the last checks find. */
export interface Remains {
  readonly rows: readonly (readonly unknown[])[];
  readonly states: readonly unknown[];
  /** The states after the store was closed and opened again. */
  readonly statesAgain: readonly unknown[];
  readonly faults: readonly unknown[];
}

/** `place`: an empty store. */
export async function story(
  hands: Hands,
  { freeze, order }: Plan,
  place: Pick<Place, 'open'>,
): Promise<Remains> {
  const store = await place.open();
  const stage = await openShop(hands, store, freeze);
  await proposals(stage);
  for (const chapter of order) await MIDDLE[chapter](stage);
  await endings(stage);
  const faults = await audits(stage);
  const { assize, options } = stage;
  const ids = (await store.trajectories()).map(({ trajectory_id }) => trajectory_id);
  const rows = await Promise.all(ids.map((id) => store.entries(id, { limit: 1_000 })));
  const states = await statesOf(assize, ids);
  void assize.newTrajectoryId();
  for (const id of ids) assize.release(id);
  await assize.close();
  await store.close();

  const opened = await place.open();
  const next = new index.Assize({ ...options, store: opened, oracle: opened, snapshots: opened });
  const statesAgain = await statesOf(next, ids);
  await next.close();
  await opened.close();
  return { rows, states, statesAgain, faults };
}

async function statesOf(assize: index.Assize, ids: readonly string[]): Promise<readonly unknown[]> {
  const states: unknown[] = [];
  for (const id of ids) states.push((await assize.open(id)).state());
  return states;
}
