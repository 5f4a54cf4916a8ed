/**
 * All of TimeQA goes through the runtime. For each instant, a search through the data itself gives
 * the expected facts.
 */
import { readFileSync } from 'node:fs';
import { addMicros, type Instant, parseInstant } from 'assize/internal/canon';
import { defineDomain } from 'assize/internal/kernel';
import { claimId, type FactRow, readWitness } from 'assize/internal/memory';
import { checkMemory, type Memory, type MemoryView, verifyStore } from 'assize/internal/runtime';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { dataPath, hasData } from '../../../tests/data.ts';
import { cases } from '../../../tests/support/cases.ts';
import { HandClock, runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { onEveryStore } from '../../../tests/support/ledger/stores.ts';

const FILE = ['timeqa', 'facts.jsonl'];
const SPACE = 'timeqa';
const KEY = new Uint8Array(32).fill(7);
/** Of one commit. */
const BATCH = 200;

/** A fact as the data has it. */
interface Fact {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly from: Instant;
  readonly to: Instant;
  /** Its line, from 0. */
  readonly n: number;
}

/** Whether a fact is believed before another one at a time that they have in common. */
type Outranks = (a: Fact, b: Fact) => boolean;

function readFacts(): Fact[] {
  const lines = readFileSync(dataPath(...FILE), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line, n) => {
    const { subject, predicate, object, valid_from, valid_to } = JSON.parse(line) as Record<
      string,
      string
    >;
    const [from, to] = [parseInstant(valid_from!), parseInstant(valid_to!)];
    return { subject: subject!, predicate: predicate!, object: object!, from, to, n };
  });
}

const isDuring = (at: Instant) => (fact: Fact) => fact.from <= at && at < fact.to;

/** Facts of one subject and predicate stand together. */
function groupsOf(facts: readonly Fact[]): Fact[][] {
  return [
    ...Map.groupBy(facts, ({ subject, predicate }) =>
      JSON.stringify([subject, predicate]),
    ).values(),
  ];
}

/** Each year that a fact begins, ends or is in, and the instants around its borders. */
function instantsOf(group: readonly Fact[]): Instant[] {
  const years = group.flatMap(({ from, to }) => {
    const [first, last] = [Number(from.slice(0, 4)), Number(to.slice(0, 4))];
    return Array.from({ length: last - first + 3 }, (_, i) => yearOf(first - 1 + i));
  });
  const borders = group.flatMap(({ from, to }) => [from, to]);
  return [...new Set([...years, ...borders, ...borders.map((at) => addMicros(at, -1))])].sort();
}

const yearOf = (year: number): Instant => `${String(year).padStart(4, '0')}-01-01T00:00:00.000000Z`;

/** The counts of the comparison, as a measure of its extent. */
interface Counted {
  points: number;
  contested: number;
  /** Facts that lost at some instant, and the pairs of contradictory facts. */
  readonly losers: Set<Fact>;
  readonly pairs: Set<string>;
}

/** All in which facts contradict each other, and so many of the others, evenly spread. */
function someOf(groups: readonly Fact[][], count: number): Fact[][] {
  const isContested = (group: readonly Fact[]): boolean =>
    group.some((a) => group.some((b) => a.n < b.n && a.from < b.to && b.from < a.to));
  const [contested, others] = [
    groups.filter(isContested),
    groups.filter((group) => !isContested(group)),
  ];
  return [
    ...contested,
    ...others.filter(
      (_, i) =>
        Math.floor((i * count) / others.length) !== Math.floor(((i - 1) * count) / others.length),
    ),
  ];
}

/**
 * Recall returns the facts of the data at each instant. Each losing fact is in one audit row, with
 * its winner.
 */
async function expectTruth(
  view: MemoryView,
  groups: readonly Fact[][],
  outranks: Outranks,
): Promise<Counted> {
  const counted: Counted = { points: 0, contested: 0, losers: new Set(), pairs: new Set() };
  for (const group of groups) {
    const { subject, predicate } = group[0]!;
    const audit = (await view.recall({ subject, predicate, kind: 'audit', valid: 'any' })).facts;
    for (const at of instantsOf(group)) {
      const there = group.filter(isDuring(at));
      const first = there.find((fact) =>
        there.every((other) => other === fact || outranks(fact, other)),
      );
      const found = (await view.recall({ subject, predicate, valid: at })).facts.map(
        ({ object }) => object,
      );
      expect(found, `${subject} ${predicate} at ${at}`).toEqual(
        first === undefined ? [] : [first.object],
      );
      counted.points += 1;
      const lost = there.filter((fact) => fact !== first);
      const rows = audit.filter(({ valid_from, valid_to }) => valid_from <= at && at < valid_to);
      expect(rows.map((row) => lossOf(row).loser).sort()).toEqual(
        lost.map(({ object }) => object).sort(),
      );
      for (const row of rows) expectLoss(row, there, outranks);
      if (lost.length > 0) counted.contested += 1;
      for (const fact of lost) counted.losers.add(fact);
      for (const fact of there)
        for (const other of there) if (fact.n < other.n) counted.pairs.add(`${fact.n} ${other.n}`);
    }
  }
  return counted;
}

function lossOf(row: FactRow): { readonly winner: string; readonly loser: string } {
  const { winner, loser, members } = readWitness(row);
  const objectOf = (claim: string): string =>
    members.find((member) => member.claim === claim)!.object;
  return { winner: objectOf(winner), loser: objectOf(loser) };
}

/** The loser lost to a fact that outranks it, and its rows are recorded. */
function expectLoss(row: FactRow, there: readonly Fact[], outranks: Outranks): void {
  const { winner, loser } = lossOf(row);
  const [won, lost] = [winner, loser].map((object) =>
    there.find((fact) => fact.object === object),
  ) as [Fact, Fact];
  expect(outranks(won, lost)).toBe(true);
  const { rows } = readWitness(row).members.find(({ object }) => object === loser)!;
  expect(
    rows.some(({ valid_from, valid_to }) => lost.from <= valid_from && valid_to <= lost.to),
  ).toBe(true);
}

describe.skipIf(!hasData(...FILE))('TimeQA, by the runtime', () => {
  onEveryStore((stores) => {
    test.each(['lww', 'lww-valid'] as const)(
      'facts at each instant match the data, many in one commit, by %s',
      async (strategy) => {
        const facts = readFacts();
        const names = facts.map(
          ({ predicate }) => [predicate, { cardinality: 'single-valued', strategy }] as const,
        );
        const domain = defineDomain({
          name: 'timeqa',
          version: '1',
          state: z.object({}),
          initial: {},
          processes: {},
          roles: {},
          actions: {},
          invariants: [],
          memory: { predicates: Object.fromEntries(names) },
        });
        const store = await stores.newPlace().open({ durability: 'off' });
        await store.claimKey(KEY);
        const writ = writFor('reader');
        const runtime = runtimeOver(store, [domain], { ports: { clock: new HandClock() } });
        const memory = (
          await runtime.create(domain, { trajectoryId: 'facts', writs: [writ] })
        ).memory({
          space: SPACE,
          writ,
        });
        const claims = await assertAll(memory, facts);
        const outranks: Outranks = (a, b) => {
          if (strategy === 'lww-valid' && a.from !== b.from) return a.from > b.from;
          const [first, second] = [a, b].map(({ n }) => Math.floor(n / BATCH)) as [number, number];
          return first === second ? claims[a.n]! > claims[b.n]! : first > second;
        };
        const groups = groupsOf(facts);
        // Each recall there is a round trip: CI asks for some groups, and ASSIZE_CASES=20000 for
        // all.
        const asked = stores.kind === 'postgres' ? someOf(groups, cases(30)) : groups;
        const counted = await expectTruth(memory, asked, outranks);
        expect([facts.length, counted.pairs.size, counted.losers.size]).toEqual([880, 14, 11]);
        expect(await checkMemory(store)).toMatchObject({ valid: true, partitions: 287 });
        expect(await verifyStore(store)).toMatchObject([{ valid: true }]);
      },
    );
  });
});

/** The claims, in the order of the facts. */
async function assertAll(memory: Memory, facts: readonly Fact[]): Promise<string[]> {
  const said = facts.map(({ subject, predicate, object, from, to, n }) => ({
    subject,
    predicate,
    object,
    valid: { from, to },
    source: `line ${n}`,
  }));
  for (let from = 0; from < said.length; from += BATCH)
    expect(await memory.assertMany(said.slice(from, from + BATCH))).toMatchObject({
      ruling: 'committed',
    });
  return said.map(({ source, ...claim }) =>
    claimId(KEY, { space: SPACE, ...claim, sourceEventId: source }),
  );
}
