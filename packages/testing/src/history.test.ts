import type { EntryRow } from 'assize/internal/ledger';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededNumbers } from './faults.ts';
import { type Append, checkHistory, type Operation, type Read, type Violation } from './history.ts';
import { entryAfter } from './store-rows.ts';

interface Run {
  readonly history: Operation[];
  readonly entries: EntryRow[];
}

const TRAJECTORIES = ['a', 'b'];
const CLIENTS = 5;

/**
 * A correct store, called concurrently by several clients in some order; each call takes effect at
 * one moment.
 */
function honestRun(seed: number, steps = 300): Run {
  const next = seededNumbers(seed);
  const chains = new Map<string, EntryRow[]>(TRAJECTORIES.map((name) => [name, []]));
  const history: Operation[] = [];
  // The calls of each client in flight: they first take effect and are then answered.
  const underWay = new Map<number, { effect?: () => void; answer: (now: number) => void }>();
  const known = new Map<string, EntryRow | undefined>();
  for (let now = 0; now < steps; now += 1) {
    const who = next(CLIENTS);
    const client = `c${who}`;
    const call = underWay.get(who);
    if (call?.effect !== undefined) {
      call.effect();
      delete call.effect;
    } else if (call !== undefined) {
      call.answer(now);
      underWay.delete(who);
    } else {
      const trajectory = TRAJECTORIES[next(2)]!;
      const chain = chains.get(trajectory)!;
      const invoked = now;
      if (next(3) === 0) {
        let seen: EntryRow[] = [];
        underWay.set(who, {
          effect: () => {
            seen = [...chain];
          },
          answer: (returned) => {
            known.set(`${who} ${trajectory}`, seen.at(-1));
            const ids = seen.map(({ id }) => id);
            const short = {
              entries: ids.length,
              ...(ids.length === 0 ? {} : { head: ids.at(-1)! }),
            };
            const shown = next(2) === 0 ? { ids } : short;
            history.push({
              operation: 'read',
              client,
              invoked,
              returned,
              trajectory_id: trajectory,
              ...shown,
            });
          },
        });
      } else {
        // Sometimes on a head that has moved since.
        const head = next(3) === 0 ? known.get(`${who} ${trajectory}`) : chain.at(-1);
        const first = entryAfter(head, trajectory, [who, now]);
        const batch = next(2) === 0 ? [first] : [first, entryAfter(first, trajectory, [who, now])];
        const fate = next(10);
        let result: Append['result'] = 'failed';
        underWay.set(who, {
          effect: () => {
            const fits = first.seq === chain.length && first.parent === (chain.at(-1)?.id ?? null);
            if (fits && fate !== 0) chain.push(...batch);
            result = fate <= 1 ? 'unknown' : fits ? 'committed' : 'failed';
          },
          answer: (now) => {
            const returned = result === 'unknown' && fate === 1 ? Number.POSITIVE_INFINITY : now;
            history.push({
              operation: 'append',
              client,
              invoked,
              returned,
              result,
              ids: batch.map(({ id }) => id),
            });
          },
        });
      }
    }
  }
  // Calls that were never answered.
  for (const call of underWay.values()) {
    call.effect?.();
    call.answer(steps);
  }
  return { history, entries: [...chains.values()].flat() };
}

const codesOf = ({ history, entries }: Run): Violation['code'][] => [
  ...new Set(checkHistory(history, entries).violations.map(({ code }) => code)),
];

const seeds = fc.nat(1_000_000);
const appendsOf = ({ history }: Run, result: Append['result']): Append[] =>
  history
    .filter((operation) => operation.operation === 'append')
    .filter((append) => append.result === result);

test('an honest history has no violation, and is counted (property)', () => {
  const total = { committed: 0, failed: 0, unknown: 0, unknownWritten: 0 };
  fc.assert(
    fc.property(seeds, (seed) => {
      const run = honestRun(seed);
      const { violations, ...counts } = checkHistory(run.history, run.entries);
      expect(violations).toEqual([]);
      expect(counts).toMatchObject({
        committed: appendsOf(run, 'committed').length,
        failed: appendsOf(run, 'failed').length,
        unknown: appendsOf(run, 'unknown').length,
      });
      for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += counts[name];
    }),
    { numRuns: 200 },
  );
  // All kinds of answers occurred; otherwise the property shows little.
  expect(Math.min(...Object.values(total))).toBeGreaterThan(200);
  expect(total.unknown).toBeGreaterThan(total.unknownWritten);
});

test('an empty history and an empty ledger are in order', () => {
  expect(checkHistory([], [])).toEqual({
    violations: [],
    committed: 0,
    failed: 0,
    unknown: 0,
    unknownWritten: 0,
  });
});

/** Changes a correct run. Undefined if there is nothing to change. */
type Planted = (run: Run, next: (below: number) => number) => Run | undefined;

const pick = <T>(list: readonly T[], next: (below: number) => number): T | undefined =>
  list[next(list.length)];

function without(run: Run, ids: readonly string[]): EntryRow[] {
  return run.entries.filter(({ id }) => !ids.includes(id));
}

function changed<T extends Operation>(run: Run, operation: T, change: Partial<T>): Run {
  return {
    ...run,
    history: run.history.map((other) =>
      other === operation ? { ...operation, ...change } : other,
    ),
  };
}

function lastOf(run: Run, trajectory: string): EntryRow | undefined {
  return run.entries.findLast((row) => row.trajectory_id === trajectory);
}

const readsOf = ({ history }: Run): Read[] =>
  history.filter((operation) => operation.operation === 'read');
const lengthOf = (read: Read): number => read.ids?.length ?? read.entries ?? 0;

const PLANTED: Readonly<Record<Violation['code'], Planted>> = {
  lost: (run, next) => {
    const tails = TRAJECTORIES.map((name) => lastOf(run, name)?.id);
    const last = pick(
      appendsOf(run, 'committed').filter(({ ids }) => ids.some((id) => tails.includes(id))),
      next,
    );
    return last && { ...run, entries: without(run, [last.ids.at(-1)!]) };
  },
  gap: (run, next) => {
    const row = pick(
      run.entries.filter(({ id, trajectory_id }) => id !== lastOf(run, trajectory_id)?.id),
      next,
    );
    return row && { ...run, entries: without(run, [row.id]) };
  },
  wrong_parent: (run, next) => {
    const row = pick(
      run.entries.filter(({ seq }) => seq > 1),
      next,
    );
    if (row === undefined) return undefined;
    return {
      ...run,
      entries: run.entries.map((other) =>
        other === row ? { ...row, parent: run.entries[0]!.id } : other,
      ),
    };
  },
  id_twice: (run, next) => {
    const row = pick(run.entries, next);
    const last = row && lastOf(run, row.trajectory_id)!;
    return (
      last && { ...run, entries: [...run.entries, { ...row, seq: last.seq + 1, parent: last.id }] }
    );
  },
  tampered: (run, next) => {
    const row = pick(run.entries, next);
    const other = row && { ...row, payload: row.payload.replace('"kind"', '"Kind"') };
    return other && { ...run, entries: run.entries.map((each) => (each === row ? other : each)) };
  },
  committed_twice: (run, next) => {
    const append = pick(appendsOf(run, 'committed'), next);
    return append && { ...run, history: [...run.history, { ...append, client: 'other' }] };
  },
  written_though_failed: (run, next) => {
    const append = pick(appendsOf(run, 'committed'), next);
    return append && changed(run, append, { result: 'failed' });
  },
  torn: (run, next) => {
    const tails = TRAJECTORIES.map((name) => lastOf(run, name)?.id);
    const append = pick(
      appendsOf(run, 'committed').filter(({ ids }) => ids.length === 2 && tails.includes(ids[1])),
      next,
    );
    return (
      append && {
        ...changed(run, append, { result: 'unknown' }),
        entries: without(run, [append.ids[1]!]),
      }
    );
  },
  out_of_thin_air: (run, next) => {
    const last = pick(run.entries, next);
    const head = last && lastOf(run, last.trajectory_id);
    return (
      head && { ...run, entries: [...run.entries, entryAfter(head, head.trajectory_id, 'nobody')] }
    );
  },
  out_of_order: (run, next) => {
    const places = new Map(run.entries.map((row) => [row.id, row]));
    const later = pick(
      appendsOf(run, 'committed').filter(({ ids }) => places.get(ids[0]!)!.seq > 2),
      next,
    );
    // As if it had been answered before any call was sent.
    return later && changed(run, later, { invoked: -2, returned: -1 });
  },
  read_no_prefix: (run, next) => {
    const read = pick(
      readsOf(run).filter((each) => lengthOf(each) > 1),
      next,
    );
    if (read === undefined) return undefined;
    if (read.ids === undefined) return changed(run, read, { entries: read.entries! - 1 });
    return changed(run, read, { ids: read.ids.toReversed() });
  },
  read_stale: (run, next) => {
    const read = pick(
      readsOf(run).filter((each) => lengthOf(each) > 3),
      next,
    );
    return read && changed(run, read, { ids: [], invoked: 10_000, returned: 10_001 });
  },
  read_ahead: (run, next) => {
    const read = pick(
      readsOf(run).filter((each) => lengthOf(each) > 0),
      next,
    );
    return read && changed(run, read, { invoked: -2, returned: -1 });
  },
  read_went_back: (run, next) => {
    // The first read was of a batch in doubt, so only the client's own reads show the violation.
    const tail = pick(TRAJECTORIES, next)!;
    const last = lastOf(run, tail);
    const doubtful = entryAfter(last, tail, 'in doubt');
    const reads = [doubtful.seq + 1, doubtful.seq].map((entries, n): Read => {
      const head = n === 0 ? doubtful.id : last?.id;
      const seen = { entries, ...(head === undefined ? {} : { head }) };
      return {
        operation: 'read',
        client: 'one',
        invoked: 9_000 + n * 2,
        returned: 9_001 + n * 2,
        trajectory_id: tail,
        ...seen,
      };
    });
    const append: Append = {
      operation: 'append',
      client: 'two',
      invoked: 8_000,
      returned: Number.POSITIVE_INFINITY,
      result: 'unknown',
      ids: [doubtful.id],
    };
    return { history: [...run.history, append, ...reads], entries: [...run.entries, doubtful] };
  },
};

describe.each(Object.entries(PLANTED))('%s', (code, plant) => {
  test('is found wherever it is planted (property)', () => {
    let planted = 0;
    fc.assert(
      fc.property(seeds, (seed) => {
        const run = plant(honestRun(seed), seededNumbers(seed + 1));
        if (run === undefined) return;
        planted += 1;
        expect(codesOf(run)).toContain(code);
      }),
      { numRuns: 100 },
    );
    expect(planted).toBeGreaterThan(50);
  });
});

test('an append in doubt may be present or absent; if resent it counts once', () => {
  const row = entryAfter(undefined, 't');
  const append = (change: Partial<Append>): Append => ({
    operation: 'append',
    client: 'c',
    invoked: 0,
    returned: 1,
    result: 'unknown',
    ids: [row.id],
    ...change,
  });
  const again = { invoked: 2, returned: 3 };
  expect(checkHistory([append({})], []).violations).toEqual([]);
  expect(checkHistory([append({})], [row]).violations).toEqual([]);
  for (const result of ['committed', 'failed'] as const) {
    expect(checkHistory([append({}), append({ ...again, result })], [row])).toMatchObject({
      violations: [],
      unknown: 1,
      unknownWritten: 1,
    });
  }
  // And if it was refused the first time, no caller has written it.
  const refused = [append({ result: 'failed' }), append({ ...again, result: 'failed' })];
  expect(codesOf({ history: refused, entries: [row] })).toEqual(['written_though_failed']);
});

/** The same order, checked pair by pair. */
function outOfOrder({ history, entries }: Run): boolean {
  const places = new Map(entries.map((row) => [row.id, row]));
  const placed = history
    .filter((operation) => operation.operation === 'append')
    .flatMap((append) => append.ids.map((id) => ({ append, row: places.get(id) })));
  return placed.some(({ append: a, row: first }) =>
    placed.some(
      ({ append: b, row: second }) =>
        first !== undefined &&
        second !== undefined &&
        first.trajectory_id === second.trajectory_id &&
        a.result === 'committed' &&
        a.returned < b.invoked &&
        first.seq > second.seq,
    ),
  );
}

test('the time order equals a comparison of all pairs (property)', () => {
  let found = 0;
  fc.assert(
    fc.property(
      seeds,
      fc.array(fc.tuple(fc.nat(200), fc.integer({ min: -40, max: 40 })), { maxLength: 4 }),
      (seed, moves) => {
        const run = honestRun(seed, 120);
        for (const [n, by] of moves) {
          const operation = run.history[n % run.history.length]!;
          const moved = {
            ...operation,
            invoked: operation.invoked + by,
            returned: operation.returned + by,
          };
          run.history[n % run.history.length] = moved;
        }
        const expected = outOfOrder(run);
        if (expected) found += 1;
        expect(codesOf(run).includes('out_of_order')).toBe(expected);
      },
    ),
    { numRuns: 300 },
  );
  expect(found).toBeGreaterThan(20);
});

test('a long history is checked in one pass', () => {
  const entries: EntryRow[] = [];
  const history: Operation[] = [];
  for (let n = 0; n < 50_000; n += 1) {
    const row = entryAfter(entries.at(-1), 't');
    entries.push(row);
    const times = { invoked: n * 2, returned: n * 2 + 1 };
    history.push({
      operation: 'append',
      client: 'c',
      ...times,
      result: 'committed',
      ids: [row.id],
    });
    history.push({
      operation: 'read',
      client: `r${n % 7}`,
      ...times,
      trajectory_id: 't',
      entries: n + 1,
      head: row.id,
    });
  }
  expect(checkHistory(history, entries)).toMatchObject({ violations: [], committed: 50_000 });
});
