import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../tests/support/cases.ts';
import { Clinic } from '../../../tests/support/domains/udt-clinic.ts';
import { coverageOn } from './coverage-on.ts';
import { addDays } from './days.ts';
import { udtInitial } from './initial.ts';
import type { UdtState } from './schema.ts';

const P = 'david';

/**
 * David until the evening of 26 March: a covered test of the 23rd, a relapse on the 26th, an
 * unclaimed test.
 */
async function untilRelapse(): Promise<Clinic> {
  const clinic = await Clinic.open();
  await clinic.done('enroll', P, { program_phase: 'maintenance', enrolled_at: '2025-12-01' });
  await clinic.sample(P, 'd1', { type: 'definitive', day: '2026-03-23', result: 'negative' });
  await clinic.done('submit_claim', P, {
    claim: 'c1',
    test: 'd1',
    date: '2026-03-23',
    tier: '90+',
  });
  await clinic.sample(P, 'p1', { type: 'presumptive', day: '2026-03-26', result: 'positive' });
  await clinic.sample(P, 'd2', { type: 'definitive', day: '2026-03-26' });
  return clinic;
}

describe('the coverage on a day', () => {
  test('states the tier, the window, the covered tests and the remaining ones', async () => {
    const { state } = await untilRelapse();
    expect(coverageOn(state, { patient: P, day: '2026-03-26' })).toEqual({
      day: '2026-03-26',
      known: 6,
      tier: '0-30',
      last_positive: '2026-03-26',
      consecutive_days: 0,
      allowed: { tests: 1, days: 7 },
      window: { from: '2026-03-20', to: '2026-03-26' },
      covered: [{ test: 'd1', claim: 'c1', date: '2026-03-23' }],
      left: 0,
    });
  });

  test.each([
    ['2026-03-22', '90+', 2],
    ['2026-03-25', '90+', 2],
    ['2026-03-26', '0-30', 0],
    ['2026-03-29', '0-30', 0],
    ['2026-03-30', '0-30', 1],
    ['2026-04-25', '0-30', 1],
    ['2026-04-26', '31-89', 3],
  ] as const)('of David on %s: tier %s, %i left', async (day, tier, left) => {
    const { state } = await untilRelapse();
    expect(coverageOn(state, { patient: P, day })).toMatchObject({ tier, left });
  });

  test('on a day before a covered one is what the later window has left', async () => {
    const { state } = await untilRelapse();
    expect(coverageOn(state, { patient: P, day: '2026-03-22' })).toMatchObject({
      covered: [],
      later: [{ tier: '90+', from: '2025-12-24', to: '2026-03-23', left: 2 }],
      left: 2,
    });
    expect(coverageOn(state, { patient: P, day: '2025-12-23' })).not.toHaveProperty('later');
  });

  test('as known at an earlier event: before the result Billing was right', async () => {
    const { state } = await untilRelapse();
    const result = state.tests[P]?.['p1']?.n ?? 0;
    const asked = { patient: P, day: '2026-03-26' };
    expect(coverageOn(state, { ...asked, known: result - 1 })).toMatchObject({
      tier: '90+',
      left: 2,
    });
    expect(coverageOn(state, { ...asked, known: result })).toMatchObject({ tier: '0-30', left: 0 });
    expect(coverageOn(state, { ...asked, known: 0 })).toMatchObject({
      tier: '90+',
      covered: [],
      left: 3,
    });
  });

  test('a set-aside result counts as of a time before the doctor’s decision', async () => {
    const clinic = await untilRelapse();
    const before = clinic.state.events[P] as number;
    const ruling = await clinic.propose('set_aside_positive', P, {
      relapse: 'r1',
      test: 'p1',
      reason: 'poppy seeds',
    });
    if (ruling.ruling !== 'escalated') throw new Error('it must wait for a doctor');
    await clinic.trajectory.approvals.approve(ruling.pending, {
      principal: 'md:okafor',
      method: 'test',
    });
    const asked = { patient: P, day: '2026-03-26' };
    expect(coverageOn(clinic.state, asked)).toMatchObject({ tier: '90+', left: 2 });
    expect(coverageOn(clinic.state, { ...asked, known: before })).toMatchObject({
      tier: '0-30',
      left: 0,
    });
  });

  test('a row of the middle tier that covers nothing has nothing left', async () => {
    const clinic = await Clinic.open({ initial: udtInitial({ middle: { tests: 0, days: 30 } }) });
    await clinic.done('enroll', P, { program_phase: 'intake', enrolled_at: '2025-12-01' });
    expect(coverageOn(clinic.state, { patient: P, day: '2026-01-10' })).toMatchObject({
      tier: '31-89',
      left: 0,
    });
  });

  test.each([
    [{ patient: 'nobody', day: '2026-03-26' }, 'question.patient'],
    [{ patient: P, day: '2025-11-30' }, 'question.patient'],
    [{ patient: P, day: 'today' }, 'question.day'],
    [{ patient: P, day: '2026-02-30' }, 'question.day'],
    [{ patient: P, day: '2026-03-26', known: -1 }, 'question.known'],
  ])('%j is not a valid question', async (question, argument) => {
    const { state } = await untilRelapse();
    expect(() => coverageOn(state, question)).toThrow(
      expect.objectContaining({ code: 'bad_argument', evidence: { argument } }),
    );
  });
});

const sample = fc.record({
  later: fc.constantFrom(0, 1, 3, 6, 7, 8, 29, 30, 31, 90),
  type: fc.constantFrom('definitive' as const, 'presumptive' as const),
  result: fc.constantFrom('positive' as const, 'negative' as const, undefined),
  claimed: fc.boolean(),
});

test('claims commit exactly up to the rest; later records change no old answer', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sample, { maxLength: 10 }),
      fc.integer({ min: -9, max: 5 }),
      async (samples, after) => {
        const clinic = await Clinic.open();
        const enrolled = '2026-01-01';
        clinic.on(enrolled);
        await clinic.done('enroll', P, { program_phase: 'intake', enrolled_at: enrolled });
        const answers: { readonly known: number; readonly day: string; readonly said: unknown }[] =
          [];
        let day = enrolled;
        for (const [i, { later, type, result, claimed }] of samples.entries()) {
          day = addDays(day, later);
          const test = `t${i}`;
          await clinic.sample(P, test, { type, day, ...(result === undefined ? {} : { result }) });
          const { tier } = coverageOn(clinic.state, { patient: P, day });
          if (claimed)
            await clinic.propose('submit_claim', P, { claim: `c${i}`, test, date: day, tier });
          answers.push(...asked(clinic.state, enrolled, day));
        }
        for (const { known, day, said } of answers)
          expect(coverageOn(clinic.state, { patient: P, day, known })).toEqual(said);

        // Claims for earlier days too: they fill the windows of later ones.
        const last = addDays(day, after);
        day = last < enrolled ? enrolled : last;
        const { tier, left } = coverageOn(clinic.state, { patient: P, day });
        for (let i = 0; i <= left; i++) {
          await clinic.sample(P, `x${i}`, { type: 'definitive', day });
          const ruling = await clinic.propose('submit_claim', P, {
            claim: `x${i}`,
            test: `x${i}`,
            date: day,
            tier,
          });
          expect(ruling.ruling).toBe(i < left ? 'committed' : 'rejected');
        }
      },
    ),
    { numRuns: cases(60) },
  );
});

/** The current answers for three days. */
function asked(state: UdtState, enrolled: string, day: string) {
  const known = state.events[P] as number;
  return [enrolled, day, addDays(day, 7)].map((of) => ({
    known,
    day: of,
    said: coverageOn(state, { patient: P, day: of }),
  }));
}
