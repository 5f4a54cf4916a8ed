import { describe, expect, test } from 'vitest';
import { addMicros, type Instant } from '#canon';
import type { Batch } from '#ledger';
import { readWitness } from '#memory';
import { clinic } from '../../../../../tests/support/clinic/clinic.ts';
import {
  committed,
  day,
  drug,
  objects,
  onClinics,
  writ,
} from '../../../../../tests/support/clinic/clinic-memory.ts';
import {
  HandClock,
  intent,
  runtimeOver,
  START,
} from '../../../../../tests/support/ledger/runtime.ts';
import type { Ruling } from '../records/ruling.ts';
import type { AskedQuestion } from './index.ts';

onClinics((begun) => {
  test('recall returns the facts of any valid time as of any system time', async () => {
    const { clock, memory } = await begun();
    await committed(
      memory.assert({
        subject: 'p7',
        predicate: 'drug',
        object: 'penicillin',
        valid: { from: day('2026-03-01') },
      }),
    );
    clock.forward(60_000);
    await committed(
      memory.change({
        subject: 'p7',
        predicate: 'drug',
        object: 'amoxicillin',
        from: day('2026-04-15'),
      }),
    );
    const before = { system: START };
    expect(await drug(memory, { valid: day('2026-03-20') })).toEqual(['penicillin']);
    expect(await drug(memory, { valid: day('2026-05-01') })).toEqual(['amoxicillin']);
    expect(await drug(memory, { valid: day('2026-05-01'), ...before })).toEqual(['penicillin']);
    expect(await drug(memory, { valid: day('2026-02-01') })).toEqual([]);
    expect(await drug(memory, { valid: 'any' })).toEqual(['penicillin', 'amoxicillin']);
    expect(await drug(memory, { valid: 'any', system: addMicros(START, -1) })).toEqual([]);
  });

  test('a read as of an instant is repeatable, even with a commit in flight', async () => {
    const { clock, memory, store } = await begun();
    const said = (subject: string, object: string) => ({
      subject,
      predicate: 'drug',
      object,
      valid: { from: START },
    });
    await committed(memory.assert(said('p7', 'aspirin')));
    const before = START;
    const { commit } = store;
    // The store refuses the statement about the other subject.
    for (const [subject, isKept] of [
      ['p7', true],
      ['p8', false],
    ] as const) {
      clock.forward(1_000);
      const now = clock.at;
      const reached = Promise.withResolvers<void>();
      const answered = Promise.withResolvers<void>();
      store.commit = async (batch: Batch) => {
        store.commit = commit;
        reached.resolve();
        await answered.promise;
        if (!isKept) throw new Error('the disk is full');
        return commit.call(store, batch);
      };
      const ruled = memory
        .assert(said(subject, 'ibuprofen'))
        .catch((error: Error) => error.message);
      await reached.promise;
      const at = { valid: START, system: now };
      const asking = [
        () => memory.recall(at),
        () => memory.recall({ ...at, subject, text: 'ibuprofen aspirin' }),
        () => memory.diff({ valid: START, system: before }, { valid: START, system: now }),
      ];
      const told: string[] = [];
      const asked = asking.map(async (ask) => {
        const answer = await ask();
        told.push('then');
        return answer;
      });
      // A read of an earlier time, or of another partition, does not wait.
      for (const other of [{ system: before }, { system: now, predicate: 'weight' }, {}])
        await memory.recall({ valid: START, ...other });
      expect(told).toEqual([]);
      told.push('first');
      answered.resolve();
      const found = await Promise.all(asked);
      expect(told).toEqual(['first', 'then', 'then', 'then']);
      expect(await ruled).toEqual(
        isKept ? expect.objectContaining({ ruling: 'committed' }) : 'the disk is full',
      );
      clock.forward(1_000);
      expect(found).toEqual(await Promise.all(asking.map((ask) => ask())));
      expect(await drug(memory, at)).toEqual(['ibuprofen']);
    }
  });

  test('a recall as of an instant does not wait for a slow erasure', async () => {
    const { clock, memory, store } = await begun();
    await committed(
      memory.assert({
        subject: 'p7',
        predicate: 'drug',
        object: 'aspirin',
        valid: { from: START },
      }),
    );
    clock.forward(1_000);
    const { commit } = store;
    const reached = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    store.commit = async (batch: Batch) => {
      reached.resolve();
      await answered.promise;
      return commit.call(store, batch);
    };
    const erased = memory.erase({ subject: 'p7', reason: 'their wish' });
    await reached.promise;
    expect(await drug(memory, { valid: START, system: clock.at })).toEqual(['aspirin']);
    answered.resolve();
    expect(await erased).toMatchObject({ ruling: 'committed' });
    expect(await drug(memory, { valid: START, system: clock.at })).toEqual([]);
  });

  test('reads are stable up to a partition’s last change; slow clocks add later', async () => {
    const { clock, memory, store } = await begun();
    const behind = new HandClock();
    const other = runtimeOver(store, [clinic], { ports: { clock: behind } });
    const theirs = (await other.create(clinic, { trajectoryId: 'behind', writs: [writ] })).memory({
      space: 'ward',
      writ,
    });
    const said = (subject: string, object: string) => ({
      subject,
      predicate: 'drug',
      object,
      valid: { from: START },
    });
    clock.forward(3_600_000);
    const latest = clock.at;
    await committed(memory.assert(said('p7', 'aspirin')));
    const at = { valid: START, system: latest };
    const seen = async (subject: string) =>
      objects((await memory.recall({ ...at, subject })).facts);
    behind.forward(1_000);
    await committed(theirs.assert(said('p7', 'ibuprofen')));
    await committed(theirs.assert(said('p8', 'ibuprofen')));
    expect([await seen('p7'), await seen('p8')]).toEqual([['aspirin'], ['ibuprofen']]);
    expect(await drug(memory, { valid: START, system: addMicros(latest, 1) })).toEqual([
      'ibuprofen',
    ]);
  });

  test('a losing assertion is kept in full and explained down to the entries', async () => {
    const { clock, memory } = await begun();
    const first = await committed(
      memory.assert({ subject: 'p7', predicate: 'weight', object: '81 kg', confidence: 0.6 }),
    );
    clock.forward(1_000);
    await committed(
      memory.assert({ subject: 'p7', predicate: 'weight', object: '79 kg', confidence: 0.9 }),
    );
    clock.forward(1_000);
    await committed(
      memory.assert({ subject: 'p7', predicate: 'weight', object: '97 kg', confidence: 0.1 }),
    );
    const { facts } = await memory.recall({ subject: 'p7', predicate: 'weight' });
    expect(objects(facts)).toEqual(['79 kg']);
    const audit = await memory.recall({
      subject: 'p7',
      predicate: 'weight',
      kind: 'audit',
      valid: 'any',
    });
    const lost = audit.facts
      .map((row) => readWitness(row))
      .map(({ loser, members }) => members.find(({ claim }) => claim === loser)?.object);
    expect(lost).toEqual(['81 kg', '97 kg']);
    const explained = await memory.explain(facts[0]!);
    expect(explained.contradictions).toHaveLength(2);
    expect(explained.entries.map(({ seq, action }) => [seq, action])).toEqual([
      [2, 'assize.believe'],
    ]);
    expect(first.delta.beliefs).toHaveLength(1);
    expect((await memory.history({ subject: 'p7', predicate: 'weight' })).length).toBeGreaterThan(
      1,
    );
  });

  test('a correction and a retraction take back, and remain as of before', async () => {
    const { clock, memory } = await begun();
    const march = { from: day('2026-03-01'), to: day('2026-04-01') };
    await committed(
      memory.assert({ subject: 'p7', predicate: 'drug', object: 'aspirin', valid: march }),
    );
    clock.forward(1_000);
    await committed(
      memory.correct({ subject: 'p7', predicate: 'drug', object: 'ibuprofen', valid: march }),
    );
    clock.forward(1_000);
    await committed(memory.retract({ subject: 'p7', predicate: 'drug', valid: march }));
    const at = { valid: day('2026-03-10') };
    expect(await drug(memory, at)).toEqual([]);
    expect(await drug(memory, { ...at, system: addMicros(START, 1_000_000) })).toEqual([
      'ibuprofen',
    ]);
    expect(await drug(memory, { ...at, system: START })).toEqual(['aspirin']);
    const point = (system: Instant) => ({ valid: day('2026-03-10'), system });
    const difference = await memory.diff(point(START), point(addMicros(START, 1_000_000)));
    expect([objects(difference.removed), objects(difference.added)]).toEqual([
      ['aspirin'],
      ['ibuprofen'],
    ]);
  });

  test('concurrent assertions are all written, and one holds at every instant', async () => {
    const { memory, assize } = await begun();
    const other = await assize.create(clinic, { trajectoryId: 'u', writs: [writ] });
    const memories = [memory, other.memory({ space: 'ward', writ })];
    await Promise.all(
      Array.from({ length: 24 }, (_, n) =>
        committed(
          memories[n % 2]!.assert({ subject: 'p7', predicate: 'drug', object: `drug ${n}` }),
        ),
      ),
    );
    expect(await drug(memory, {})).toHaveLength(1);
    const all = await memory.recall({
      subject: 'p7',
      predicate: 'drug',
      kind: 'audit',
      valid: 'any',
    });
    expect(new Set(all.facts.map((row) => readWitness(row).loser)).size).toBe(23);
  });

  test('the same assertion of one source is stored once, also by a later process', async () => {
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
    expect(
      (await committed(again.memory({ space: 'ward', writ }).assert(said))).delta.beliefs,
    ).toEqual([]);
    expect(
      (await committed(memory.assert({ ...said, source: 'letter 13' }))).delta.beliefs,
    ).toHaveLength(1);
  });

  test('the same assertion of one source is stored once, also after a merge', async () => {
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
    expect(added).toMatchObject({
      close: [{}],
      insert: [{}],
      merged: [expect.stringMatching(/^[0-9a-f]{64}$/)],
    });
    // A later statement does not hide it, and neither does a split period.
    const spring = { from: day('2026-03-01'), to: day('2026-06-01') };
    await committed(memory.retract({ subject: 'p7', predicate: 'allergy', valid: spring }));
    const versions = (await memory.history()).length;
    const again = await runtimeOver(store, [clinic], { ports: { clock } }).open('t', clinic);
    const later = again.memory({ space: 'ward', writ });
    for (const one of [memory, later])
      expect(
        (await committed(one.assertMany([...letters, said('letter 4')]))).delta.beliefs,
      ).toEqual([]);
    expect(await memory.history()).toHaveLength(versions);
    // Another process asserts it first; the later one gets that result.
    await committed(later.assert(said('letter 5')));
    expect((await committed(memory.assert(said('letter 5')))).delta.beliefs).toEqual([]);
    expect((await committed(memory.assert(said('letter 6')))).delta.beliefs).toHaveLength(1);
  });

  test('the same assertion of one source is stored once, after any other sources', async () => {
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
    const later = await runtimeOver(store, [clinic], { ports: { clock } }).open('t', clinic);
    const again = await committed(later.memory({ space: 'ward', writ }).assert(said(38)));
    expect(again.delta.beliefs).toEqual([]);
  });

  test('an assertion that lost together with an equal one is recognized, too', async () => {
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
    const again = (await runtimeOver(store, [clinic]).open('t', clinic)).memory({
      space: 'ward',
      writ,
    });
    for (const said of wrong)
      expect((await committed(again.assert(said))).delta.beliefs).toEqual([]);
  });

  test('Unicode forms of an object are one: first is stored, either retracts it', async () => {
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

  test('an object that looks like an erasure marker is an ordinary assertion', async () => {
    const { memory, store } = await begun();
    const batches: Batch[] = [];
    const commit = store.commit.bind(store);
    store.commit = (batch) => {
      batches.push(batch);
      return commit(batch);
    };
    for (const object of [`{"$erased":"${'ab'.repeat(32)}"}`, 'aspirin'])
      await committed(
        memory.assert({
          subject: 'p7',
          predicate: 'drug',
          object,
          valid: { from: day('2026-01-01') },
        }),
      );
    expect(
      objects((await memory.recall({ text: 'erased', valid: 'any', system: START })).facts),
    ).toHaveLength(1);
    // The witness repeats it, so it must not be erased before the commit.
    const [said, lost] = batches.flatMap(({ facts = [] }) => facts);
    expect(lost!.repeats).toEqual([said!.insert[0]!.content.hash]);
  });

  test('an action’s assertions and state changes are in one entry', async () => {
    const { trajectory, memory } = await begun();
    const visit = intent('visit', { patient: 'p7', weight: '80 kg' }, writ, {
      role: 'nurse',
    } as never);
    const payload = await committed(trajectory.propose({ ...visit, role: 'nurse' }));
    expect(payload.delta).toMatchObject({
      state: [{ path: '/visits', value: 1 }],
      beliefs: [{ version: 1 }],
    });
    expect(objects((await memory.recall({ subject: 'p7' })).facts)).toEqual(['80 kg']);
    expect(JSON.stringify(payload)).not.toMatch(/p7|80 kg|ward/);
  });

  test('a period that ended before its assertion is rejected, at the commit', async () => {
    const { memory } = await begun();
    const over = {
      subject: 'p7',
      predicate: 'drug',
      object: 'aspirin',
      valid: { to: day('2026-03-01') },
    };
    expect(await memory.assert(over)).toMatchObject({
      ruling: 'rejected',
      reason: 'precondition_failed',
      detail: expect.stringMatching(
        /^reversed_period: The fact ends before it is asserted, .* Set `from`/,
      ),
    });
    expect(await memory.assert({ ...over, valid: { to: START } })).toMatchObject({
      detail: expect.stringMatching(/^empty_period: The fact ends before it is asserted/),
    });
    expect(await memory.history()).toEqual([]);
  });

  test('a claim counts as asserted by its source, even merged, lost or ended', async () => {
    const { assize, trajectory, memory, clock } = await begun();
    const dose = {
      subject: 'p7',
      predicate: 'drug',
      object: 'aspirin',
      valid: { to: day('2026-04-01') },
    };
    expect(await memory.wasAsserted({ ...dose, source: 'chart' })).toBe(false);
    await committed(memory.assert({ ...dose, source: 'chart' }));
    await committed(memory.assert({ ...dose, source: 'letter' }));
    await committed(memory.assert({ ...dose, object: 'ibuprofen' }));
    const aside = await assize.branch('t', trajectory.head, {
      trajectoryId: 'what-if',
      note: 'what if',
    });
    clock.at = day('2026-05-01');
    for (const own of [memory, aside.memory({ space: 'ward', writ })]) {
      expect(await own.wasAsserted({ ...dose, source: 'chart' })).toBe(true);
      expect(await own.wasAsserted({ ...dose, source: 'letter' })).toBe(true);
      expect(await own.wasAsserted({ ...dose, object: 'ibuprofen' })).toBe(false);
      for (const other of [
        { object: 'ibuprofen' },
        { subject: 'p8' },
        { valid: {} },
        { source: 'chart 2' },
      ])
        expect(await own.wasAsserted({ ...dose, source: 'chart', ...other })).toBe(false);
    }
    await expect(memory.wasAsserted({ ...dose, predicate: 'likes' })).rejects.toMatchObject({
      code: 'unknown_predicate',
    });
  });

  test('newer facts of another process are in questions, and are retracted', async () => {
    const { store, clock, trajectory, memory } = await begun();
    const other = await runtimeOver(store, [clinic], { ports: { clock } }).create(clinic, {
      trajectoryId: 'u',
      writs: [writ],
    });
    const theirs = other.memory({ space: 'ward', writ });
    const flu = { subject: 'p7', predicate: 'diagnosis', object: 'flu' };
    await committed(memory.assert({ ...flu, confidence: 0.5 }));
    await committed(theirs.assert(flu));
    const { pending } = (await memory.assert({ ...flu, object: 'pneumonia' })) as {
      pending: string;
    };
    const [{ request, members }] = (await trajectory.approvals.questionsOf(pending)) as [
      AskedQuestion,
    ];
    expect(members.find(({ object }) => object === 'flu')).toMatchObject({ confidence: 1 });
    const answers = [
      { request, winner: members.find(({ object }) => object === 'pneumonia')!.claim },
    ];
    await committed(
      trajectory.approvals.approve(pending, { principal: 'dr house', method: 'test', answers }),
    );

    const allergy = { subject: 'p7', predicate: 'allergy' };
    const always = { from: day('2020-01-01'), to: day('2030-01-01') };
    expect((await committed(memory.retract({ ...allergy, valid: always }))).delta.beliefs).toEqual(
      [],
    );
    await committed(theirs.assert({ ...allergy, object: 'penicillin', valid: always }));
    expect(
      (await committed(memory.retract({ ...allergy, valid: always }))).delta.beliefs,
    ).toHaveLength(1);
    expect((await theirs.recall(allergy)).facts).toEqual([]);
  });

  describe('a statement that conflicts with another process in the trajectory', () => {
    const always = { from: day('2020-01-01'), to: day('2030-01-01') };
    /** The other process commits first. */
    const raced = async () => {
      const world = await begun();
      const { store, clock } = world;
      const theirs = (
        await runtimeOver(store, [clinic], { ports: { clock } }).open('t', clinic)
      ).memory({
        space: 'ward',
        writ,
      });
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

    test('retracts the new facts although none existed before', async () => {
      const { memory, theirs, beforeCommit } = await raced();
      const about = { subject: 'p7', predicate: 'allergy', valid: always };
      expect((await committed(memory.retract(about))).delta.beliefs).toEqual([]);
      beforeCommit(() => theirs.assert({ ...about, object: 'nuts' }));
      expect((await committed(memory.retract(about))).delta.beliefs).toHaveLength(1);
      expect((await memory.recall({ subject: 'p7' })).facts).toEqual([]);
    });

    test('asks about the facts asserted since', async () => {
      const { clock, trajectory, memory, theirs, beforeCommit } = await raced();
      const about = { subject: 'p7', predicate: 'diagnosis' };
      await committed(memory.assert({ ...about, object: 'flu', valid: always }));
      clock.forward(1_000);
      beforeCommit(() => theirs.correct({ ...about, object: 'measles', valid: always }));
      const { pending } = (await memory.assert({ ...about, object: 'cold', valid: always })) as {
        pending: string;
      };
      const [question] = await trajectory.approvals.questionsOf(pending);
      expect(question!.members.map(({ object }) => object).sort()).toEqual(['cold', 'measles']);
    });
  });
});
