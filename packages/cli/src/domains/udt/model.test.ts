import type { Ruling } from 'assize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../tests/support/cases.ts';
import { Clinic } from '../../../tests/support/domains/udt-clinic.ts';
import { addDays, daysBetween } from './days.ts';
import type { Tier } from './schema.ts';

// Random lives of one patient, adjudicated by the runtime and by a model. The model follows the
// table of docs/decisions/019-shipped-domains.md over plain numbers of days, and has no footprints,
// event numbers or records.

type Collect = { readonly move: 'collect'; readonly later: number; readonly definitive: boolean };
/** `test` counts back from the latest sample. */
type Move =
  | { readonly move: 'result'; readonly test: number; readonly positive: boolean }
  | { readonly move: 'claim'; readonly test: number; readonly tier: Tier | 'right' }
  | { readonly move: 'set aside'; readonly test: number };

const back = fc.nat({ max: 4 });
const tier = fc.constantFrom<(Tier | 'right')[]>('right', 'right', 'right', '0-30', '31-89', '90+');
// Mostly near enough to fill windows, sometimes far enough to change tiers, on the exact day or
// next to it.
const later = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, 1, 3, 6, 7, 8) },
  { weight: 1, arbitrary: fc.constantFrom(23, 29, 30, 31, 59, 83, 89, 90) },
);
const life: fc.Arbitrary<(Collect | Move)[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        move: fc.constant('collect' as const),
        later,
        definitive: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        move: fc.constant('result' as const),
        test: back,
        positive: fc.boolean(),
      }),
    },
    { weight: 6, arbitrary: fc.record({ move: fc.constant('claim' as const), test: back, tier }) },
    { weight: 1, arbitrary: fc.record({ move: fc.constant('set aside' as const), test: back }) },
  ),
  { minLength: 10, maxLength: 50 },
);

interface Sample {
  readonly day: number;
  readonly definitive: boolean;
  result?: 'positive' | 'negative';
  setAside: boolean;
}

class Model {
  readonly samples: Sample[] = [];
  /** With the tier that they were claimed in. */
  readonly #covered: { readonly sample: Sample; readonly tier: Tier }[] = [];

  collect(day: number, definitive: boolean): void {
    this.samples.push({ day, definitive, setAside: false });
  }

  result(sample: Sample, positive: boolean): string {
    const result = positive ? 'positive' : 'negative';
    if (sample.result === 'positive' || sample.result === result) return 'precondition_failed';
    sample.result = result;
    return 'committed';
  }

  setAside(sample: Sample): string {
    if (sample.result !== 'positive' || sample.setAside) return 'precondition_failed';
    sample.setAside = true;
    return 'committed';
  }

  claim(sample: Sample, claimed: Tier): string {
    if (claimed !== this.tierOn(sample.day)) return 'CLAIM_TIER_CURRENT';
    const all = [...this.#covered, { sample, tier: claimed }].filter((it) => it.sample.definitive);
    const isOver = ({ sample: { day: end }, tier }: (typeof all)[number]): boolean => {
      const [most, days] = ({ '0-30': [1, 7], '31-89': [3, 30], '90+': [3, 90] } as const)[tier];
      const window = all.filter(({ sample: { day } }) => day > end - days && day <= end);
      return new Set(window.map((it) => it.sample)).size > most;
    };
    if (all.some(isOver)) return 'DEFINITIVE_WINDOW';
    if (this.#covered.some((it) => it.sample === sample)) return 'ONE_CLAIM_PER_TEST';
    this.#covered.push({ sample, tier: claimed });
    return 'committed';
  }

  tierOn(day: number): Tier {
    const positives = this.samples.filter(
      (it) => it.result === 'positive' && !it.setAside && it.day <= day,
    );
    const days = day - Math.max(0, ...positives.map((it) => it.day));
    return days < 31 ? '0-30' : days < 90 ? '31-89' : '90+';
  }
}

const P = 'dana';
const ENROLLED = '2026-01-01';

test('each life is ruled by the table; no result or order fails by content', async () => {
  await fc.assert(
    fc.asyncProperty(life, async (moves) => {
      const clinic = await Clinic.open();
      clinic.on(ENROLLED);
      await clinic.done('enroll', P, { program_phase: 'intake', enrolled_at: ENROLLED });
      const model = new Model();
      let today = 0;
      for (const [step, next] of moves.entries()) {
        if (next.move === 'collect') {
          today += next.later;
          const type = next.definitive ? 'definitive' : 'presumptive';
          await clinic.sample(P, `t${model.samples.length}`, {
            type,
            day: addDays(ENROLLED, today),
          });
          model.collect(today, next.definitive);
        } else if (model.samples.length > 0) {
          const [expected, ruling] = await bothWays(model, clinic, next, step);
          expect(wordOf(ruling), `${step} ${JSON.stringify(next)}`).toBe(expected);
        }
      }
      const record = clinic.state.patients[P]!;
      expect(record.tier).toBe(model.tierOn(daysBetween(ENROLLED, record.as_of)));
    }),
    { numRuns: cases(300) },
  );
});

async function bothWays(
  model: Model,
  clinic: Clinic,
  next: Move,
  step: number,
): Promise<[string, Ruling]> {
  const number = model.samples.length - 1 - (next.test % model.samples.length);
  const sample = model.samples[number]!;
  const id = `t${number}`;
  switch (next.move) {
    case 'result': {
      const result = next.positive ? 'positive' : 'negative';
      return [
        model.result(sample, next.positive),
        await clinic.propose('record_result', P, { test: id, result }),
      ];
    }
    case 'claim': {
      const claimed = next.tier === 'right' ? model.tierOn(sample.day) : next.tier;
      const claim = {
        claim: `c${step}`,
        test: id,
        date: addDays(ENROLLED, sample.day),
        tier: claimed,
      };
      return [model.claim(sample, claimed), await clinic.propose('submit_claim', P, claim)];
    }
    case 'set aside': {
      const row = { relapse: `r${step}`, test: id, reason: 'a false positive' };
      const ruling = await clinic.propose('set_aside_positive', P, row);
      const doctor = { principal: 'md:okafor', method: 'test' };
      const resolved =
        ruling.ruling === 'escalated'
          ? clinic.trajectory.approvals.approve(ruling.pending, doctor)
          : ruling;
      return [model.setAside(sample), await resolved];
    }
  }
}

function wordOf(ruling: Ruling): string {
  return ruling.ruling === 'rejected' ? (ruling.invariantId ?? ruling.reason) : ruling.ruling;
}
