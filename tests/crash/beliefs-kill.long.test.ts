import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import type { Payload } from '#ledger';
import type { Witness } from '#memory';
import { createOracle, seededRandom } from '#oracle';
import {
  type AssertInput,
  checkMemory,
  type Judge,
  type Memory,
  rebuildMemory,
  verifyStore,
} from '#runtime';
import type { Store } from '#stores';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { bundled } from '../support/bundled.ts';
import { cases } from '../support/cases.ts';
import { clinic } from '../support/clinic/clinic.ts';
import { allEntries } from '../support/ledger/desk.ts';
import { HandClock, runtimeOver, START, writFor } from '../support/ledger/runtime.ts';
import {
  closedAfterEach,
  onEveryDatabase,
  type Place,
  postgresPlace,
} from '../support/ledger/stores.ts';
import { holdTable, Relay, untilOneWaits, withPostgres } from '../support/postgres/index.ts';

// Facts are written with their commit, at every kill. An elected fact stays elected, even if the
// commit was lost.

const WRITERS_PROGRAM = await bundled(join(import.meta.dirname, 'belief-writers.ts'));
const VOTER_PROGRAM = join(import.meta.dirname, 'vote-then-die.ts');
const SEED = Number(process.env['ASSIZE_SEED']);
const WRITERS = 4;
/**
 * Appends to SQLite run `ASSIZE_CRASH_ROUNDS` rounds; this test runs one in 40, and half as many on
 * a server.
 */
const ROUNDS = Math.max(
  2,
  Math.ceil(Number(process.env['ASSIZE_CRASH_ROUNDS'] ?? cases(200)) / 40),
);
/** At a server, in the life of one process of writers. */
const STRIKES = Math.max(3, cases(6));
/** More facts than there are. */
const ALL = 100_000;
const writ = writFor('nurse');

function started(
  program: string,
  ...args: string[]
): { child: ChildProcess; lines: ReturnType<typeof createInterface> } {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  return { child, lines: createInterface(child.stdout!) };
}

/** The output of a process about one commit before the kill. */
interface Sent {
  readonly claims: number;
  entry: string | undefined;
}

/** A process of writers, and its output. */
class Life {
  readonly sent: Map<string, Sent> = new Map();
  /** Codes of errors. */
  readonly failed: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #answers = 0;
  #wanted = { answers: Number.POSITIVE_INFINITY, reached: (): void => undefined };

  constructor(url: string, round: number) {
    const { child, lines } = started(WRITERS_PROGRAM, url, String(WRITERS), String(round));
    this.#child = child;
    onTestFinished(() => void child.kill('SIGKILL'));
    this.#ended = Promise.all([once(child, 'exit'), once(lines, 'close')]);
    lines.on('line', (line) => {
      const [word, source, rest] = line.split(' ') as [string, string, string];
      if (word === 'sent') this.sent.set(source, { claims: Number(rest), entry: undefined });
      if (word === 'failed') this.failed.push(rest);
      if (word === 'committed') {
        this.sent.get(source)!.entry = rest;
        this.#answers += 1;
      }
      if (this.#answers >= this.#wanted.answers) this.#wanted.reached();
    });
  }

  /** When so many more are answered. */
  async answered(more: number): Promise<void> {
    const reached = new Promise<void>((resolve) => {
      this.#wanted = { answers: this.#answers + more, reached: resolve };
    });
    const early = this.#ended.then(() => {
      throw new Error('the writers have ended by themselves');
    });
    await Promise.race([reached, early]);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
    expect(this.#child.signalCode).toBe('SIGKILL');
  }
}

/**
 * Facts equal the ledger. Answered commits exist, and unanswered commits exist wholly or not at
 * all.
 */
async function expectWhole(store: Store, sent: ReadonlyMap<string, Sent>): Promise<void> {
  expect(await checkMemory(store)).toMatchObject({
    valid: true,
    differences: [],
    changedMeanwhile: 0,
  });
  expect((await store.selfCheck?.()) ?? []).toEqual([]);
  const said = new Set<string>();
  let after: Awaited<ReturnType<Store['facts']>>[number] | undefined;
  do {
    const page = await store.facts({
      space: 'ward',
      kind: 'all',
      limit: 1_000,
      ...(after && { after }),
    });
    for (const row of page) {
      if (row.row_kind === 'current') said.add(row.object);
      else {
        const { members, judge, winner } = JSON.parse(row.object) as Witness;
        for (const { object } of members) said.add(object);
        if (judge !== undefined)
          expect((await store.oracleGet(judge))?.answer).toBe(JSON.stringify(winner));
      }
    }
    after = page.length < 1_000 ? undefined : page.at(-1);
  } while (after !== undefined);
  for (const [source, { claims, entry }] of sent) {
    const there = Array.from({ length: claims }, (_, i) => `${source}-${i}`).filter((object) =>
      said.has(object),
    );
    if (entry !== undefined) expect(await store.resolve(entry), source).toBeDefined();
    expect([...(entry === undefined ? [0] : []), claims], source).toContain(there.length);
  }
}

onEveryDatabase((stores) => {
  const rounds = stores.kind === 'sqlite' ? ROUNDS : Math.max(2, Math.ceil(ROUNDS / 2));
  const title = `what is believed is what the ledger says, and nothing answered is lost, in ${rounds} rounds of kill -9`;
  test(title, { timeout: 600_000 + rounds * 10_000 }, async () => {
    const place = stores.newPlace();
    const next = seededNumbers(SEED);
    const all = new Map<string, Sent>();
    let doubts = 0;
    for (let round = 0; round < rounds; round += 1) {
      const life = new Life(place.url, round);
      await life.answered(1 + next(25));
      await life.kill();
      for (const [source, one] of life.sent) {
        all.set(source, one);
        if (one.entry === undefined) doubts += 1;
      }
      const store = await place.open();
      await expectWhole(store, all);
      await store.close();
    }
    const store = await place.open();
    for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
    expect(all.size - doubts).toBeGreaterThan(rounds);
    // A run shows nothing unless some commits are in doubt.
    expect(doubts).toBeGreaterThanOrEqual(rounds);
  });

  const march = { from: '2026-03-01T00:00:00.000000Z', to: '2026-04-01T00:00:00.000000Z' };
  const names = { subject: 'p7', predicate: 'triage' };
  const old = { ...names, object: 'can wait' };
  test.each<[string, AssertInput, string]>([
    ['the same proposal', { ...old, object: 'urgent', valid: march }, 't'],
    ['the same proposal, of no time of its own', { ...old, object: 'urgent' }, 't'],
    [
      'the same of another trajectory, of no time of its own',
      { ...old, object: 'urgent', source: 'letter' },
      'u',
    ],
    [
      'the same of another trajectory',
      { ...old, object: 'urgent', valid: march, source: 'letter' },
      'u',
    ],
  ])(
    'an elected fact before a crash is elected after it, without a vote: %s',
    async (_, claim, by) => {
      const place = stores.newPlace();
      const before = await begun(place, 't');
      await before.memory.assert({ ...old, valid: { from: march.from } });
      await before.store.close();
      const { child, lines } = started(VOTER_PROGRAM, place.url, JSON.stringify(claim));
      const heard: string[] = [];
      lines.on('line', (line) => heard.push(line));
      await Promise.all([once(child, 'exit'), once(lines, 'close')]);
      expect([heard, child.signalCode]).toEqual([['asked'], 'SIGKILL']);

      let votes = 0;
      const choose: Judge['choose'] = ({ members }) => {
        votes += 1;
        return members.find(({ object }) => object !== claim.object)!.claim;
      };
      const after = await begun(place, by, choose);
      expect((await after.memory.recall({ ...names, valid: march.from })).facts).toMatchObject([
        { object: 'can wait' },
      ]);
      const key = by === 't' ? { idempotencyKey: 'triage' } : {};
      expect(await after.memory.assert(claim, key)).toMatchObject({ ruling: 'committed' });
      const at = claim.valid === undefined ? {} : { valid: march.from };
      const { facts } = await after.memory.recall({ ...names, ...at });
      expect(facts).toMatchObject([{ object: 'urgent' }]);
      expect(votes).toBe(0);
      // The current judge gets a new question.
      const other = { ...old, object: 'gone home', ...(claim.valid && { valid: march }) };
      expect(await after.memory.assert(other)).toMatchObject({ ruling: 'committed' });
      expect(votes).toBe(1);
    },
  );
});

withPostgres(
  'PostgreSQL, a server that is killed',
  (postgres) => {
    const close = closedAfterEach();

    test(`facts equal the ledger, once, writers continue, ${STRIKES} times kill -9`, async () => {
      const place = postgresPlace(postgres, postgres.url(), close);
      const relay = await Relay.start(postgres.server.port);
      onTestFinished(() => relay.stop());
      const through = new URL(place.url);
      through.port = String(relay.port);
      const life = new Life(through.href, 0);
      const next = seededNumbers(SEED);
      const moments = [
        // At any moment of its work.
        async () => undefined,
        // Between an entry and its facts: it is in, and they wait for a lock.
        async () => {
          await holdTable(place.url, 'fact', 'EXCLUSIVE');
          await untilOneWaits(postgres);
        },
        // After a commit with a lost answer.
        () => relay.lose('answered', 'assize append facts'),
      ];
      for (let strike = 0; strike < STRIKES; strike += 1) {
        await life.answered(1 + next(25));
        await moments[strike % moments.length]!();
        await postgres.server.stop('killed');
        await postgres.server.start();
      }
      await life.answered(10);
      await life.kill();
      expect(new Set(life.failed).size).toBeGreaterThan(0);
      expect(['commit_unknown', 'store_unreachable']).toEqual(
        expect.arrayContaining([...new Set(life.failed)]),
      );

      const store = await place.open();
      await expectWhole(store, life.sent);
      for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
      await expectSaidOnce(store, life.sent);
      const before = await store.facts({ space: 'ward', kind: 'all', limit: ALL });
      await rebuildMemory(store);
      expect(await store.facts({ space: 'ward', kind: 'all', limit: ALL })).toEqual(before);
      expect(before.length).toBeLessThan(ALL);
    });
  },
  { own: true },
);

/**
 * Each existing commit is there once, after any number of retries, and no other commit is there.
 */
async function expectSaidOnce(store: Store, sent: ReadonlyMap<string, Sent>): Promise<void> {
  const ids = new Set<string>();
  const keys: (string | undefined)[] = [];
  for (const { trajectory_id } of await store.trajectories()) {
    for (const row of await allEntries(store, trajectory_id)) {
      const payload = JSON.parse(row.payload) as Payload;
      if (payload.kind !== 'commit') continue;
      ids.add(row.id);
      keys.push(payload.key_hash);
    }
  }
  const answered = [...sent.values()].flatMap(({ entry }) => (entry === undefined ? [] : [entry]));
  expect(answered.filter((entry) => !ids.has(entry))).toEqual([]);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys).not.toContain(undefined);
  // Each writer has one under way when it is killed.
  expect(ids.size - answered.length).toBeLessThanOrEqual(WRITERS);
}

async function begun(
  place: Place,
  trajectoryId: string,
  choose: Judge['choose'] = ({ members }) => members[0]!.claim,
): Promise<{ store: Store; memory: Memory }> {
  const store = await place.open();
  const clock = new HandClock();
  const isThere = (await store.head(trajectoryId)) !== undefined;
  // Later than every assertion of the killed process.
  if ((await store.trajectories()).length > 0) clock.forward(60_000);
  const judge = { oracle: createOracle({ store, clock, mode: 'record' }), choose };
  const runtime = runtimeOver(store, [clinic], {
    ports: { clock, random: seededRandom(`${START} ${isThere}`) },
    memory: { judge },
  });
  const trajectory = isThere
    ? await runtime.open(trajectoryId, clinic)
    : await runtime.create(clinic, { trajectoryId, writs: [writ] });
  return { store, memory: trajectory.memory({ space: 'ward', writ }) };
}
