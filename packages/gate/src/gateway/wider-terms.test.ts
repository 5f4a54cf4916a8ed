import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { desk, said } from '../../../../tests/support/domains/gateway/desk.ts';
import { widerTerms } from './wider-terms.ts';

const TOOLS = ['bank/pay', 'bank/payroll', 'bank/refund', 'mail/send'];
const ENDS = [1, 2, 3].map((hour) => `2026-06-01T0${hour}:00:00Z`);

type Terms = Parameters<typeof widerTerms>[0];

const terms: fc.Arbitrary<Terms> = fc.record({
  agent: fc.constantFrom('ada', 'ada', 'ada', 'ben'),
  tools: fc.subarray([...TOOLS, 'bank/*', 'bank/pay*', 'mail/*'], { minLength: 1, maxLength: 3 }),
  uses: fc.integer({ min: 1, max: 3 }),
  amounts: fc.dictionary(fc.constantFrom('cents', 'points'), fc.integer({ min: 0, max: 2 })),
  expires: fc.constantFrom(...ENDS),
});

/** All uses that the terms let through, as texts: the nth one, after `spent` of a unit. */
function allowed({ agent, tools, uses, amounts, expires }: Terms): Set<string> {
  const found = new Set<string>();
  for (const tool of TOOLS) {
    const isNamed = tools.some((pattern) =>
      new RegExp(`^${pattern.replace('*', '.*')}$`).test(tool),
    );
    for (let nth = 1; isNamed && nth <= uses; nth++)
      for (const hour of [0.5, 1.5, 2.5])
        if (Date.parse('2026-06-01T00:00:00Z') + hour * 3_600_000 < Date.parse(expires)) {
          found.add(`${agent} ${tool} ${nth} ${hour}`);
          for (const [unit, most] of Object.entries(amounts))
            for (let spent = 0; spent <= most; spent++)
              found.add(`${agent} ${tool} ${nth} ${hour} ${spent} ${unit}`);
        }
  }
  return found;
}

test('amended terms that allow a use which the proposed do not are wider', () => {
  fc.assert(
    fc.property(terms, terms, (proposed, amended) => {
      const before = allowed(proposed);
      const isWider = [...allowed(amended)].some((use) => !before.has(use));
      if (isWider) expect(widerTerms(proposed, amended)).toBeDefined();
      // Patterns that match the same tools of this list may match other tools.
      else if (amended.tools.every((tool) => proposed.tools.includes(tool)))
        expect(widerTerms(proposed, amended)).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});

describe('an amendment of a standing approval', () => {
  const RULES = `
id: bank
tools: { bank/pay: { class: irreversible, amounts: { cents: /cents } }, mail/send: { class: irreversible } }
rules: [{ id: pay, ask: bank/pay }, { id: mail, ask: mail/send }]
standing: { uses: 10, hours: 10, amounts: { cents: 500 } }
`;
  const asked = async () => {
    const made = await desk(RULES);
    const end = (hours: number) =>
      new Date(Date.parse(made.clock.now()) + hours * 3_600_000).toISOString();
    const proposed = {
      ...{ id: 'lunch', agent: 'ada', tools: ['bank/pay'], uses: 3, amounts: { cents: 200 } },
      ...{ expires: end(5), because: 'Lunch of the team.' },
    };
    const ruling = await made.act('stand', proposed, 'ada');
    if (ruling.ruling !== 'escalated') throw new Error(said(ruling));
    const decision = { principal: 'human:grace', method: 'test' } as const;
    const amend = (more: object) =>
      made.trajectory.approvals.approve(ruling.pending, {
        ...decision,
        override: true,
        args: { ...proposed, ...more },
      });
    return { ...made, end, amend };
  };

  test('is refused if it allows more, and commits if it allows less', async () => {
    const { amend, end, state } = await asked();
    for (const [more, words] of [
      [{ uses: 4 }, /4 uses, and 3 were proposed/],
      [{ tools: ['bank/pay', 'mail/send'] }, /the tools mail\/send/],
      [{ tools: ['bank/*'] }, /the tools bank/],
      [{ amounts: { cents: 201 } }, /201 cents, and 200 were proposed/],
      [{ amounts: { cents: 200, points: 0 } }, /0 points, and none were proposed/],
      [{ expires: end(6) }, /an end at/],
    ] as const) {
      await expect(amend(more)).rejects.toMatchObject({ code: 'invalid_amendment' });
      await expect(amend(more)).rejects.toThrow(words);
      await expect(amend(more)).rejects.toThrow(/ask again/);
    }
    const less = { uses: 2, amounts: { cents: 100 }, expires: end(4) };
    expect(said(await amend(less))).toBe('committed');
    expect(state().standing['lunch']).toMatchObject({
      uses: 2,
      amounts: { cents: 100 },
      approvedBy: 'human:grace',
    });
  });
});
