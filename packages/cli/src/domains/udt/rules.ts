/**
 * The invariants, in order: the first that does not pass decides. Each reads one patient's rows.
 * README.md gives the source of each.
 */
import { type EachInvariant, escalate, pass, type Rules, reject } from 'assize/internal/kernel';
import { abstinenceOn } from './abstinence.ts';
import { isDoctor, MD } from './doctor.ts';
import type { UdtState } from './schema.ts';
import { windowsOf } from './window.ts';

export function rules({ each }: Rules<UdtState>): readonly EachInvariant<UdtState>[] {
  return [
    each(
      'CONFIRM_BY_DEFINITIVE',
      '/orders/*/*',
      {
        reads: ['/tests/*/*'],
        with: ({ confirms }, [patient, order]) => ({
          sample: `/tests/${patient}/${order}`,
          // No id is empty, so an order that confirms nothing reads no other test.
          confirmed: `/tests/${patient}/${confirms ?? ''}`,
        }),
      },
      ({ type, confirms }, { sample, confirmed }) => {
        if (sample !== undefined && (sample.type !== type || sample.confirms !== confirms)) {
          return reject('the performed test is not the ordered one');
        }
        if (confirms === undefined) return pass;
        if (confirmed?.type !== 'presumptive')
          return reject(`there is no presumptive test ${confirms} to confirm`);
        return type === 'definitive'
          ? pass
          : reject(
              `only a definitive test confirms a presumptive one; order a definitive test to confirm ${confirms}`,
            );
      },
    ),

    each(
      'RELAPSE_RESPONSE_IS_HUMAN',
      '/relapses/*/*',
      {
        channel: MD,
        onApprove: ({ relapses }, { counselor, keys: [patient = '', relapse = ''] }) => {
          const row = relapses[patient]?.[relapse];
          if (row !== undefined) row.decided_by = counselor;
        },
      },
      ({ test, response, decided_by }) => {
        if (decided_by === undefined)
          return escalate(`a doctor decides the response to ${test}: ${response}`);
        return isDoctor(decided_by) ? pass : reject(`${decided_by} is not a doctor`);
      },
    ),

    each(
      'TIER_DERIVED',
      '/patients/*',
      { reads: ['/tests/*'], with: (_, [patient]) => ({ tests: `/tests/${patient}` }) },
      ({ enrolled_at, last_positive, as_of, consecutive_days, tier }, { tests = {} }) => {
        const derived = abstinenceOn(as_of, enrolled_at, tests);
        const same =
          derived.last_positive === last_positive &&
          derived.consecutive_days === consecutive_days &&
          derived.tier === tier;
        if (!same)
          return reject(`the tests say ${tierText(derived, as_of)}, the record says ${tier}`);
        const unseen = Object.values(tests).find(
          (test) => test.result === 'positive' && test.collected_at > as_of,
        );
        return unseen === undefined
          ? pass
          : reject(`there is a positive test of ${unseen.collected_at}, after ${as_of}`);
      },
    ),

    each(
      'CLAIM_TIER_CURRENT',
      '/claims/*/*',
      {
        reads: ['/tests/*', '/patients/*/enrolled_at'],
        with: (_, [patient]) => ({
          tests: `/tests/${patient}`,
          enrolledAt: `/patients/${patient}/enrolled_at`,
        }),
      },
      ({ test, date, n, tier }, { tests = {}, enrolledAt }) => {
        const sample = tests[test];
        if (sample === undefined || enrolledAt === undefined)
          return reject(`no sample was collected under ${test}`);
        if (sample.collected_at !== date) {
          return reject(
            `${test} was collected on ${sample.collected_at}; that is the day to claim for, not ${date}`,
          );
        }
        const derived = abstinenceOn(date, enrolledAt, tests, n);
        return derived.tier === tier
          ? pass
          : reject(`${tierText(derived, date)}; the claim says ${tier}`);
      },
    ),

    each(
      'DEFINITIVE_WINDOW',
      '/claims/*/*',
      {
        reads: ['/coverage', '/claims/*', '/tests/*'],
        with: (_, [patient]) => ({
          coverage: '/coverage',
          claims: `/claims/${patient}`,
          tests: `/tests/${patient}`,
        }),
      },
      (claim, { coverage, claims = {}, tests = {} }) => {
        if (coverage?.[claim.tier] === undefined)
          return reject(`there is no coverage for the tier ${claim.tier}`);
        if (tests[claim.test]?.type !== 'definitive') return pass;
        for (const { tier, allowed, from, to, covered } of windowsOf(
          claim,
          coverage,
          claims,
          tests,
        )) {
          // A test that is claimed twice counts once here. The next rule checks repeated claims.
          const count = new Set(covered.map(([, { test }]) => test)).size;
          if (count <= allowed.tests) continue;
          const limit = `tier ${tier} covers ${testsText(allowed.tests)} in ${allowed.days} days`;
          const until = to === claim.date ? '' : ` until the claim of ${to}`;
          return reject(`${limit}; since ${from}${until} this would be ${count}`);
        }
        return pass;
      },
    ),

    each(
      'ONE_CLAIM_PER_TEST',
      '/claims/*/*',
      { reads: ['/claims/*'], with: (_, [patient]) => ({ claims: `/claims/${patient}` }) },
      ({ test }, { claims = {} }, [, id]) => {
        const other = Object.keys(claims).find((key) => key !== id && claims[key]?.test === test);
        return other === undefined ? pass : reject(`${test} is claimed by ${other} too`);
      },
    ),

    each('ORDER_HAS_RATIONALE', '/orders/*/*', {}, ({ rationale }) =>
      rationale.trim() === '' ? reject('an order must give the reason for the test') : pass,
    ),
  ];
}

function tierText({ last_positive, tier }: ReturnType<typeof abstinenceOn>, day: string): string {
  const since =
    last_positive === null ? 'no positive test on record' : `last positive ${last_positive}`;
  return `on ${day} the tier is ${tier} (${since})`;
}

function testsText(count: number): string {
  return count === 1 ? '1 definitive test' : `${count} definitive tests`;
}
