import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Witness } from '#memory';
import { createOracle, seededRandom } from '#oracle';
import { type AssertInput, type AssizeOptions, checkMemory, type Memory, verifyStore } from '#runtime';
import type { Store } from '#stores';
import { seededNumbers } from '../../src/testing/faults.ts';
import { clinic } from '../support/clinic.ts';
import { HandClock, runtimeOver, START, writFor } from '../support/runtime.ts';
import { onEveryDatabase, type Place } from '../support/stores.ts';

// What is believed is written with its commit, whatever is killed when; and who was elected stays so, where the commit was lost.

const WRITERS = 4;
/** Of appends to SQLite there are `ASSIZE_CRASH_ROUNDS`, of these one in 40; on a server half as many. */
const ROUNDS = Math.ceil(Number(process.env['ASSIZE_CRASH_ROUNDS'] ?? '200') / 40);
const writ = writFor('nurse');

function started(
  program: string,
  ...args: string[]
): { child: ChildProcess; lines: ReturnType<typeof createInterface> } {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  return { child, lines: createInterface(child.stdout!) };
}

/** What a process has said of one commit before it was killed. */
interface Sent {
  readonly claims: number;
  entry: string | undefined;
}

/** One life, killed some time after so many answers. */
async function live(url: string, round: number, answers: number): Promise<Map<string, Sent>> {
  const { child, lines } = started('./belief-writers.ts', url, String(WRITERS), String(round));
  const sent = new Map<string, Sent>();
  let heard = 0;
  lines.on('line', (line) => {
    const [word, source, rest] = line.split(' ') as [string, string, string];
    if (word === 'sent') sent.set(source, { claims: Number(rest), entry: undefined });
    else if (word === 'committed') {
      sent.get(source)!.entry = rest;
      heard += 1;
    }
    if (heard > answers) child.kill('SIGKILL');
  });
  await Promise.all([once(child, 'exit'), once(lines, 'close')]);
  expect(child.signalCode).toBe('SIGKILL');
  return sent;
}

/** Facts are what the ledger says; what was answered is there, and of what was not all or nothing. */
async function expectWhole(store: Store, sent: ReadonlyMap<string, Sent>): Promise<void> {
  expect(await checkMemory(store)).toMatchObject({ valid: true, differences: [], changedMeanwhile: 0 });
  expect((await store.selfCheck?.()) ?? []).toEqual([]);
  const said = new Set<string>();
  let after: Awaited<ReturnType<Store['facts']>>[number] | undefined;
  do {
    const page = await store.facts({ space: 'ward', kind: 'all', limit: 1_000, ...(after && { after }) });
    for (const row of page) {
      if (row.row_kind === 'current') said.add(row.object);
      else {
        const { members, judge, winner } = JSON.parse(row.object) as Witness;
        for (const { object } of members) said.add(object);
        if (judge !== undefined) expect((await store.oracleGet(judge))?.answer).toBe(JSON.stringify(winner));
      }
    }
    after = page.length < 1_000 ? undefined : page.at(-1);
  } while (after !== undefined);
  for (const [source, { claims, entry }] of sent) {
    const there = Array.from({ length: claims }, (_, i) => `${source}-${i}`).filter((object) => said.has(object));
    if (entry !== undefined) expect(await store.resolve(entry), source).toBeDefined();
    expect([...(entry === undefined ? [0] : []), claims], source).toContain(there.length);
  }
}

onEveryDatabase((stores) => {
  const rounds = stores.kind === 'sqlite' ? ROUNDS : Math.ceil(ROUNDS / 2);
  const title = `what is believed is what the ledger says, and nothing answered is lost, in ${rounds} rounds of kill -9`;
  test(title, { timeout: 60_000 + rounds * 10_000 }, async () => {
    const place = stores.newPlace();
    const next = seededNumbers(20_260_325);
    const all = new Map<string, Sent>();
    let doubts = 0;
    for (let round = 0; round < rounds; round += 1) {
      const sent = await live(place.url, round, next(25));
      for (const [source, one] of sent) {
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
    // What is in doubt has to be seen, or a run says nothing.
    expect(doubts).toBeGreaterThanOrEqual(rounds);
  });

  const march = { from: '2026-03-01T00:00:00.000000Z', to: '2026-04-01T00:00:00.000000Z' };
  const old = { subject: 'p7', predicate: 'triage', object: 'can wait' };
  test.each<[string, AssertInput, string]>([
    ['the same proposal', { ...old, object: 'urgent', valid: march }, 't'],
    ['the same proposal, of no time of its own', { ...old, object: 'urgent' }, 't'],
    ['the same of another trajectory, of no time of its own', { ...old, object: 'urgent', source: 'letter' }, 'u'],
    ['the same of another trajectory', { ...old, object: 'urgent', valid: march, source: 'letter' }, 'u'],
  ])('who was elected before a crash is elected after it, without another vote: %s', async (_, claim, by) => {
    const place = stores.newPlace();
    const before = await begun(place, 't');
    await before.memory.assert({ ...old, valid: { from: march.from } });
    await before.store.close();
    const { child, lines } = started('./vote-then-die.ts', place.url, JSON.stringify(claim));
    const heard: string[] = [];
    lines.on('line', (line) => heard.push(line));
    await Promise.all([once(child, 'exit'), once(lines, 'close')]);
    expect([heard, child.signalCode]).toEqual([['asked'], 'SIGKILL']);

    let votes = 0;
    const choose: NonNullable<AssizeOptions['judge']>['choose'] = ({ members }) => {
      votes += 1;
      return members.find(({ object }) => object !== claim.object)!.claim;
    };
    const after = await begun(place, by, choose);
    expect((await after.memory.recall({ ...old, valid: march.from })).facts).toMatchObject([{ object: 'can wait' }]);
    const key = by === 't' ? { idempotencyKey: 'triage' } : {};
    expect(await after.memory.assert(claim, key)).toMatchObject({ ruling: 'committed' });
    const at = claim.valid === undefined ? {} : { valid: march.from };
    const { facts } = await after.memory.recall({ subject: 'p7', predicate: 'triage', ...at });
    expect(facts).toMatchObject([{ object: 'urgent' }]);
    expect(votes).toBe(0);
    // What nobody was asked before is put to who judges now.
    const other = { ...old, object: 'gone home', ...(claim.valid && { valid: march }) };
    expect(await after.memory.assert(other)).toMatchObject({ ruling: 'committed' });
    expect(votes).toBe(1);
  });
});

async function begun(
  place: Place,
  trajectoryId: string,
  choose: NonNullable<AssizeOptions['judge']>['choose'] = ({ members }) => members[0]!.claim,
): Promise<{ store: Store; memory: Memory }> {
  const store = await place.open();
  const clock = new HandClock();
  const isThere = (await store.head(trajectoryId)) !== undefined;
  // Later than whatever was said before it died.
  if ((await store.trajectories()).length > 0) clock.forward(60_000);
  const judge = { oracle: createOracle({ store, clock, mode: 'record' }), choose };
  const runtime = runtimeOver(store, [clinic], { clock, random: seededRandom(`${START} ${isThere}`), judge });
  const trajectory = isThere
    ? await runtime.open(trajectoryId, clinic)
    : await runtime.create(clinic, { trajectoryId, writs: [writ] });
  return { store, memory: trajectory.memory({ space: 'ward', writ }) };
}
