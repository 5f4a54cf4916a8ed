import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../tests/support/cases.ts';
import { DIGEST, Office, SETTINGS, START } from './testing/office.ts';
import { addHours } from './time.ts';

// Two rules with an indirect implementation, each compared with its definition.

test('the rate limit equals a count over every window', async () => {
  const waits = fc.array(fc.constantFrom(0, 1, 23, 24, 25, 47, 48, 49), {
    minLength: 3,
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(waits, async (hours) => {
      const office = await Office.open();
      const sent: number[] = [];
      let now = 0;
      for (const [i, wait] of hours.entries()) {
        now += wait;
        office.later({ hours: wait });
        await office.registered(`v${i}`);
        const ruling = await office.propose('submit_report', `v${i}`, { digest: DIGEST });
        const { reports, hours: length } = SETTINGS.rate_limit;
        // All half-open windows that end after a report.
        const isFull = [...sent, now].some(
          (end) => [...sent, now].filter((at) => at > end - length && at <= end).length > reports,
        );
        expect(ruling).toMatchObject(
          isFull
            ? { ruling: 'rejected', invariantId: 'MAINTAINER_RATE_LIMIT' }
            : { ruling: 'committed' },
        );
        if (!isFull) sent.push(now);
      }
      expect(office.state.reports['acme']?.['kernel']?.map(({ at }) => at)).toEqual(
        sent.map((at) => addHours(START, at)),
      );
    }),
    { numRuns: cases(60) },
  );
});

test('an agent is refused exactly for undisclosed cases of two organisations', async () => {
  const agent = fc.constantFrom('ann', 'ben');
  const number = fc.nat({ max: 3 });
  const move = fc.oneof(
    fc.record({ move: fc.constant('assign' as const), agent, number }),
    fc.record({ move: fc.constant('release' as const), agent, number }),
    fc.record({ move: fc.constant('disclose' as const), agent, number }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 6, maxLength: 20 }), async (moves) => {
      const office = await Office.open();
      const organisationOf = (n: number) => (n < 2 ? 'acme' : 'beta');
      for (let n = 0; n < 4; n++) {
        const place = { organisation: organisationOf(n), maintainer: `m${n}` };
        await office.embargoed(`v${n}`, place);
        await office.fixed(`v${n}`, place);
        await office.done('release_agent', `v${n}`, {}, { agent: `tracker@${organisationOf(n)}` });
        await office.ready(`v${n}`, place);
      }
      office.later({ days: 90 });
      const has = new Map<string, Set<number>>([
        ['ann', new Set()],
        ['ben', new Set()],
      ]);
      const disclosed = new Set<number>();
      for (const { move, agent, number } of moves) {
        const mine = has.get(agent) as Set<number>;
        if (move === 'disclose') {
          const place = { organisation: organisationOf(number), maintainer: `m${number}` };
          await office.propose('execute_disclosure', `v${number}`, { resolved: [] }, place);
          disclosed.add(number);
        } else if (move === 'release') {
          await office.propose('release_agent', `v${number}`, {}, { agent });
          mine.delete(number);
        } else {
          const secret = [...mine, number].filter((n) => !disclosed.has(n));
          const isApart = secret.some((a) =>
            secret.some((b) => organisationOf(a) !== organisationOf(b)),
          );
          const ruling = await office.propose(
            'assign_agent',
            `v${number}`,
            { role: 'PatchTracking' },
            { agent },
          );
          expect(ruling).toMatchObject(
            isApart
              ? { ruling: 'rejected', invariantId: 'RECEIVING_ORG_CONFINEMENT' }
              : { ruling: 'committed' },
          );
          if (!isApart) mine.add(number);
        }
      }
    }),
    { numRuns: cases(60) },
  );
});
