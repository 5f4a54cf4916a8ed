import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Json } from 'assize/internal/base';
import {
  ALLEN_RELATIONS,
  type AllenRelation,
  allenRelation,
  answerOf,
  applyPlan,
  asOf,
  declarePredicate,
  diff,
  type FactRow,
  history,
  mergeProvenance,
  OPEN_END,
  type Plan,
  type PlanInput,
  Polynomial,
  planAssert,
  readWitness,
  STRATEGIES,
  type Strategy,
  selectByRelation,
  writeToken,
} from 'assize/internal/memory';
import { checkFacts } from 'assize/internal/memory/fact.ts';
import { createOracle, seededRandom } from 'assize/internal/oracle';
import { openStore } from 'assize/internal/stores';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { cases, hasUsualCases } from '../../../tests/support/cases.ts';
import { clinic } from '../../../tests/support/clinic/clinic.ts';
import { HandClock, runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import {
  ANOMALIES,
  CHAIN_LEVELS,
  dominates,
  GUARDS,
  join as joined,
  level,
  levelText,
} from '../memory/isolation/index.ts';
import { BOOLEAN, type Carrier, MULTIDEGREE, MULTILINEAR } from '../memory/provenance/index.ts';
import { isoMatrix } from '../memory/schedules/index.ts';

// Statements of the paper that no other test covers alone. docs/reference/memory.md lists the test
// of each of the paper's numbers.

const folder = mkdtempSync(join(tmpdir(), 'assize-memory-theorems-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const partition = { space: 's', subject: 'alice', predicate: 'medication' };
const CARRIERS = [MULTILINEAR, MULTIDEGREE, BOOLEAN] as readonly Carrier<unknown>[];
const ENTRY = 'ab'.repeat(32);
const HOUR = 3_600_000;
/** The n-th hour of a year. */
const at = (n: number): string =>
  `${new Date(Date.UTC(2026, 0, 1) + n * HOUR).toISOString().slice(0, 23)}000Z`;

const drawnPeriod = fc.tuple(fc.nat(9), fc.integer({ min: 1, max: 6 })).map(([from, length]) => ({
  from: at(from),
  to: from + length > 11 ? OPEN_END : at(from + length),
}));
const drawnSaid = fc.record({
  valid: drawnPeriod,
  object: fc.constantFrom('amoxicillin', 'penicillin', 'none'),
  confidence: fc.constantFrom(0, 0.5, 0.9),
});
const drawnBatches = fc.array(fc.array(drawnSaid, { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 6,
});
type Said = typeof drawnSaid extends fc.Arbitrary<infer T> ? T : never;

/**
 * The rows of a partition after the batches, one commit each, and each plan. A judge elects the
 * last candidate.
 */
function told(
  strategy: Strategy,
  batches: readonly (readonly Said[])[],
): { rows: readonly FactRow[]; plans: Plan[] } {
  let rows: readonly FactRow[] = [];
  const plans: Plan[] = [];
  for (const [seq, batch] of batches.entries()) {
    const writing: PlanInput = {
      partition,
      declaration: declarePredicate({ cardinality: 'single-valued', strategy }),
      open: rows.filter((row) => row.row_kind === 'current' && row.system_time_end === OPEN_END),
      latest: plans.at(-1)?.systemTime ?? null,
      at: at(100 + seq),
      seq,
      merge: mergeProvenance,
    };
    const said = batch.map((one, i) => ({
      ...one,
      claim: `claim ${seq} ${i}`,
      provenance: writeToken(10 * seq + i, ENTRY),
    }));
    const first = planAssert(writing, said);
    const plan =
      first.kind === 'plan'
        ? first
        : planAssert(
            {
              ...writing,
              answers: first.questions.map((question) =>
                answerOf(question, question.members.length - 1),
              ),
            },
            said,
          );
    if (plan.kind === 'ask') throw new Error('it asks again what was answered');
    rows = applyPlan(rows, plan);
    plans.push(plan);
  }
  return { rows, plans };
}

test('Theorem 3: a level excludes a set iff it is above the join of its guards', () => {
  const { rows } = isoMatrix(seededRandom('theorem 3'), 25);
  const admits = new Set(
    rows.filter(({ found }) => found > 0).map(({ cell }) => `${cell['anomaly']} ${cell['level']}`),
  );
  for (let set = 0; set < 2 ** ANOMALIES.length; set++) {
    const chosen = ANOMALIES.filter((_, i) => (set & (2 ** i)) !== 0);
    const guard = joined(...chosen.map((anomaly) => level(GUARDS[anomaly].iso)));
    for (const of of CHAIN_LEVELS)
      expect([
        chosen,
        levelText(of),
        chosen.every((one) => !admits.has(`${one} ${levelText(of)}`)),
      ]).toEqual([chosen, levelText(of), dominates(of, guard)]);
  }
});

test('Theorem 7: in each carrier a full audit row dominates each loser', () => {
  let losers = 0;
  fc.assert(
    fc.property(fc.constantFrom(...STRATEGIES), drawnBatches, (strategy, batches) => {
      const { rows, plans } = told(strategy, batches);
      const audits = rows.filter(({ row_kind }) => row_kind === 'audit');
      for (const row of audits) {
        losers++;
        const merged = Polynomial.read(row.provenance_id);
        const { members, loser, winner } = readWitness(row);
        for (const member of members)
          for (const { provenance_id } of member.rows) {
            const one = Polynomial.read(provenance_id);
            for (const { precedes, project } of CARRIERS)
              expect(precedes(project(one), project(merged))).toBe(true);
            for (const token of one.tokens) expect(merged.tokens).toContain(token);
          }
        expect(members.map(({ claim }) => claim)).toEqual(expect.arrayContaining([loser, winner]));
        expect(row.resolution_strategy_id).toBe(strategy);
      }
      // Only a contradiction leaves an audit row. The audit row names the row that was closed for
      // the winner. A statement of the same batch may have joined that row: then it is one of the
      // loser's rows.
      for (const plan of plans) {
        const recorded = plan.insert.filter(({ row_kind }) => row_kind === 'audit');
        const lost = new Set(
          recorded.flatMap((row) => {
            const { members, loser } = readWitness(row);
            const joined = members
              .filter(({ claim }) => claim === loser)
              .flatMap(({ rows }) => rows);
            return [row.lineage, ...joined.map(({ lineage }) => lineage)];
          }),
        );
        const stays = new Set(
          plan.insert
            .filter(({ row_kind }) => row_kind === 'current')
            .map(({ lineage }) => lineage),
        );
        for (const { fact_id, system_time_start } of plan.close) {
          const closed = rows.find(
            (row) => row.fact_id === fact_id && row.system_time_start === system_time_start,
          )!;
          const said = plan.insert.some(
            (row) => row.row_kind === 'current' && row.object === closed.object,
          );
          expect(lost.has(closed.lineage) || stays.has(closed.lineage) || said).toBe(true);
        }
      }
    }),
    { numRuns: cases(300) },
  );
  if (hasUsualCases()) expect(losers).toBeGreaterThan(100);
});

/**
 * Algorithm 1 of the paper, line by line, for one incumbent. `vote`: the oracle's answer for
 * (incumbent, new).
 */
function algorithm1(incumbent: FactRow, fact: FactRow, now: string, vote: 0 | 1) {
  const strategy = fact.resolution_strategy_id;
  const keyed = (row: FactRow): (string | number)[] =>
    strategy === 'evi'
      ? [row.confidence, row.asserted_seq, row.fact_id]
      : [row.asserted_seq, row.fact_id];
  const isLess = (a: (string | number)[], b: (string | number)[]): boolean => {
    const i = a.findIndex((part, n) => part !== b[n]);
    return i !== -1 && a[i]! < b[i]!;
  };
  const isElected = strategy === 'await' || strategy === 'rule';
  const newWins = isElected ? vote === 1 : isLess(keyed(incumbent), keyed(fact));
  const [winner, loser] = newWins ? [fact, incumbent] : [incumbent, fact];
  const merged = Polynomial.read(winner.provenance_id)
    .plus(Polynomial.read(loser.provenance_id))
    .toString();
  return {
    close: loser === incumbent ? [incumbent.fact_id] : [],
    insert: loser === incumbent ? [[winner.object, winner.valid_from, winner.valid_to, now]] : [],
    audit: [[`audit::${loser.fact_id}::${now}`, strategy, now, merged]],
  };
}

test('Algorithm 1: for one incumbent a plan with no remainder obeys its lines', () => {
  const drawn = fc.record({
    strategy: fc.constantFrom('lww', 'evi', 'await', 'rule'),
    periods: fc.tuple(drawnPeriod, drawnPeriod).filter(([a, b]) => a.from < b.to && b.from < a.to),
    confidences: fc.tuple(fc.constantFrom(0.1, 0.5, 0.9), fc.constantFrom(0.1, 0.5, 0.9)),
    vote: fc.constantFrom(0, 1),
  });
  fc.assert(
    fc.property(drawn, ({ strategy, periods, confidences, vote }) => {
      const declaration = declarePredicate({
        cardinality: 'single-valued',
        strategy,
        remainder: 'drop',
      });
      const stamp = { partition, declaration, merge: mergeProvenance };
      const said = (n: number) => ({
        claim: `claim ${n}`,
        object: `object ${n}`,
        confidence: confidences[n]!,
        valid: periods[n]!,
        provenance: writeToken(n, ENTRY),
      });
      const first = planAssert({ ...stamp, open: [], latest: null, at: at(100), seq: 1 }, [
        said(0),
      ]) as Plan;
      const [incumbent] = first.insert as [FactRow];
      const writing: PlanInput = {
        ...stamp,
        open: [incumbent],
        latest: at(100),
        at: at(101),
        seq: 2,
      };
      const once = planAssert(writing, [said(1)]);
      // An operator that elects asks first, and no change happens before the answer (H1).
      expect(once.kind).toBe(strategy === 'await' || strategy === 'rule' ? 'ask' : 'plan');
      const answers =
        once.kind === 'ask' ? once.questions.map((question) => answerOf(question, vote)) : [];
      const plan = planAssert({ ...writing, answers }, [said(1)]) as Plan;
      const fresh = planAssert({ ...stamp, open: [], latest: at(100), at: at(101), seq: 2 }, [
        said(1),
      ]) as Plan;
      const expected = algorithm1(incumbent, fresh.insert[0]!, at(101), vote as 0 | 1);
      expect({
        close: plan.close.map(({ fact_id }) => fact_id),
        insert: plan.insert
          .filter(({ row_kind }) => row_kind === 'current')
          .map((row) => [row.object, row.valid_from, row.valid_to, row.system_time_start]),
        audit: plan.insert
          .filter(({ row_kind }) => row_kind === 'audit')
          .map((row) => [
            // A conflict set may meet in several segments. The paper does not number them.
            row.fact_id.replace(/::0$/, ''),
            row.resolution_strategy_id,
            row.system_time_start,
            row.provenance_id,
          ]),
      }).toEqual(expected);
    }),
    { numRuns: cases(500) },
  );
});

test('Theorem 12 (3), Lemma 1 (B): Allen’s relations compose as in his table', () => {
  const starts = [0, 1, 2, 3, 4, 5];
  const periods = starts.flatMap((from) =>
    starts.flatMap((to) => (from < to ? [{ from: at(from), to: at(to) }] : [])),
  );
  const table = new Map<string, Set<AllenRelation>>();
  for (const a of periods)
    for (const b of periods)
      for (const c of periods) {
        const key = `${allenRelation(a, b)} ${allenRelation(b, c)}`;
        table.set(key, (table.get(key) ?? new Set()).add(allenRelation(a, c)));
      }
  expect(table.size).toBe(13 * 13);
  const entries = [...table].filter(([key]) => !key.split(' ').includes('equals'));
  expect(entries).toHaveLength(12 * 12);
  // All that the thirteen by thirteen leave open, together.
  expect([...table.values()].reduce((sum, { size }) => sum + size, 0)).toBe(409);
  for (const relation of ALLEN_RELATIONS) {
    expect([...table.get(`equals ${relation}`)!]).toEqual([relation]);
    expect([...table.get(`${relation} equals`)!]).toEqual([relation]);
  }
  expect([...table.get('before before')!]).toEqual(['before']);
  expect([...table.get('during before')!]).toEqual(['before']);
  expect([...table.get('meets during')!].sort()).toEqual(['during', 'overlaps', 'starts']);
  expect([...table.get('finishes during')!]).toEqual(['during']);
  expect([...table.get('finished-by during')!].sort()).toEqual(['during', 'overlaps', 'starts']);
  expect(table.get('before after')!.size).toBe(13);
});

test('Theorem 12 (3): relations select unchanged rows, each row by just one', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...STRATEGIES),
      drawnBatches,
      drawnPeriod,
      (strategy, batches, to) => {
        const { rows } = told(strategy, batches);
        const byRelation = ALLEN_RELATIONS.map((relation) =>
          selectByRelation(rows, [relation], to),
        );
        for (const selected of byRelation) {
          checkFacts(selected);
          for (const row of selected) expect(rows).toContain(row);
        }
        expect(byRelation.flat()).toHaveLength(rows.length);
        expect(selectByRelation(rows, ALLEN_RELATIONS, to)).toEqual(rows);
      },
    ),
    { numRuns: cases(200) },
  );
});

test('Proposition 1 (C): audit rows change no read that does not ask for them', () => {
  let audits = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...STRATEGIES),
      drawnBatches,
      fc.nat(11),
      fc.nat(9),
      drawnPeriod,
      (strategy, batches, v, s, to) => {
        const { rows } = told(strategy, batches);
        const base = rows.filter(({ row_kind }) => row_kind === 'current');
        audits += rows.length - base.length;
        const [point, later] = [s, s + 2].map((n) => ({ valid: at(v), system: at(99 + n) })) as [
          never,
          never,
        ];
        expect(asOf(rows, point)).toEqual(asOf(base, point, 'all'));
        expect(history(rows)).toEqual(history(base, {}, 'all'));
        expect(diff(rows, point, later)).toEqual(diff(base, point, later));
        const selected = (of: readonly FactRow[]) =>
          selectByRelation(asOf(of, point), ['overlaps', 'during', 'equals'], to);
        expect(selected(rows)).toEqual(selected(base));
      },
    ),
    { numRuns: cases(300) },
  );
  if (hasUsualCases()) expect(audits).toBeGreaterThan(100);
});

const COLUMNS = [
  ...[
    'fact_id',
    'subject',
    'predicate',
    'object',
    'valid_from',
    'valid_to',
    'system_time_start',
    'system_time_end',
  ],
  ...['provenance_id', 'confidence', 'resolution_strategy_id'],
] as const;

/**
 * A query of relational algebra over the eleven columns, as SQL over any table. All queries have
 * the same columns.
 */
const drawnQuery: fc.Arbitrary<(table: string) => string> = fc.letrec<{
  query: (table: string) => string;
}>((tie) => ({
  query: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constant((table: string) => `SELECT * FROM ${table}`),
    fc
      .tuple(
        tie('query'),
        fc.constantFrom("object <> 'none'", 'confidence >= 0.5', "subject = 'p1'", "fact_id < '8'"),
      )
      .map(
        ([of, where]) =>
          (table: string) =>
            `SELECT * FROM (${of(table)}) WHERE ${where}`,
      ),
    fc.tuple(tie('query'), fc.nat(11), fc.nat(12)).map(
      ([of, v, s]) =>
        (table: string) =>
          `SELECT * FROM (${of(table)}) WHERE valid_from <= '${at(v)}' AND '${at(v)}' < valid_to
            AND system_time_start <= '${at(100 + s)}' AND '${at(100 + s)}' < system_time_end`,
    ),
    fc.tuple(tie('query'), tie('query'), fc.constantFrom('UNION', 'EXCEPT')).map(
      ([a, b, how]) =>
        (table: string) =>
          `SELECT * FROM (${a(table)}) ${how} SELECT * FROM (${b(table)})`,
    ),
    fc.tuple(tie('query'), tie('query'), fc.constantFrom('subject', 'object', 'valid_from')).map(
      ([a, b, by]) =>
        (table: string) =>
          `SELECT x.* FROM (${a(table)}) AS x JOIN (${b(table)}) AS y ON x.${by} = y.${by} AND x.fact_id <> y.fact_id`,
    ),
    fc.tuple(tie('query'), fc.constantFrom(...COLUMNS)).map(
      ([of, kept]) =>
        (table: string) =>
          `SELECT ${COLUMNS.map((name) => (name === kept ? name : `${name === 'confidence' ? 0 : "''"} AS ${name}`)).join()} FROM (${of(table)})`,
    ),
  ),
})).query;

test('Proposition 1 (C): relational algebra gives the same without audit rows', async () => {
  const path = join(folder, 'conservative.db');
  const store = await openStore(`sqlite:${path}`, { durability: 'off' });
  const clock = new HandClock();
  clock.at = at(100);
  const writ = writFor('nurse');
  const trajectory = await runtimeOver(store, [clinic], { ports: { clock } }).create(clinic, {
    trajectoryId: 't',
    writs: [writ],
  });
  const memory = trajectory.memory({ space: 'ward', writ });
  const objects = ['amoxicillin', 'none', 'penicillin'];
  for (let n = 0; n < 12; n++) {
    clock.at = at(100 + n);
    const valid = { from: at(n % 5), to: at((n % 5) + 4) };
    const said = {
      subject: `p${n % 2}`,
      predicate: 'drug',
      object: objects[n % 3]!,
      confidence: n / 12,
      valid,
    };
    expect((await memory.assert(said)).ruling).toBe('committed');
  }
  const current = await memory.history({ limit: 1_000 });
  const db = new DatabaseSync(path);
  db.exec(`CREATE TEMP TABLE base (${COLUMNS.join()})`);
  const insert = db.prepare(`INSERT INTO base VALUES (${COLUMNS.map(() => '?').join()})`);
  for (const row of current) insert.run(...COLUMNS.map((name) => row[name]));
  expect(
    db.prepare("SELECT count(*) AS n FROM facts WHERE row_kind = 'audit'").get()!['n'],
  ).toBeGreaterThan(5);
  const lifted = `(SELECT ${COLUMNS.join()} FROM facts WHERE row_kind = 'current')`;
  const answer = (sql: string): string[] =>
    db
      .prepare(sql)
      .all()
      .map((row) => JSON.stringify(row))
      .sort();
  let found = 0;
  fc.assert(
    fc.property(drawnQuery, (query) => {
      const expected = answer(query('base'));
      found += expected.length;
      expect(answer(query(lifted))).toEqual(expected);
    }),
    { numRuns: cases(200) },
  );
  if (hasUsualCases()) expect(found).toBeGreaterThan(100);
  db.close();
  await store.close();
});

test('Theorem 17, Corollary 18: N1 needs an unlogged judge with two answers', async () => {
  const store = await openStore('memory:');
  const oracle = createOracle({ store, clock: new HandClock(), mode: 'record' });
  let questions = 0;
  let witnesses = 0;
  await fc.assert(
    fc.asyncProperty(
      // J(R, θ, ω): the judge's answer in each of its states, for each question.
      fc.array(fc.array(fc.nat(2), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(3), { minLength: 2, maxLength: 6 }),
      async (judge, states) => {
        for (const [n, says] of judge.entries()) {
          const J = (state: number): number => says[state % says.length]!;
          const unlogged = new Set(says.map((_, state) => J(state)));
          const asking = {
            scope: { kind: 'memory', space: 's' },
            request: { R: ++questions, n },
            theta: { prompt: 'p' },
          } as const;
          const logged = new Set<Json>();
          for (const state of states)
            logged.add(await oracle.ask({ ...asking, call: () => J(state) }));
          // Bounded nondeterminism (Definition 15) is sufficient. Without it no anomaly exists to
          // exclude (Remark 4).
          const isNondeterministic = says.some((one) => one !== says[0]);
          expect(unlogged.size > 1).toBe(isNondeterministic);
          if (isNondeterministic) witnesses++;
          expect(logged.size).toBe(1);
          // Lemma 5 (2): another θ is another question, and may get another answer.
          const other = { ...asking, theta: { prompt: 'q' } };
          expect(await oracle.ask({ ...other, call: () => 7 })).toBe(7);
          expect(await oracle.ask({ ...asking, call: () => 7 })).toBe([...logged][0]);
        }
      },
    ),
    { numRuns: cases(100) },
  );
  if (hasUsualCases()) expect(witnesses).toBeGreaterThan(20);
  await store.close();
});

test('Remark 1: partitions are separate; a recall of another adds no condition', async () => {
  const store = await openStore('memory:');
  const clock = new HandClock();
  const writ = writFor('nurse');
  const trajectory = await runtimeOver(store, [clinic], { ports: { clock } }).create(clinic, {
    trajectoryId: 't',
    writs: [writ],
  });
  const memory = trajectory.memory({ space: 'ward', writ });
  const valid = { from: at(0) };
  const say = (predicate: string, object: string, observations = {}) =>
    memory.assert({ subject: 'p7', predicate, object, valid }, observations);
  expect((await say('drug', 'penicillin')).ruling).toBe('committed');
  const { observation } = await memory.recall({ subject: 'p7', predicate: 'drug', valid: at(1) });
  clock.forward(1_000);
  expect((await say('drug', 'amoxicillin')).ruling).toBe('committed');
  expect((await say('allergy', 'penicillin', { observations: [observation] })).ruling).toBe(
    'committed',
  );
  await store.close();
});
