/**
 * The facts of the memory benchmarks: a ward that asserts its patients' medication, through
 * proposals of `assize.believe`.
 */
import { Assize, type Domain, defineDomain, generateKeys, openStore } from 'assize';
import type { Memory } from 'assize/memory';
import { z } from 'zod';
import type { Store } from '#stores';
import { benchWrit } from './shop.ts';

const ward = defineDomain({
  name: 'bench-ward',
  version: '1',
  state: z.object({}),
  initial: {},
  processes: {},
  roles: {},
  actions: {},
  invariants: [],
  memory: {
    predicates: {
      takes: { cardinality: 'single-valued', strategy: 'lww' },
      fresh: { cardinality: 'single-valued', strategy: 'lww' },
    },
  },
});

export interface Ward {
  readonly store: Store;
  /** One for each writer, in a trajectory of its own. */
  readonly memories: readonly [Memory, ...Memory[]];
  /** Patients with existing facts. */
  readonly facts: number;
  close(): Promise<void>;
}

export interface WardOptions {
  readonly facts?: number;
  readonly writers?: number;
  /** `off` if nothing is timed. */
  readonly durability?: 'full' | 'off';
}

const BATCH = 500;

export async function openWard(
  url: string,
  { facts = 0, writers = 1, durability = 'full' }: WardOptions = {},
): Promise<Ward> {
  const store: Store = await openStore(url, { durability });
  const keys = generateKeys();
  const assize = new Assize({ store, domains: [ward as Domain], anchors: [keys.publicKey] });
  const memories: Memory[] = [];
  for (let n = 0; n < writers; n++) {
    const writ = benchWrit(keys, `t${n}`, ['**'], ['**']);
    const trajectory = await assize.create(ward as Domain, {
      trajectoryId: `t${n}`,
      writs: [writ],
    });
    memories.push(trajectory.memory({ space: 'bench', writ }));
  }
  for (let from = 0; from < facts; from += BATCH)
    await believed(
      memories[0]!.assertMany(
        Array.from({ length: Math.min(BATCH, facts - from) }, (_, i) =>
          said(from + i, `drug ${from + i}`),
        ),
      ),
    );
  return {
    store,
    memories: memories as [Memory, ...Memory[]],
    facts,
    close: async () => {
      await assize.close();
      await store.close();
    },
  };
}

/**
 * The statement on a patient, valid from the same day in every trajectory, so each contradicts the
 * earlier ones.
 */
export function said(patient: number | string, object: string, predicate = 'takes') {
  return {
    subject: `patient ${patient}`,
    predicate,
    object,
    valid: { from: '2026-01-01T00:00:00.000000Z' },
  };
}

/** @throws if the proposal does not commit */
export async function believed(ruling: ReturnType<Memory['assert']>): Promise<void> {
  const answer = await ruling;
  if (answer.ruling !== 'committed') throw new Error(`unexpected: ${JSON.stringify(answer)}`);
}
