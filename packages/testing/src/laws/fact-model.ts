import { isAssizeError } from 'assize/internal/base';
import type {
  Batch,
  BranchPartition,
  BranchPartitionQuery,
  FactQuery,
  FactVersion,
  FactWrite,
} from 'assize/internal/ledger';
import fc from 'fast-check';
import { expect } from 'vitest';
import {
  BRANCHES,
  exportFacts,
  type FactAnswer,
  FactModel,
  type GeneratedBatch,
  generatedBatches,
  generatedQueries,
  PREDICATES,
  SPACES,
  SUBJECTS,
} from '../fact-model.ts';
import { day } from '../fact-rows.ts';
import type { Bench } from '../suite.ts';
import type { FactLedger } from '../suite-types.ts';

/** The usual number of runs of a property; each run opens its own store. */
const RUNS = 25;

type Restriction = Exclude<keyof FactQuery, 'space'>;

/** The store gives the same answers and holds the same facts as a plain model, for any changes. */
export function factModelLaws({ law, newPlace, openAt, openNew, runs }: Bench<FactLedger>): void {
  law('any history of changes gives the result of a plain model of facts', async () => {
    const run = async (
      batches: readonly GeneratedBatch[],
      queries: readonly FactQuery[],
    ): Promise<void> => {
      const store = await openNew();
      const model = new FactModel();
      await runAgainst(store, model, batches);
      await expectSameContent(store, model);
      for (const query of queries)
        expect(await paged(store, query)).toEqual(model.query({ ...query, limit: 1_000 }));
      const before = await exportFacts(store);
      await store.rebuildFacts(pagesOf(model.history));
      expect(await exportFacts(store)).toEqual(before);
      await expectSameContent(store, model);
      await store.close();
    };
    await fc.assert(fc.asyncProperty(generatedBatches, generatedQueries, run), {
      numRuns: runs(RUNS),
    });
  });

  law('any combination of restrictions returns the same rows as filters', async () => {
    const store = await openNew();
    const model = new FactModel();
    const [batches] = fc.sample(fc.array(generatedBatches, { minLength: 5, maxLength: 5 }), {
      numRuns: 1,
      seed: 1,
    });
    await runAgainst(store, model, batches!.flat());
    expect(model.rows.length).toBeGreaterThan(50);
    const latest = model.rows.map(({ system_time_start }) => system_time_start).sort();
    const members: { readonly [name in Restriction]: readonly unknown[] } = {
      branch: [undefined, BRANCHES[1]],
      subject: [undefined, SUBJECTS[0]],
      predicate: [undefined, PREDICATES[0], PREDICATES[1]],
      kind: [undefined, 'audit', 'all'],
      valid: [undefined, day(4)],
      system: [undefined, 'now', latest[Math.floor(latest.length / 2)]],
      lineage: [undefined, model.rows[0]!.lineage],
      after: [undefined, model.query({ space: SPACES[0]!, kind: 'all' })[9]],
      limit: [undefined, 1],
    };
    for (const query of product(members)) {
      const asked = { space: SPACES[0]!, ...query };
      expect({ asked, found: await store.facts(asked) }).toEqual({
        asked,
        found: model.query(asked),
      });
    }
  });

  law('handles that alternate give the result of a plain model of facts', async () => {
    const run = async (parts: readonly GeneratedBatch[][]): Promise<void> => {
      const place = newPlace();
      const model = new FactModel();
      const stores = [await openAt(place), await openAt(place)];
      for (const [n, batches] of parts.entries()) {
        await runAgainst(stores[n % 2]!, model, batches);
        if (n !== 1) continue;
        await stores[1]!.close();
        stores[1] = await openAt(place);
      }
      for (const store of stores) {
        await expectSameContent(store, model);
        await store.close();
      }
    };
    const parts = fc.array(generatedBatches, { minLength: 2, maxLength: 4 });
    await fc.assert(fc.asyncProperty(parts, run), { numRuns: runs(RUNS / 5) });
  });
}

export async function runAgainst(
  store: FactLedger,
  model: FactModel,
  batches: readonly GeneratedBatch[],
): Promise<void> {
  const answers: [Promise<FactAnswer>, readonly FactAnswer[]][] = [];
  for (const drawn of batches) {
    const batch = model.batch(drawn);
    answers.push([answerOf(store, batch), model.commit(batch)]);
    if (drawn.thenWaits) await answers.at(-1)![0];
  }
  for (const [answer, expected] of answers) expect(expected).toContain(await answer);
}

async function answerOf(store: FactLedger, batch: Batch): Promise<FactAnswer> {
  try {
    const { status } = await store.commit(batch);
    if (status === 'committed' || status === 'conflict' || status === 'outdated') return status;
    throw new Error(`unexpected: ${status}`);
  } catch (error) {
    if (!isAssizeError(error, 'store_invalid_input')) throw error;
    return 'misuse';
  }
}

async function expectSameContent(store: FactLedger, model: FactModel): Promise<void> {
  expect(await store.spaces()).toEqual(model.spaces);
  expect(await store.branches()).toEqual(model.branches);
  for (const memory of [...model.spaces.map((space) => ({ space })), ...model.branches]) {
    const query = { ...memory, kind: 'all' } as const;
    expect(await store.facts(query)).toEqual(model.query(query));
  }
  for (const memory of model.branches)
    for (const query of [
      memory,
      { ...memory, subject: SUBJECTS[0]! },
      { ...memory, predicate: PREDICATES[1]! },
    ])
      expect(await listed(store, query)).toEqual(model.branchPartitions(query));
  for (const name of model.partitions) {
    const [state, expected] = [(await store.partition(name))!, model.state(name)!];
    const from = state.open.map(({ valid_from }) => valid_from);
    expect(from).toEqual(from.toSorted());
    const sorted = (rows: readonly FactVersion[]) =>
      rows.toSorted((a, b) => (a.fact_id < b.fact_id ? -1 : 1));
    expect({ ...state, open: sorted(state.open) }).toEqual({
      ...expected,
      open: sorted(expected.open),
    });
  }
  expect((await store.head('t'))?.id).toBe(model.head);
}

/** Partitions of a branch, by pages. */
async function listed(store: FactLedger, query: BranchPartitionQuery): Promise<BranchPartition[]> {
  const found: BranchPartition[] = [];
  for (let page = await store.branchPartitions({ ...query, limit: 2 }); page.length > 0; ) {
    found.push(...page);
    page = await store.branchPartitions({ ...query, limit: 2, after: page.at(-1)! });
  }
  return found;
}

/** All pages of a query. */
async function paged(store: FactLedger, query: FactQuery): Promise<FactVersion[]> {
  const found: FactVersion[] = [];
  for (let page = await store.facts(query); page.length > 0; ) {
    found.push(...page);
    page = await store.facts({ ...query, after: page.at(-1)! });
  }
  return found;
}

export async function* pagesOf(
  history: readonly FactWrite[],
): AsyncGenerator<readonly FactWrite[]> {
  for (let at = 0; at < history.length; at += 5) yield history.slice(at, at + 5);
}

/** Every combination, without undefined fields. */
function product(
  members: { readonly [name in Restriction]: readonly unknown[] },
): Partial<FactQuery>[] {
  return Object.entries(members).reduce<Partial<FactQuery>[]>(
    (queries, [name, values]) =>
      queries.flatMap((query) =>
        values.map((value) => (value === undefined ? query : { ...query, [name]: value })),
      ),
    [{}],
  );
}
