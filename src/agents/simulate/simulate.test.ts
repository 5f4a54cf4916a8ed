import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '#base';
import { canonicalize } from '#canon';
import { declareTool, type Tool } from '#effects';
import { defineDomain } from '#kernel';
import { createOracle, type OracleStore, seededRandom, turnKey } from '#oracle';
import { MemoryStore } from '#stores';
import { chief, desk, newsroom } from '../../../tests/support/ledger/newsroom.ts';
import { allEntries } from '../../../tests/support/ledger/desk.ts';
import { HandClock, operator, runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { Bank, LIMIT, payments } from '../../../tests/support/tools/bank.ts';
import { type Agent, replayRun, runAgents } from '../index.ts';
import { type SampleResult, type SimulateOptions, simulate, type Variant } from './index.ts';

const anchors = [operator.publicKey];

/** Everything that a store in memory has of a trajectory, as one text. */
async function bytesOf(store: MemoryStore, trajectoryId: string): Promise<string> {
  const turns: Json[] = [];
  for (let n = 0; ; n++) {
    const row = await store.oracleGet(turnKey(trajectoryId, n));
    if (row === undefined) break;
    turns.push(row as unknown as Json);
  }
  const entries = await allEntries(store, trajectoryId);
  const effects = await store.listEffects({ limit: 1_000 });
  return JSON.stringify([entries, effects, turns, await store.trajectories()]);
}

/** A source of which every method that writes throws. */
function readOnly(store: MemoryStore): MemoryStore {
  const writes = /^(commit|oraclePut|logEffects|leaseEffects|joinEffects|adopt|side|put|drop|rebuild|keep|integrate)/;
  return new Proxy(store, {
    get: (_, name) => {
      if (writes.test(String(name)))
        return () => {
          throw new Error(`the source was written: ${String(name)}`);
        };
      const member = Reflect.get(store, name) as unknown;
      return typeof member === 'function' ? member.bind(store) : member;
    },
  });
}

async function newsroomRun(stories: number) {
  const recorded = await desk({}, stories);
  await recorded.run();
  const store = readOnly(recorded.store);
  const source = { store, oracleStore: store, trajectoryId: 'desk' };
  const of = (variants: readonly Variant[], more: Partial<SimulateOptions> = {}) =>
    simulate(source, { domain: newsroom, anchors, variants, ...more });
  return { ...recorded, source, of };
}

describe('a variant equal to the record', () => {
  test.each([1, 2, 3, 4])('has its entries byte for byte, from every entry (%i stories)', async (stories) => {
    const { store, agents, model, of, replay } = await newsroomRun(stories);
    const entries = await allEntries(store, 'desk');
    const [before, calls] = [await bytesOf(store, 'desk'), model.calls];
    // The naive comparison: the replay of the whole run, which is checked on its own.
    expect(await replay()).toMatchObject({ same: true, headId: entries.at(-1)?.id });
    for (const { seq } of entries.slice(0, -1)) {
      const { variants, partings } = await of([{ name: 'same', agents }], { at: seq });
      const [sample] = variants[0]?.samples as [SampleResult];
      if (sample.head !== entries.at(-1)?.id) console.log(seq, JSON.stringify({ ...sample, difference: 0, steps: sample.steps.length }));
      expect(sample).toMatchObject({ head: entries.at(-1)?.id, difference: [] });
      expect(sample.parts).toBeUndefined();
      expect(partings).toEqual([]);
    }
    expect(model.calls).toBe(calls);
    expect(await bytesOf(store, 'desk')).toBe(before);
  });
});
