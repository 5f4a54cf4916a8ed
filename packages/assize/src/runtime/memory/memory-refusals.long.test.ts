import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { addMicros, type Instant } from '#canon';
import { defineDomain } from '#kernel';
import { OPEN_END } from '#memory';
import { createOracle } from '#oracle';
import { openStore } from '#stores';
import { clinic } from '../../../../../tests/support/clinic/clinic.ts';
import {
  committed,
  day,
  drug,
  onClinics,
  writ,
} from '../../../../../tests/support/clinic/clinic-memory.ts';
import {
  HandClock,
  intent,
  runtimeOver,
  START,
} from '../../../../../tests/support/ledger/runtime.ts';
import type { Judge } from './index.ts';

/** An empty domain. */
const PLAIN = {
  version: '1',
  state: z.object({}),
  initial: {},
  processes: {},
  roles: {},
  actions: {},
  invariants: [],
};

onClinics((begun) => {
  test('a proposal asserts, takes away, or makes one other statement of a fact', async () => {
    const { trajectory, memory } = await begun();
    const about = { space: 'ward', subject: 'p7', predicate: 'drug' };
    const assert = { ...about, verb: 'assert', object: 'aspirin' };
    const change = { ...about, verb: 'change', object: 'none' };
    const say = (...sayings: object[]) =>
      trajectory.propose({
        ...intent('assize.believe', { sayings }, writ),
        role: 'assize' as never,
      });
    for (const sayings of [
      [assert, change],
      [change, change],
      [change, assert],
      [{ ...about, verb: 'withdraw', source: 'm1' }, change],
      [
        { ...about, verb: 'retract', valid: { from: day('2026-03-01'), to: day('2026-03-02') } },
        assert,
      ],
    ])
      expect(await say(...sayings)).toMatchObject({
        ruling: 'rejected',
        reason: 'precondition_failed',
        detail: expect.stringContaining('repeated_claim'),
      });
    expect(await memory.history()).toEqual([]);
    expect(await say(change, { ...assert, subject: 'p8' })).toMatchObject({ ruling: 'committed' });
  });

  test('an invalid statement is refused before the proposal; nothing is written', async () => {
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
      [
        { sourceEventId: 'letter' },
        'sourceEventId must be left out, since its name here is source',
        'bad_argument',
      ],
      [
        { space: 'w2' },
        'space must be left out, since the memory sets its own space',
        'bad_argument',
      ],
      [{ verb: 'retract' }, 'verb must be left out, since the method is the verb', 'bad_argument'],
      [{ confidense: 1 }, 'confidense must be left out, since the fields are', 'bad_argument'],
    ];
    const inValid = 'must be left out, since a period is given as valid: { from, to }';
    const stamps = [
      [{ strategy: 'newest' }, 'strategy', 'unknown_strategy'],
      [{ strategy: 'evi' }, 'strategy', 'strategy_not_allowed'],
    ] as const;
    const wrong: [() => Promise<unknown>, string, string][] = [];
    const add = (argument: string, code: string, ask: () => Promise<unknown>): unknown =>
      wrong.push([ask, argument, code]);
    for (const [more, member, code] of [...claims, ...stamps]) {
      add(`claims.0.${member}`, code, () => memory.assert({ ...said, ...more } as never));
      add(`claims.1.${member}`, code, () =>
        memory.assertMany([said, { ...said, ...more }] as never),
      );
    }
    for (const [more, member, code] of claims) {
      add(`change.${member}`, code, () => memory.change({ ...said, ...more } as never));
      const valid = { from: first, to: second };
      add(`correction.${member}`, code, () => memory.correct({ ...said, valid, ...more } as never));
    }
    for (const member of ['from', 'to']) {
      const more = { [member]: first };
      const valid = { from: first, to: second };
      add(`claims.0.${member} ${inValid}`, 'bad_argument', () =>
        memory.assert({ ...said, ...more } as never),
      );
      add(`correction.${member} ${inValid}`, 'bad_argument', () =>
        memory.correct({ ...said, valid, ...more } as never),
      );
      add(`retraction.${member} ${inValid}`, 'bad_argument', () =>
        memory.retract({ ...about, valid, ...more } as never),
      );
    }
    add('change.valid must be left out, since a change has a `from`', 'bad_argument', () =>
      memory.change({ ...said, valid: { from: first } } as never),
    );
    add('claims.0.valid.form', 'bad_argument', () =>
      memory.assert({ ...said, valid: { form: first } } as never),
    );
    for (const [valid, code] of periods) {
      add('claims.0.valid', code, () => memory.assert({ ...said, valid } as never));
      add('correction.valid', code, () => memory.correct({ ...said, valid } as never));
      add('retraction.valid', code, () => memory.retract({ ...about, valid } as never));
    }
    add('claims.0.valid', 'no_instant', () =>
      memory.assert({ ...said, valid: { from: 'yesterday' } }),
    );
    add('change.from', 'no_instant', () => memory.change({ ...said, from: 'yesterday' }));
    add('change.from', 'no_instant', () => memory.change({ ...said, from: OPEN_END }));
    add('correction.valid', 'bad_argument', () => memory.correct(said as never));
    add('retraction.valid', 'bad_argument', () => memory.retract(about as never));
    add('retraction.predicate', 'unknown_predicate', () =>
      memory.retract({ ...about, predicate: 'mood', valid: { from: first, to: second } }),
    );
    const { head, length } = trajectory;
    for (const [ask, argument, code] of wrong) {
      const error = await ask().then(
        () => ({ reason: 'taken', evidence: { argument } }),
        (thrown: { reason: string; evidence: object; message: string }) => thrown,
      );
      const [place] = argument.split(' ');
      expect([error.reason, error.evidence], `${argument} ${code}`).toMatchObject([
        code,
        { argument: place },
      ]);
      expect((error as { message: string }).message).toContain(argument);
    }
    expect([trajectory.head, trajectory.length, (await store.entries('t')).length]).toEqual([
      head,
      length,
      length,
    ]);
    expect(await memory.history()).toEqual([]);
    await expect(memory.assert({ ...said, predicate: 'mood' })).rejects.toThrow(
      /it declares allergy, .*weight/,
    );
    // A domain without predicates accepts no statements.
    const plain = defineDomain({ ...PLAIN, name: 'plain' });
    const other = await runtimeOver(store, [plain]).create(plain, {
      trajectoryId: 'plain',
      writs: [writ],
    });
    const nothing = other.memory({ space: 'ward', writ });
    await expect(nothing.assert(said)).rejects.toMatchObject({ code: 'unknown_predicate' });
    expect(other.length).toBe(1);
    await assize.close();
  });

  test('a date in JavaScript format is refused with a hint at the conversion', async () => {
    const { memory } = await begun();
    const written = String(new Date());
    const said = { subject: 'p7', predicate: 'drug', object: 'aspirin' };
    for (const ask of [
      () => memory.assert({ ...said, valid: { from: written } }),
      () => memory.change({ ...said, from: written }),
      () => memory.recall({ valid: written }),
      () => memory.recall({ system: written }),
    ])
      await expect(ask()).rejects.toMatchObject({
        reason: 'no_instant',
        message: expect.stringContaining('Pass a `Date`'),
      });
  });

  test('a query for an impossible name is refused instead of finding nothing', async () => {
    const { assize, memory, trajectory } = await begun();
    const name = 'e\u0301';
    const at = { valid: day('2026-03-01'), system: day('2026-03-01') };
    const fact = {
      subject: 'p7',
      predicate: 'drug',
      fact_id: 'a'.repeat(64),
      system_time_start: day('2026-03-01'),
    };
    const asked: (readonly [string, () => unknown])[] = [
      ['space', () => assize.memory(name)],
      ['space', () => trajectory.memory({ space: name, writ })],
      ...(['subject', 'predicate'] as const).flatMap((member): typeof asked => [
        [`query.${member}`, () => memory.recall({ [member]: name })],
        [`query.${member}`, () => memory.recall({ [member]: name, text: 'tea' })],
        [`query.${member}`, () => memory.history({ [member]: name })],
        [`of.${member}`, () => memory.diff(at, at, { [member]: name })],
        [`fact.${member}`, () => memory.explain({ ...fact, [member]: name })],
      ]),
    ];
    for (const [argument, ask] of asked)
      await expect((async () => ask())()).rejects.toMatchObject({
        code: 'bad_argument',
        evidence: { argument },
        message: expect.stringContaining('composed form (NFC)'),
      });
    await expect(memory.diff(at, at, { subject: 7 } as never)).rejects.toMatchObject({
      code: 'bad_argument',
    });
  });

  test('an overlong name in a query finds nothing and is not normalized', async () => {
    const { memory } = await begun();
    const composed = vi.spyOn(String.prototype, 'normalize');
    onTestFinished(() => composed.mockRestore());
    const long = '\u0315\u0300'.repeat(2_000);
    expect((await memory.recall({ subject: long })).facts).toEqual([]);
    expect(await memory.history({ predicate: long })).toEqual([]);
    await expect(
      memory.assert({ subject: long, predicate: 'drug', object: 'tea' }),
    ).rejects.toMatchObject({
      reason: 'bad_text',
    });
    expect(composed.mock.contexts.filter((text) => String(text).length > 512)).toEqual([]);
  });

  test('a model’s or action’s invalid statement is rejected with the same code', async () => {
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
      [
        { ...said, verb: 'change', predicate: 'allergy' },
        'not_single_valued',
        'precondition_failed',
      ],
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
    // An error without a code of its own has no prefix.
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
    const teller = await runtimeOver(store, [telling], { ports: { clock } }).create(telling, {
      trajectoryId: 'u',
      writs: [writ],
    });
    for (const [saying, code] of refusals)
      expect(
        await teller.propose({
          ...intent('tell', { sayings: [saying] }, writ),
          role: 'teller',
        } as never),
      ).toMatchObject({
        ruling: 'rejected',
        reason: 'precondition_failed',
        detail: expect.stringMatching(new RegExp(`^${code}: `)),
      });
  });

  test('an oversized change is rejected without questions; smaller groups commit', async () => {
    const asked: unknown[] = [];
    const oracle = createOracle({
      store: await openStore('memory:'),
      clock: new HandClock(),
      mode: 'record',
    });
    const choose: Judge['choose'] = ({ request, members: [first] }) => {
      asked.push(request);
      return first!.claim;
    };
    const { trajectory, memory } = await begun({ memory: { judge: { oracle, choose } } });
    const from = (n: number): Instant => addMicros(START, n * 1_000_000);
    const said = (predicate: string, count: number) =>
      Array.from({ length: count }, (_, n) => ({
        ...{ subject: 'p7', predicate, object: `says ${n}` },
        valid: { from: from(n), to: from(n + count) },
      }));
    for (const predicate of ['drug', 'diagnosis', 'triage'])
      for (const count of [50, 200]) {
        const ruling = await memory.assertMany(said(predicate, count));
        expect(ruling).toMatchObject({
          ruling: 'rejected',
          detail: expect.stringMatching(/^too_much_at_once: /),
        });
      }
    expect(asked).toEqual([]);
    // The statements do not contradict one another, but each contradicts a fact: too much together,
    // and not for one alone.
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

  test('a period that ends too many facts is refused; shorter ones are committed', async () => {
    const { trajectory, memory } = await begun();
    const from = (n: number): Instant => addMicros(START, n * 1_000_000);
    const EACH = 900;
    for (let first = 0; first < 10 * EACH; first += EACH)
      await committed(
        memory.assertMany(
          Array.from({ length: EACH }, (_, n) => ({
            ...{ subject: 'p7', predicate: 'drug', object: `dose ${first + n}` },
            valid: { from: from(first + n), to: from(first + n + 1) },
          })),
        ),
      );
    const { length } = trajectory;
    const all = { subject: 'p7', predicate: 'drug', valid: { from: from(1), to: OPEN_END } };
    expect(await memory.retract(all)).toMatchObject({
      ruling: 'rejected',
      detail: expect.stringMatching(/^too_much_at_once: .*shorter periods/),
    });
    expect(trajectory.length).toBe(length + 1);
    // A single statement cannot be split.
    expect(await memory.assert({ ...all, object: 'none' })).toMatchObject({
      ruling: 'rejected',
      detail: expect.stringMatching(/^too_much_at_once: .*shorter periods/),
    });
    expect(trajectory.length).toBe(length + 2);
    await committed(memory.retract({ ...all, valid: { from: from(1), to: from(5 * EACH) } }));
    await committed(memory.retract({ ...all, valid: { from: from(5 * EACH), to: OPEN_END } }));
    expect(await drug(memory, { valid: 'any' })).toEqual(['dose 0']);
  });

  test('oversized contradictions of several keys are refused without questions', async () => {
    const asked: unknown[] = [];
    const oracle = createOracle({
      store: await openStore('memory:'),
      clock: new HandClock(),
      mode: 'record',
    });
    const choose: Judge['choose'] = ({ request, members: [first] }) => {
      asked.push(request);
      return first!.claim;
    };
    const { trajectory, memory } = await begun({ memory: { judge: { oracle, choose } } });
    const each = (predicate: string, object: string, keys: number) =>
      Array.from({ length: keys }, (_, n) => ({
        subject: `p${n}`,
        predicate,
        object,
        valid: { from: START },
      }));
    for (const predicate of ['diagnosis', 'triage']) {
      await committed(memory.assertMany(each(predicate, 'flu', 1_000)));
      expect(await memory.assertMany(each(predicate, 'cold', 1_000))).toMatchObject({
        ruling: 'rejected',
        detail: expect.stringMatching(/^too_much_at_once: /),
      });
      // Nor if most of it needs no choice.
      expect(
        await memory.assertMany([...each(predicate, 'cold', 1), ...each('allergy', 'nuts', 999)]),
      ).toMatchObject({
        ruling: 'rejected',
        detail: expect.stringMatching(/^too_much_at_once: /),
      });
    }
    // Nor for one statement with that many facts in its period.
    const second = (n: number): Instant => addMicros(START, n * 1_000_000);
    for (const first of [0, 300, 600])
      await committed(
        memory.assertMany(
          Array.from({ length: 300 }, (_, n) => ({
            ...{ subject: 'p', predicate: 'diagnosis', object: `ill ${first + n}` },
            valid: { from: second(first + n), to: second(first + n + 1) },
          })),
        ),
      );
    expect(
      await memory.assert({
        subject: 'p',
        predicate: 'diagnosis',
        object: 'well',
        valid: { from: START },
      }),
    ).toMatchObject({
      ruling: 'rejected',
      detail: expect.stringMatching(/^too_much_at_once: .*shorter periods/),
    });
    expect(asked).toEqual([]);
    const ruling = await memory.assertMany(each('diagnosis', 'cold', 300));
    if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
    const questions = await trajectory.approvals.questionsOf(ruling.pending);
    const answers = questions.map(({ request, members }) => ({
      request,
      winner: members.find(({ object }) => object === 'cold')!.claim,
    }));
    await committed(
      trajectory.approvals.approve(ruling.pending, {
        principal: 'dr who',
        method: 'test',
        answers,
      }),
    );
  });
});
