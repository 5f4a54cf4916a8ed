import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { addMicros, type Instant } from '#canon';
import { defineDomain } from '#kernel';
import { type Batch, type CommitPayload, type PendingPayload, readRow } from '#ledger';
import { type FactRow, OPEN_END, readWitness } from '#memory';
import { attemptsOf, createOracle, oracleKey, type Pause } from '#oracle';
import { openStore } from '#stores';
import { clinic } from '../../../tests/support/clinic.ts';
import { HandClock, intent, runtimeOver, START, writFor } from '../../../tests/support/runtime.ts';
import { type AskedQuestion, type AssizeOptions, type Judge, type Memory, type Ruling, verifyStore } from '../index.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-memory-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const writ = writFor('nurse');
const day = (text: string): Instant => `${text}T00:00:00.000000Z`;
const objects = (facts: readonly FactRow[]): string[] => facts.map(({ object }) => object);
let files = 0;

/** A domain with nothing in it. */
const PLAIN = {
  version: '1',
  state: z.object({}),
  initial: {},
  processes: {},
  roles: {},
  actions: {},
  invariants: [],
};

describe.each(['memory', 'sqlite'])('on %s', (kind) => {
  const begun = async (options: Partial<AssizeOptions> = {}) => {
    const url = kind === 'memory' ? 'memory:' : `sqlite:${join(folder, `${++files}.db`)}`;
    const store = await openStore(url);
    const clock = new HandClock();
    const assize = runtimeOver(store, [clinic], { clock, ...options });
    const trajectory = await assize.create(clinic, { trajectoryId: 't', writs: [writ] });
    const memory = trajectory.memory({ space: 'ward', writ });
    return { store, clock, assize, trajectory, memory, url };
  };
  const committed = async (said: Promise<Ruling>): Promise<CommitPayload> => {
    const ruling = await said;
    expect(ruling).toMatchObject({ ruling: 'committed' });
    return readRow((ruling as Extract<Ruling, { ruling: 'committed' }>).entry).payload as CommitPayload;
  };
  const drug = async (memory: Memory, query: object): Promise<string[]> =>
    objects((await memory.recall({ subject: 'p7', predicate: 'drug', ...query })).facts);

  test('what was believed at any time of what was so at any time', async () => {
    const { clock, memory } = await begun();
    await committed(
      memory.assert({ subject: 'p7', predicate: 'drug', object: 'penicillin', valid: { from: day('2026-03-01') } }),
    );
    clock.forward(60_000);
    await committed(
      memory.change({ subject: 'p7', predicate: 'drug', object: 'amoxicillin', from: day('2026-04-15') }),
    );
    const before = { system: START };
    expect(await drug(memory, { valid: day('2026-03-20') })).toEqual(['penicillin']);
    expect(await drug(memory, { valid: day('2026-05-01') })).toEqual(['amoxicillin']);
    expect(await drug(memory, { valid: day('2026-05-01'), ...before })).toEqual(['penicillin']);
    expect(await drug(memory, { valid: day('2026-02-01') })).toEqual([]);
    expect(await drug(memory, { valid: 'any' })).toEqual(['penicillin', 'amoxicillin']);
    expect(await drug(memory, { valid: 'any', system: addMicros(START, -1) })).toEqual([]);
  });

  test('who lost a contradiction is kept in full, and explained down to the entries', async () => {
    const { clock, memory } = await begun();
    const first = await committed(
      memory.assert({ subject: 'p7', predicate: 'weight', object: '81 kg', confidence: 0.6 }),
    );
    clock.forward(1_000);
    await committed(memory.assert({ subject: 'p7', predicate: 'weight', object: '79 kg', confidence: 0.9 }));
    clock.forward(1_000);
    await committed(memory.assert({ subject: 'p7', predicate: 'weight', object: '97 kg', confidence: 0.1 }));
    const { facts } = await memory.recall({ subject: 'p7', predicate: 'weight' });
    expect(objects(facts)).toEqual(['79 kg']);
    const audit = await memory.recall({ subject: 'p7', predicate: 'weight', kind: 'audit', valid: 'any' });
    const lost = audit.facts
      .map((row) => readWitness(row))
      .map(({ loser, members }) => members.find(({ claim }) => claim === loser)?.object);
    expect(lost).toEqual(['81 kg', '97 kg']);
    const explained = await memory.explain(facts[0]!);
    expect(explained.contradictions).toHaveLength(2);
    expect(explained.entries.map(({ seq, action }) => [seq, action])).toEqual([[2, 'assize.believe']]);
    expect(first.delta.beliefs).toHaveLength(1);
    expect((await memory.history({ subject: 'p7', predicate: 'weight' })).length).toBeGreaterThan(1);
  });

  test('a correction and a retraction take back, and remain as of before', async () => {
    const { clock, memory } = await begun();
    const march = { from: day('2026-03-01'), to: day('2026-04-01') };
    await committed(memory.assert({ subject: 'p7', predicate: 'drug', object: 'aspirin', valid: march }));
    clock.forward(1_000);
    await committed(memory.correct({ subject: 'p7', predicate: 'drug', object: 'ibuprofen', valid: march }));
    clock.forward(1_000);
    await committed(memory.retract({ subject: 'p7', predicate: 'drug', valid: march }));
    const at = { valid: day('2026-03-10') };
    expect(await drug(memory, at)).toEqual([]);
    expect(await drug(memory, { ...at, system: addMicros(START, 1_000_000) })).toEqual(['ibuprofen']);
    expect(await drug(memory, { ...at, system: START })).toEqual(['aspirin']);
    const point = (system: Instant) => ({ valid: day('2026-03-10'), system });
    const difference = await memory.diff(point(START), point(addMicros(START, 1_000_000)));
    expect([objects(difference.removed), objects(difference.added)]).toEqual([['aspirin'], ['ibuprofen']]);
  });

  test('many say something at once in one process: each is written, and one is believed at every instant', async () => {
    const { memory, assize } = await begun();
    const other = await assize.create(clinic, { trajectoryId: 'u', writs: [writ] });
    const memories = [memory, other.memory({ space: 'ward', writ })];
    await Promise.all(
      Array.from({ length: 24 }, (_, n) =>
        committed(memories[n % 2]!.assert({ subject: 'p7', predicate: 'drug', object: `drug ${n}` })),
      ),
    );
    expect(await drug(memory, {})).toHaveLength(1);
    const all = await memory.recall({ subject: 'p7', predicate: 'drug', kind: 'audit', valid: 'any' });
    expect(new Set(all.facts.map((row) => readWitness(row).loser)).size).toBe(23);
  });

  test('the same from the same source is said once, also by a process that comes later', async () => {
    const { memory, store } = await begun();
    const said = { subject: 'p7', predicate: 'allergy', object: 'penicillin', source: 'letter 12' };
    await committed(memory.assert(said));
    await committed(
      memory.retract({
        subject: 'p7',
        predicate: 'allergy',
        valid: { from: day('2020-01-01'), to: day('2030-01-01') },
      }),
    );
    expect((await committed(memory.assert(said))).delta.beliefs).toEqual([]);
    const again = await runtimeOver(store, [clinic]).open('t', clinic);
    expect((await committed(again.memory({ space: 'ward', writ }).assert(said))).delta.beliefs).toEqual([]);
    expect((await committed(memory.assert({ ...said, source: 'letter 13' }))).delta.beliefs).toHaveLength(1);
  });

  test('the same from the same source is said once where it was merged into what was believed, too', async () => {
    const { memory, store, clock } = await begun();
    const said = (source: string, more: object = {}) => ({
      subject: 'p7',
      predicate: 'allergy',
      object: 'penicillin',
      valid: { from: day('2026-01-01') },
      source,
      ...more,
    });
    const letters = ['letter 1', 'letter 2', 'letter 3'].map((source) => said(source));
    expect((await committed(memory.assertMany(letters))).delta.beliefs).toHaveLength(1);
    clock.forward(1_000);
    const [added] = (await committed(memory.assert(said('letter 4')))).delta.beliefs;
    expect(added).toMatchObject({ close: [{}], insert: [{}], merged: [expect.stringMatching(/^[0-9a-f]{64}$/)] });
    // What comes between does not hide it, and neither does it when it is cut.
    const spring = { from: day('2026-03-01'), to: day('2026-06-01') };
    await committed(memory.retract({ subject: 'p7', predicate: 'allergy', valid: spring }));
    const versions = (await memory.history()).length;
    const again = await runtimeOver(store, [clinic], { clock }).open('t', clinic);
    const later = again.memory({ space: 'ward', writ });
    for (const one of [memory, later])
      expect((await committed(one.assertMany([...letters, said('letter 4')]))).delta.beliefs).toEqual([]);
    expect(await memory.history()).toHaveLength(versions);
    // Another process says it first: who comes later hears of it.
    await committed(later.assert(said('letter 5')));
    expect((await committed(memory.assert(said('letter 5')))).delta.beliefs).toEqual([]);
    expect((await committed(memory.assert(said('letter 6')))).delta.beliefs).toHaveLength(1);
  });

  test('the same from the same source is said once however often others have said so', async () => {
    const { store, clock, assize, memory } = await begun();
    const said = (source: number) => ({
      ...{ subject: 'p7', predicate: 'drug', object: 'aspirin', source: `letter ${source}` },
      valid: { from: day('2026-03-01') },
    });
    for (let n = 0; n < 40; n++) {
      clock.forward(1_000);
      await committed(memory.assert(said(n)));
    }
    const versions = await memory.history({ subject: 'p7', predicate: 'drug' });
    expect(versions.map(({ provenance_id }) => provenance_id.split(' + ').length)).toEqual(
      Array.from({ length: 40 }, (_, n) => Math.min(n + 1, 32)),
    );
    await assize.close();
    const later = await runtimeOver(store, [clinic], { clock }).open('t', clinic);
    const again = await committed(later.memory({ space: 'ward', writ }).assert(said(38)));
    expect(again.delta.beliefs).toEqual([]);
  });

  test('who has lost together with another that says the same is known, too', async () => {
    const { memory, store } = await begun();
    const weighed = (object: string, confidence: number, source: string) => ({
      subject: 'p7',
      predicate: 'weight',
      object,
      confidence,
      valid: { from: day('2026-01-01') },
      source,
    });
    await committed(memory.assert(weighed('81 kg', 0.9, 'scale 1')));
    const wrong = [weighed('18 kg', 0.2, 'scale 2'), weighed('18 kg', 0.1, 'scale 3')];
    expect((await committed(memory.assertMany(wrong))).delta.beliefs[0]?.merged).toHaveLength(1);
    const again = (await runtimeOver(store, [clinic]).open('t', clinic)).memory({ space: 'ward', writ });
    for (const said of wrong) expect((await committed(again.assert(said))).delta.beliefs).toEqual([]);
  });

  test('one object in two forms of Unicode is one, kept as it was said first, and taken back by either', async () => {
    const { memory, clock } = await begun();
    const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301'] as const;
    const from = day('2026-01-01');
    for (const predicate of ['drug', 'allergy'])
      for (const object of [decomposed, composed, decomposed]) {
        await committed(memory.assert({ subject: 'p7', predicate, object, valid: { from } }));
        clock.forward(1_000);
      }
    const { facts } = await memory.recall({ subject: 'p7', kind: 'all' });
    expect(facts.map(({ object, row_kind }) => `${row_kind} ${object}`)).toEqual(
      Array(2).fill(`current ${decomposed}`),
    );
    const june = { from: day('2026-06-01'), to: day('2026-07-01') };
    const other = { subject: 'p7', predicate: 'allergy', valid: june, object: composed };
    await committed(memory.correct({ ...other, object: 'tea', was: composed }));
    await committed(memory.retract({ ...other, valid: { from, to: june.from } }));
    const allergies = async (valid: Instant): Promise<string[]> =>
      objects((await memory.recall({ subject: 'p7', predicate: 'allergy', valid })).facts);
    expect(await Promise.all([day('2026-05-01'), june.from, june.to].map(allergies))).toEqual([
      [],
      ['tea'],
      [decomposed],
    ]);
  });

  test('who says what stands in place of a text that was erased has said something', async () => {
    const { memory, store } = await begun();
    const batches: Batch[] = [];
    const commit = store.commit.bind(store);
    store.commit = (batch) => {
      batches.push(batch);
      return commit(batch);
    };
    for (const object of [`{"$erased":"${'ab'.repeat(32)}"}`, 'aspirin'])
      await committed(memory.assert({ subject: 'p7', predicate: 'drug', object, valid: { from: day('2026-01-01') } }));
    expect(objects((await memory.recall({ text: 'erased', valid: 'any', system: START })).facts)).toHaveLength(1);
    // The witness repeats it, so it may not be erased meanwhile.
    const [said, lost] = batches.flatMap(({ facts = [] }) => facts);
    expect(lost!.repeats).toEqual([said!.insert[0]!.content.hash]);
  });

  test('an action says what is believed with what it changes, in one entry', async () => {
    const { trajectory, memory } = await begun();
    const visit = intent('visit', { patient: 'p7', weight: '80 kg' }, writ, { role: 'nurse' } as never);
    const payload = await committed(trajectory.propose({ ...visit, role: 'nurse' }));
    expect(payload.delta).toMatchObject({ state: [{ path: '/visits', value: 1 }], beliefs: [{ version: 1 }] });
    expect(objects((await memory.recall({ subject: 'p7' })).facts)).toEqual(['80 kg']);
    expect(JSON.stringify(payload)).not.toMatch(/p7|80 kg|ward/);
  });

  test('where a person has to choose nothing is believed before, and what is chosen is', async () => {
    const { clock, trajectory, memory } = await begun();
    const diagnosis = async (): Promise<string[]> =>
      objects((await memory.recall({ subject: 'p7', predicate: 'diagnosis' })).facts);
    await committed(memory.assert({ subject: 'p7', predicate: 'diagnosis', object: 'flu' }));
    clock.forward(1_000);
    const asked = await memory.assert({ subject: 'p7', predicate: 'diagnosis', object: 'pneumonia' });
    expect(asked).toMatchObject({ ruling: 'escalated', reason: 'contradiction', channel: 'doctor' });
    expect(await diagnosis()).toEqual(['flu']);
    const { pending, entry } = asked as Extract<Ruling, { ruling: 'escalated' }>;
    expect(entry.payload).not.toMatch(/p7|pneumonia/);
    const decide = { principal: 'dr house', method: 'test' };
    await expect(trajectory.approve(pending, decide)).rejects.toMatchObject({ code: 'answers_needed' });
    const [question] = await trajectory.questionsOf(pending);
    const winner = question!.members.find(({ object }) => object === 'pneumonia')!.claim;
    const answers = [{ request: question!.request, winner }];
    // However long it takes: what was said without a time of its own is so since it was said.
    clock.forward(60_000);
    await expect(
      trajectory.approve(pending, { ...decide, answers: [{ ...answers[0]!, winner: 'nobody' }] }),
    ).rejects.toMatchObject({
      code: 'unknown_member',
    });
    expect(await diagnosis()).toEqual(['flu']);
    expect(await trajectory.approve(pending, { ...decide, answers })).toMatchObject({ ruling: 'committed' });
    expect(await diagnosis()).toEqual(['pneumonia']);
    expect((readRow(entry).payload as PendingPayload).freezes).toEqual([]);
  });

  test('an answer to what is not asked any more is refused by name, and nothing is written', async () => {
    const { trajectory, memory } = await begun();
    await committed(memory.assert({ subject: 'p7', predicate: 'diagnosis', object: 'flu' }));
    const { pending } = (await memory.assert({ subject: 'p7', predicate: 'diagnosis', object: 'cold' })) as never as {
      pending: string;
    };
    const [{ request, members }] = (await trajectory.questionsOf(pending)) as unknown as [
      { request: string; members: [{ claim: string }] },
    ];
    const whole = { from: day('2000-01-01'), to: day('2100-01-01') };
    await committed(memory.correct({ subject: 'p7', predicate: 'diagnosis', object: 'measles', valid: whole }));
    const length = trajectory.length;
    const answer = { principal: 'dr house', method: 'test', answers: [{ request, winner: members[0].claim }] };
    await expect(trajectory.approve(pending, answer)).rejects.toMatchObject({ code: 'stale_answer' });
    expect(trajectory.length).toBe(length);
  });

  test('what is not in question any more is approved without answers, or proposed again and asked anew', async () => {
    const { clock, trajectory, memory } = await begun();
    const diagnosis = (object: string) => ({ subject: 'p7', predicate: 'diagnosis', object });
    const always = { from: day('2000-01-01'), to: OPEN_END };
    const decide = { principal: 'dr house', method: 'test' };
    const asked = async (object: string) => {
      const ruling = await memory.assert(diagnosis(object), { idempotencyKey: `${object} ${clock.now()}` });
      if (ruling.ruling !== 'escalated') throw new Error(JSON.stringify(ruling));
      const [question] = await trajectory.questionsOf(ruling.pending);
      const [winner] = question!.members.map(({ claim }) => claim) as [string];
      return { pending: ruling.pending, question: question!, answers: [{ request: question!.request, winner }] };
    };
    await committed(memory.assert(diagnosis('flu')));
    clock.forward(1_000);
    const [gone, moved] = [await asked('cold'), await asked('gout')];
    // Nothing contradicts one, and something else the other.
    await committed(memory.retract({ subject: 'p7', predicate: 'diagnosis', valid: always }));
    for (const { pending, answers, question } of [gone, moved]) {
      const refused = trajectory.approve(pending, { ...decide, answers });
      await expect(refused).rejects.toMatchObject({
        code: 'stale_answer',
        evidence: { id: pending, request: question.request },
        message: expect.stringMatching(/Approve it without answers.* reject it .*under a new idempotency key/),
      });
    }
    expect(await trajectory.approve(gone.pending, decide)).toMatchObject({ ruling: 'committed' });
    await expect(trajectory.approve(moved.pending, decide)).rejects.toMatchObject({ code: 'answers_needed' });
    await trajectory.reject(moved.pending, { ...decide, reason: 'it is asked about something else' });
    clock.forward(1_000);
    const again = await asked('gout');
    expect(again.question.members.map(({ object }) => object).sort()).toEqual(['cold', 'gout']);
    const { claim: winner } = again.question.members.find(({ object }) => object === 'gout')!;
    const answers = [{ request: again.question.request, winner }];
    expect(await trajectory.approve(again.pending, { ...decide, answers })).toMatchObject({ ruling: 'committed' });
    const { facts } = await memory.recall({ subject: 'p7', predicate: 'diagnosis' });
    expect(objects(facts)).toEqual(['gout']);
  });

  test('a judge is asked once for each question, and its vote is in the log before it counts', async () => {
    const calls: string[] = [];
    const store = await openStore('memory:');
    const oracle = createOracle({ store, clock: new HandClock(), mode: 'record' });
    const choose = ({
      request,
      members,
    }: {
      request: string;
      members: readonly { claim: string; object: string }[];
    }): string => {
      calls.push(request);
      // A judge takes its time, and what is said now is asked about once all the same.
      asking.forward(1_000);
      if (calls.length > 5) throw new Error('it is asked again and again');
      return members.find(({ object }) => object === 'urgent')!.claim;
    };
    const asking = new HandClock();
    const { memory } = await begun({ judge: { oracle, choose }, clock: asking });
    const clock = asking;
    await committed(memory.assert({ subject: 'p7', predicate: 'triage', object: 'urgent' }));
    clock.forward(1_000);
    await committed(memory.assert({ subject: 'p7', predicate: 'triage', object: 'can wait' }));
    expect(objects((await memory.recall({ subject: 'p7', predicate: 'triage' })).facts)).toEqual(['urgent']);
    expect(calls).toHaveLength(1);
    const [row] = (await memory.recall({ subject: 'p7', predicate: 'triage', kind: 'audit', valid: 'any' })).facts;
    expect(await store.oracleGet(readWitness(row!).judge!)).toBeDefined();
  });

  test('what a judge and a person have to choose in one proposal is the same when the person answers, and the judge is asked once', async () => {
    const clock = new HandClock();
    const asked: string[] = [];
    const oracle = createOracle({ store: await openStore('memory:'), clock, mode: 'record' });
    const choose = ({ request, members }: { request: string; members: readonly { claim: string }[] }): string => {
      asked.push(request);
      clock.forward(1_000);
      return members[0]!.claim;
    };
    const { store, memory, trajectory } = await begun({ judge: { oracle, choose }, clock });
    const said = (diagnosis: string, triage: string): Promise<Ruling> =>
      memory.assertMany([
        { subject: 'p7', predicate: 'triage', object: triage },
        { subject: 'p7', predicate: 'diagnosis', object: diagnosis },
      ]);
    await committed(said('flu', 'urgent'));
    clock.forward(1_000);
    const { pending } = (await said('pneumonia', 'can wait')) as Extract<Ruling, { ruling: 'escalated' }>;
    const [question, ...others] = await trajectory.questionsOf(pending);
    expect([question!.predicate, others]).toEqual(['diagnosis', []]);
    const winner = question!.members.find(({ object }) => object === 'pneumonia')!.claim;
    clock.forward(60_000);
    const answers = [{ request: question!.request, winner }];
    const decide = { principal: 'dr house', method: 'test', answers };
    // Also by a process that has heard nothing of the vote.
    const again = await runtimeOver(store, [clinic], { clock, judge: { oracle, choose } }).open('t', clinic);
    expect(await again.approve(pending, decide)).toMatchObject({ ruling: 'committed' });
    expect(asked).toHaveLength(1);
    expect(objects((await memory.recall({ subject: 'p7', predicate: 'diagnosis' })).facts)).toEqual(['pneumonia']);
    expect(await verifyStore(store)).toMatchObject([{ valid: true }]);
  });

  describe('a judge', () => {
    type Choosing = Parameters<Judge['choose']>[0];
    const judged = async (choose: Judge['choose'], more: Partial<Judge> = {}) => {
      const log = await openStore('memory:');
      const oracle = createOracle({ store: log, clock: new HandClock(), mode: 'record' });
      const requests: string[] = [];
      const asking = (question: Choosing) => {
        requests.push(question.request);
        return choose(question);
      };
      const world = await begun({ judge: { oracle, choose: asking, ...more } });
      await committed(world.memory.assert({ ...triage, object: 'urgent' }));
      const keys = () =>
        [...new Set(requests)].map((judge) =>
          oracleKey({ scope: { kind: 'memory', space: 'ward' }, request: { judge } }),
        );
      return { ...world, log, requests, keys };
    };
    const triage = { subject: 'p7', predicate: 'triage', valid: { from: day('2026-01-01') } };
    const urgent = ({ members }: Choosing): string => members.find(({ object }) => object === 'urgent')!.claim;

    test('that throws, votes for nobody or takes too long has its attempts kept; it is asked again, and nothing was believed', async () => {
      const votes: ((question: Choosing) => string | Promise<string>)[] = [
        () => {
          throw new Error('the model is away');
        },
        () => 'somebody',
        () => new Promise<string>(() => undefined),
        urgent,
      ];
      const pause: Pause = async (_from, _to, signal) => {
        // What is answered at once is in time.
        await new Promise((resolve) => setImmediate(resolve));
        await new Promise((resolve) => setImmediate(resolve));
        if (signal?.aborted) return;
      };
      const { memory, log, requests, keys, trajectory } = await judged((question) => votes.shift()!(question), {
        timeoutMs: 1_000,
        pause,
      });
      const say = () => memory.assert({ ...triage, object: 'can wait' });
      const length = trajectory.length;
      await expect(say()).rejects.toThrow('the model is away');
      await expect(say()).rejects.toMatchObject({ code: 'unknown_member' });
      await expect(say()).rejects.toMatchObject({ code: 'judge_late' });
      expect(trajectory.length).toBe(length);
      await committed(say());
      // The members are the same each time but for the claim that is said anew.
      const attempts = await Promise.all(keys().map((key) => attemptsOf(log, key)));
      expect(attempts.flat()).toMatchObject([
        { outcome: 'failed', error: { length: 'the model is away'.length } },
        { outcome: 'refused', length: '"somebody"'.length, error: { code: 'unknown_member' } },
        { outcome: 'failed', error: { code: 'judge_late' } },
      ]);
      expect(requests).toHaveLength(4);
    });

    test('is asked anew about what has become of it while it thought', async () => {
      const meanwhile: (() => Promise<unknown>)[] = [];
      const { assize, memory, log, requests, keys } = await judged(async (question) => {
        await meanwhile.shift()?.();
        return urgent(question);
      });
      const other = (await assize.create(clinic, { trajectoryId: 'u', writs: [writ] })).memory({ space: 'ward', writ });
      const half = { from: day('2026-01-01'), to: day('2026-07-01') };
      meanwhile.push(() => committed(other.retract({ subject: 'p7', predicate: 'triage', valid: half })));
      await committed(memory.assert({ ...triage, object: 'can wait' }));
      expect(new Set(requests).size).toBe(2);
      for (const key of keys()) expect(await log.oracleGet(key)).toBeDefined();
      const triaged = async (valid: Instant) => objects((await memory.recall({ subject: 'p7', valid })).facts);
      expect([await triaged(day('2026-03-01')), await triaged(day('2026-08-01'))]).toEqual([['can wait'], ['urgent']]);
    });
  });

  test('what waits for a person expires; a late answer is refused by name, and it is asked anew where it is said again', async () => {
    const { clock, trajectory, memory, store } = await begun({ approvalMs: 10_000 });
    const said = { subject: 'p7', predicate: 'diagnosis', source: 'letter 3', valid: { from: day('2026-01-01') } };
    await committed(memory.assert({ ...said, object: 'flu' }));
    const ask = () => memory.assert({ ...said, object: 'cold' }) as Promise<Extract<Ruling, { ruling: 'escalated' }>>;
    const { pending } = await ask();
    const [question] = await trajectory.questionsOf(pending);
    const { request, members } = question!;
    const answers = [{ request, winner: members[0]!.claim }];
    const decide = { principal: 'dr house', method: 'test', answers };
    clock.forward(20_000);
    expect(await trajectory.approve(pending, decide)).toMatchObject({ ruling: 'rejected', reason: 'expired' });
    const length = trajectory.length;
    await expect(trajectory.approve(pending, decide)).rejects.toMatchObject({ code: 'stale_callback' });
    const { answers: _, ...without } = decide;
    await expect(trajectory.approve(pending, without)).rejects.toMatchObject({ code: 'not_pending' });
    expect(await trajectory.questionsOf(pending).catch((error: { code: string }) => error.code)).toBe('not_pending');
    expect([trajectory.length, trajectory.pending()]).toEqual([length, []]);
    const again = await ask();
    expect(again).toMatchObject({ ruling: 'escalated' });
    expect(again.pending).not.toBe(pending);
    // The same claims, and so the same question.
    expect(await trajectory.questionsOf(again.pending)).toEqual([question]);
    expect(await trajectory.approve(again.pending, decide)).toMatchObject({ ruling: 'committed' });
    await expect(trajectory.approve(again.pending, decide)).rejects.toMatchObject({ code: 'stale_callback' });
    expect(await verifyStore(store)).toMatchObject([{ valid: true }]);
  });

  test('of one subject and predicate a proposal asserts many, or does something else once', async () => {
    const { trajectory, memory } = await begun();
    const about = { space: 'ward', subject: 'p7', predicate: 'drug' };
    const assert = { ...about, verb: 'assert', object: 'aspirin' };
    const change = { ...about, verb: 'change', object: 'none' };
    const say = (...sayings: object[]) =>
      trajectory.propose({ ...intent('assize.believe', { sayings }, writ), role: 'assize' as never });
    for (const sayings of [
      [assert, change],
      [change, change],
      [change, assert],
    ])
      expect(await say(...sayings)).toMatchObject({
        ruling: 'rejected',
        reason: 'precondition_failed',
        detail: expect.stringContaining('repeated_claim'),
      });
    expect(await memory.history()).toEqual([]);
    expect(await say(change, { ...assert, subject: 'p8' })).toMatchObject({ ruling: 'committed' });
  });

  test('what can’t be said is refused by name before it is proposed, with nothing written', async () => {
    const { store, trajectory, memory, assize } = await begun();
    const about = { subject: 'p7', predicate: 'drug' };
    const said = { ...about, object: 'aspirin' };
    const [first, second] = [day('2026-03-01'), day('2026-03-02')];
    const periods = [
      [{ from: second, to: first }, 'reversed_period'],
      [{ from: first, to: first }, 'empty_period'],
      [{ from: 'yesterday', to: second }, 'no_instant'],
      [{ from: first, to: 7 }, 'no_instant'],
      [7, 'bad_argument'],
    ] as const;
    const claims: (readonly [object, string, string])[] = [
      ...[Number.NaN, Number.POSITIVE_INFINITY, 1.5, -1, '0.5', null].map(
        (confidence) => [{ confidence }, 'confidence', 'bad_confidence'] as const,
      ),
      [{ predicate: 'mood' }, 'predicate', 'unknown_predicate'],
      [{ predicate: 'toString' }, 'predicate', 'unknown_predicate'],
      [{ predicate: '' }, 'predicate', 'bad_text'],
      [{ subject: undefined }, 'subject', 'bad_text'],
      [{ subject: 'e\u0301' }, 'subject', 'bad_text'],
      [{ object: 'a\0b' }, 'object', 'bad_text'],
      [{ source: '' }, 'source', 'bad_text'],
      [{ sourceEventId: 'letter' }, 'sourceEventId must be left out, since here it is source', 'bad_argument'],
      [{ confidense: 1 }, 'confidense must be left out, since there is no such member', 'bad_argument'],
    ];
    const inValid = 'must be left out, since a period stands in valid: { from, to }';
    const stamps = [
      [{ strategy: 'newest' }, 'strategy', 'unknown_strategy'],
      [{ strategy: 'evi' }, 'strategy', 'strategy_not_allowed'],
    ] as const;
    const wrong: [() => Promise<unknown>, string, string][] = [];
    const add = (argument: string, code: string, ask: () => Promise<unknown>): unknown =>
      wrong.push([ask, argument, code]);
    for (const [more, member, code] of [...claims, ...stamps]) {
      add(`claims.0.${member}`, code, () => memory.assert({ ...said, ...more } as never));
      add(`claims.1.${member}`, code, () => memory.assertMany([said, { ...said, ...more }] as never));
    }
    for (const [more, member, code] of claims) {
      add(`change.${member}`, code, () => memory.change({ ...said, ...more } as never));
      const valid = { from: first, to: second };
      add(`correction.${member}`, code, () => memory.correct({ ...said, valid, ...more } as never));
    }
    for (const member of ['from', 'to']) {
      const more = { [member]: first };
      const valid = { from: first, to: second };
      add(`claims.0.${member} ${inValid}`, 'bad_argument', () => memory.assert({ ...said, ...more } as never));
      add(`correction.${member} ${inValid}`, 'bad_argument', () =>
        memory.correct({ ...said, valid, ...more } as never),
      );
      add(`retraction.${member} ${inValid}`, 'bad_argument', () =>
        memory.retract({ ...about, valid, ...more } as never),
      );
    }
    add('change.valid must be left out, since a change has a from', 'bad_argument', () =>
      memory.change({ ...said, valid: { from: first } } as never),
    );
    add('claims.0.valid.form', 'bad_argument', () => memory.assert({ ...said, valid: { form: first } } as never));
    for (const [valid, code] of periods) {
      add('claims.0.valid', code, () => memory.assert({ ...said, valid } as never));
      add('correction.valid', code, () => memory.correct({ ...said, valid } as never));
      add('retraction.valid', code, () => memory.retract({ ...about, valid } as never));
    }
    add('claims.0.valid', 'no_instant', () => memory.assert({ ...said, valid: { from: 'yesterday' } }));
    add('change.from', 'no_instant', () => memory.change({ ...said, from: 'yesterday' }));
    add('change.from', 'no_instant', () => memory.change({ ...said, from: OPEN_END }));
    add('correction.valid', 'bad_argument', () => memory.correct(said as never));
    add('retraction.valid', 'bad_argument', () => memory.retract(about as never));
    add('retraction.predicate', 'unknown_predicate', () =>
      memory.retract({ ...about, predicate: 'mood', valid: { from: first, to: second } }),
    );
    add('space', 'bad_text', () => trajectory.memory({ space: 'e\u0301', writ }).assert(said));
    const { head, length } = trajectory;
    for (const [ask, argument, code] of wrong) {
      const error = await ask().then(
        () => ({ code: 'taken', evidence: { argument } }),
        (thrown: { code: string; evidence: object; message: string }) => thrown,
      );
      const [place] = argument.split(' ');
      expect([error.code, error.evidence], `${argument} ${code}`).toMatchObject([code, { argument: place }]);
      expect((error as { message: string }).message).toContain(argument);
    }
    expect([trajectory.head, trajectory.length, (await store.entries('t')).length]).toEqual([head, length, length]);
    expect(await memory.history()).toEqual([]);
    await expect(memory.assert({ ...said, predicate: 'mood' })).rejects.toThrow(/it declares allergy, .*weight/);
    // A domain that has none has nothing that can be said.
    const plain = defineDomain({ ...PLAIN, name: 'plain' });
    const other = await runtimeOver(store, [plain]).create(plain, { trajectoryId: 'plain', writs: [writ] });
    const nothing = other.memory({ space: 'ward', writ });
    await expect(nothing.assert(said)).rejects.toMatchObject({ code: 'unknown_predicate' });
    expect(other.length).toBe(1);
    await assize.close();
  });

  test('what can’t be said is a rejection on record where a model proposes it, or an action says it, under the same name', async () => {
    const { trajectory, memory, store, clock } = await begun();
    const about = { space: 'ward', subject: 'p7', predicate: 'drug' };
    const said = { ...about, verb: 'assert', object: 'aspirin' };
    const valid = { from: day('2026-03-02'), to: day('2026-03-01') };
    const refusals = [
      [{ ...said, confidence: 1.5 }, 'bad_confidence', 'type_mismatch'],
      [{ ...said, strategy: 'newest' }, 'unknown_strategy', 'type_mismatch'],
      [{ ...said, subject: '' }, 'bad_text', 'type_mismatch'],
      [{ ...said, valid: { from: 7 } }, 'no_instant', 'type_mismatch'],
      [{ ...said, predicate: 'mood' }, 'unknown_predicate', 'precondition_failed'],
      [{ ...said, strategy: 'evi' }, 'strategy_not_allowed', 'precondition_failed'],
      [{ ...said, valid }, 'reversed_period', 'precondition_failed'],
      [{ ...said, valid: { from: valid.to, to: valid.to } }, 'empty_period', 'precondition_failed'],
      [{ ...said, valid: { from: 'yesterday' } }, 'no_instant', 'precondition_failed'],
      [{ ...said, verb: 'change', predicate: 'allergy' }, 'not_single_valued', 'precondition_failed'],
    ] as const;
    for (const [saying, code, reason] of refusals) {
      const { length } = trajectory;
      const believe = intent('assize.believe', { sayings: [saying] }, writ);
      expect(await trajectory.propose({ ...believe, role: 'assize' as never })).toMatchObject({
        ruling: 'rejected',
        reason,
        detail: expect.stringMatching(new RegExp(`^${code}: `)),
      });
      expect(trajectory.length).toBe(length + 1);
    }
    // What no code is for has none before it.
    const guess = intent('assize.believe', { sayings: [{ ...said, verb: 'guess' }] }, writ);
    expect(await trajectory.propose({ ...guess, role: 'assize' as never })).toMatchObject({
      reason: 'type_mismatch',
      detail: expect.stringMatching(/^args /),
    });
    expect(await memory.history()).toEqual([]);

    const telling = defineDomain({
      ...PLAIN,
      name: 'telling',
      processes: { telling: {} },
      roles: { teller: { processes: ['telling'] } },
      actions: {
        tell: {
          process: 'telling',
          args: z.object({ sayings: z.array(z.any()) }),
          apply: () => {},
          beliefs: ({ sayings }) => sayings,
        },
      },
      counselors: clinic.counselors,
      memory: clinic.memory as never,
    });
    const teller = await runtimeOver(store, [telling], { clock }).create(telling, { trajectoryId: 'u', writs: [writ] });
    for (const [saying, code] of refusals)
      expect(
        await teller.propose({ ...intent('tell', { sayings: [saying] }, writ), role: 'teller' } as never),
      ).toMatchObject({
        ruling: 'rejected',
        reason: 'precondition_failed',
        detail: expect.stringMatching(new RegExp(`^${code}: `)),
      });
  });

  test('what no entry holds is a rejection on record, and nobody is asked; in smaller groups it is believed', async () => {
    const asked: unknown[] = [];
    const oracle = createOracle({ store: await openStore('memory:'), clock: new HandClock(), mode: 'record' });
    const choose: Judge['choose'] = ({ request, members: [first] }) => {
      asked.push(request);
      return first!.claim;
    };
    const { trajectory, memory } = await begun({ judge: { oracle, choose } });
    const from = (n: number): Instant => addMicros(START, n * 1_000_000);
    const said = (predicate: string, count: number) =>
      Array.from({ length: count }, (_, n) => ({
        ...{ subject: 'p7', predicate, object: `says ${n}` },
        valid: { from: from(n), to: from(n + count) },
      }));
    for (const predicate of ['drug', 'diagnosis', 'triage'])
      for (const count of [50, 200]) {
        const ruling = await memory.assertMany(said(predicate, count));
        expect(ruling).toMatchObject({ ruling: 'rejected', detail: expect.stringMatching(/^too_much_at_once: /) });
      }
    expect(asked).toEqual([]);
    // Nothing contradicts another, and each something that is believed: that is too much together, and not for one of them.
    const others = (object: string) =>
      Array.from({ length: 1_000 }, (_, n) => ({
        subject: `p${n}`,
        predicate: 'drug',
        object,
        valid: { from: START },
      }));
    await committed(memory.assertMany(others('aspirin')));
    expect(await memory.assertMany(others('ibuprofen'))).toMatchObject({
      ruling: 'rejected',
      detail: expect.stringMatching(/^too_much_at_once: /),
    });
    expect(await drug(memory, { valid: 'any' })).toEqual(['aspirin']);
    await committed(memory.assertMany(others('ibuprofen').slice(0, 100)));
    expect(await drug(memory, { valid: 'any' })).toEqual(['ibuprofen']);
    for (const half of [said('weight', 50).slice(0, 25), said('weight', 50).slice(25)])
      await committed(memory.assertMany(half));
    expect(trajectory.length).toBeGreaterThan(10);
  });

  test('what no entry would hold of several keys that somebody has to choose about is refused, and nobody is asked', async () => {
    const asked: unknown[] = [];
    const oracle = createOracle({ store: await openStore('memory:'), clock: new HandClock(), mode: 'record' });
    const choose: Judge['choose'] = ({ request, members: [first] }) => {
      asked.push(request);
      return first!.claim;
    };
    const { trajectory, memory } = await begun({ judge: { oracle, choose } });
    const each = (predicate: string, object: string, keys: number) =>
      Array.from({ length: keys }, (_, n) => ({ subject: `p${n}`, predicate, object, valid: { from: START } }));
    for (const predicate of ['diagnosis', 'triage']) {
      await committed(memory.assertMany(each(predicate, 'flu', 1_000)));
      expect(await memory.assertMany(each(predicate, 'cold', 1_000))).toMatchObject({
        ruling: 'rejected',
        detail: expect.stringMatching(/^too_much_at_once: /),
      });
      // Nor where most of it is nothing to choose about.
      expect(await memory.assertMany([...each(predicate, 'cold', 1), ...each('allergy', 'nuts', 999)])).toMatchObject({
        ruling: 'rejected',
        detail: expect.stringMatching(/^too_much_at_once: /),
      });
    }
    expect(asked).toEqual([]);
    const ruling = await memory.assertMany(each('diagnosis', 'cold', 300));
    if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
    const questions = await trajectory.questionsOf(ruling.pending);
    const answers = questions.map(({ request, members }) => ({
      request,
      winner: members.find(({ object }) => object === 'cold')!.claim,
    }));
    await committed(trajectory.approve(ruling.pending, { principal: 'dr who', method: 'test', answers }));
  });

  test('what ends before it is said is ruled on, because only the commit says when that is', async () => {
    const { memory } = await begun();
    const over = { subject: 'p7', predicate: 'drug', object: 'aspirin', valid: { to: day('2026-03-01') } };
    expect(await memory.assert(over)).toMatchObject({
      ruling: 'rejected',
      reason: 'precondition_failed',
      detail: expect.stringMatching(/^reversed_period: It has ended when it is said, .* say with from since when/),
    });
    expect(await memory.assert({ ...over, valid: { to: START } })).toMatchObject({
      detail: expect.stringMatching(/^empty_period: It has ended when it is said/),
    });
    expect(await memory.history()).toEqual([]);
  });

  test('a claim was asserted before where it was committed from the same source, also as what another says, lost or over', async () => {
    const { assize, trajectory, memory, clock } = await begun();
    const dose = { subject: 'p7', predicate: 'drug', object: 'aspirin', valid: { to: day('2026-04-01') } };
    expect(await memory.wasAsserted({ ...dose, source: 'chart' })).toBe(false);
    await committed(memory.assert({ ...dose, source: 'chart' }));
    await committed(memory.assert({ ...dose, source: 'letter' }));
    await committed(memory.assert({ ...dose, object: 'ibuprofen' }));
    const aside = await assize.branch('t', trajectory.head, { trajectoryId: 'what-if', note: 'what if' });
    clock.at = day('2026-05-01');
    for (const own of [memory, aside.memory({ space: 'ward', writ })]) {
      expect(await own.wasAsserted({ ...dose, source: 'chart' })).toBe(true);
      expect(await own.wasAsserted({ ...dose, source: 'letter' })).toBe(true);
      expect(await own.wasAsserted({ ...dose, object: 'ibuprofen' })).toBe(false);
      for (const other of [{ object: 'ibuprofen' }, { subject: 'p8' }, { valid: {} }, { source: 'chart 2' }])
        expect(await own.wasAsserted({ ...dose, source: 'chart', ...other })).toBe(false);
    }
    await expect(memory.wasAsserted({ ...dose, predicate: 'likes' })).rejects.toMatchObject({
      code: 'unknown_predicate',
    });
  });

  test('what another process has said since is what a person is asked about, and what is taken back', async () => {
    const { store, clock, trajectory, memory } = await begun();
    const other = await runtimeOver(store, [clinic], { clock }).create(clinic, { trajectoryId: 'u', writs: [writ] });
    const theirs = other.memory({ space: 'ward', writ });
    const flu = { subject: 'p7', predicate: 'diagnosis', object: 'flu' };
    await committed(memory.assert({ ...flu, confidence: 0.5 }));
    await committed(theirs.assert(flu));
    const { pending } = (await memory.assert({ ...flu, object: 'pneumonia' })) as { pending: string };
    const [{ request, members }] = (await trajectory.questionsOf(pending)) as [AskedQuestion];
    expect(members.find(({ object }) => object === 'flu')).toMatchObject({ confidence: 1 });
    const answers = [{ request, winner: members.find(({ object }) => object === 'pneumonia')!.claim }];
    await committed(trajectory.approve(pending, { principal: 'dr house', method: 'test', answers }));

    const allergy = { subject: 'p7', predicate: 'allergy' };
    const always = { from: day('2020-01-01'), to: day('2030-01-01') };
    expect((await committed(memory.retract({ ...allergy, valid: always }))).delta.beliefs).toEqual([]);
    await committed(theirs.assert({ ...allergy, object: 'penicillin', valid: always }));
    expect((await committed(memory.retract({ ...allergy, valid: always }))).delta.beliefs).toHaveLength(1);
    expect((await theirs.recall(allergy)).facts).toEqual([]);
  });

  describe('who loses to another process in the same trajectory', () => {
    const always = { from: day('2020-01-01'), to: day('2030-01-01') };
    /** The other process is faster than the next commit here. */
    const raced = async () => {
      const world = await begun();
      const { store, clock } = world;
      const theirs = (await runtimeOver(store, [clinic], { clock }).open('t', clinic)).memory({ space: 'ward', writ });
      const { commit } = store;
      const beforeCommit = (said: () => Promise<Ruling>): void => {
        store.commit = async (batch) => {
          store.commit = commit;
          await committed(said());
          return commit.call(store, batch);
        };
      };
      return { ...world, theirs, beforeCommit };
    };

    test('takes back what that has said, though nothing was to be taken back before', async () => {
      const { memory, theirs, beforeCommit } = await raced();
      const about = { subject: 'p7', predicate: 'allergy', valid: always };
      expect((await committed(memory.retract(about))).delta.beliefs).toEqual([]);
      beforeCommit(() => theirs.assert({ ...about, object: 'nuts' }));
      expect((await committed(memory.retract(about))).delta.beliefs).toHaveLength(1);
      expect((await memory.recall({ subject: 'p7' })).facts).toEqual([]);
    });

    test('asks about what is believed since', async () => {
      const { clock, trajectory, memory, theirs, beforeCommit } = await raced();
      const about = { subject: 'p7', predicate: 'diagnosis' };
      await committed(memory.assert({ ...about, object: 'flu', valid: always }));
      clock.forward(1_000);
      beforeCommit(() => theirs.correct({ ...about, object: 'measles', valid: always }));
      const { pending } = (await memory.assert({ ...about, object: 'cold', valid: always })) as { pending: string };
      const [question] = await trajectory.questionsOf(pending);
      expect(question!.members.map(({ object }) => object).sort()).toEqual(['cold', 'measles']);
    });
  });
});
