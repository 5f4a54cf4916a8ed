import { budget } from '@assize/cli/internal/domains/budget';
import { udt } from '@assize/cli/internal/domains/udt';
import { domainWithout } from '@assize/testing/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases, hasUsualCases } from '../../tests/support/cases.ts';
import { CaseDrawer } from './cases/cases.ts';
import { startingStates } from './cases/starting-states.ts';
import { compareArchitectures } from './compare.ts';
import { Choices } from './draw/index.ts';
import { Evaluator } from './evaluator.ts';
import { kernel } from './kernel.ts';
import { microservices } from './microservices.ts';
import type { ArchitectureFigures } from './report.ts';
import { runSchedule } from './run-schedule.ts';
import { naiveShortest } from './testing/naive-search.ts';
import {
  type CapSpec,
  capSpecs,
  comparedAgent,
  KEYS,
  type SmallAgent,
  smallAgents,
  smallDomain,
} from './testing/small-domain.ts';

const AT = '2026-06-01T12:00:00.000000Z';
const plan = fc.oneof(
  fc.record({ agents: smallAgents(3), turns: fc.constant(1) }),
  fc.record({ agents: smallAgents(2), turns: fc.constant(2) }),
);

/** The first two agents break the rule together, and the third one alone. */
const THIRD_ALONE: [CapSpec[], { agents: SmallAgent[]; turns: number }] = [
  [{ keys: ['a', 'b', 'c'], max: 4 }],
  {
    agents: [3, 3, 5].map((by, i) => ({ key: KEYS[i] as string, seesAll: false, moves: [by] })),
    turns: 1,
  },
];

test('the search finds what a naive walk over all interleavings finds', async () => {
  const kinds = new Set<string>();
  await fc.assert(
    fc.asyncProperty(capSpecs, plan, async (caps, { agents, turns }) => {
      const naive = naiveShortest(caps, agents, turns);
      const given = agents.map(comparedAgent);
      const found = await compareArchitectures(smallDomain(caps), {
        ...{ agents: given, turns, schedules: 10_000, architectures: [microservices()] },
      }).catch(unlessNothingProposed);
      if (found === undefined) return;
      expect(found.exhaustive).toBe(true);
      const violations = (found.architectures[0] as ArchitectureFigures).violations;
      const lengths = violations.map(
        ({ rule, kind, steps }) => [`${rule} ${kind}`, steps.length] as const,
      );
      expect(new Map(lengths)).toEqual(naive);
      for (const { kind } of violations) kinds.add(kind);
    }),
    { numRuns: cases(2_000), examples: [THIRD_ALONE] },
  );
  if (hasUsualCases()) expect([...kinds].sort()).toEqual(['let_through', 'skew']);
});

test('no state that the kernel commits breaks a rule of a generated domain', async () => {
  let broken = 0;
  await fc.assert(
    fc.asyncProperty(capSpecs, smallAgents(3), fc.nat(1_000), async (caps, agents, seed) => {
      const options = { agents: agents.map(comparedAgent), seed, schedules: 12 };
      const found = await compareArchitectures(smallDomain(caps), options).catch(
        unlessNothingProposed,
      );
      const [loose, strict] = found?.architectures ?? [];
      broken += loose?.broken_schedules ?? 0;
      expect(strict?.broken_schedules ?? 0).toBe(0);
      expect(strict?.refused_valid ?? 0).toBe(0);
    }),
    { numRuns: cases(300) },
  );
  if (hasUsualCases()) expect(broken).toBeGreaterThan(0);
});

test.each([
  ['budget', budget],
  ['udt', udt],
])('no state that the kernel commits breaks a rule of %s', async (_, domain) => {
  const { architectures } = await compareArchitectures(domain, { schedules: 60, population: 3 });
  expect(architectures.map(({ architecture }) => architecture)).toEqual([
    'microservices',
    'kernel',
  ]);
  const [loose, strict] = architectures;
  expect(loose?.broken_schedules).toBeGreaterThan(0);
  expect(strict).toMatchObject({ broken_schedules: 0, violations: [], refused_valid: 0 });
});

test('a kernel without a rule is found', async () => {
  const weak = domainWithout(budget, 'BUDGET_CAP');
  const planted = {
    name: 'kernel',
    begin: (setting: any) => kernel().begin({ ...setting, domain: weak }),
  };
  const { architectures } = await compareArchitectures(budget, {
    schedules: 40,
    architectures: [planted],
  });
  expect(architectures).toMatchObject([
    { violations: [{ rule: 'BUDGET_CAP', kind: 'skew', steps: { length: 4 } }] },
  ]);
});

test('generated agents break no rule one after the other', async () => {
  await fc.assert(
    fc.asyncProperty(capSpecs, fc.nat(1_000), async (caps, seed) => {
      const evaluator = new Evaluator(smallDomain(caps), AT);
      const drawer = await CaseDrawer.on(
        evaluator,
        startingStates(evaluator),
        new Choices(2 * seed),
        async () => {},
      );
      const setting = {
        ...{ domain: evaluator.domain, at: AT, onQuestion: () => {} },
        evaluate: (...given: Parameters<Evaluator['evaluate']>) => evaluator.evaluate(...given),
      } as const;
      for (let n = 0; n < 10; n++) {
        const drawn = drawer.next(3);
        if (drawn === undefined) return;
        const serial = [0, 1, 2].map((agent, readAfter) => ({ agent, readAfter }));
        const turns = await runSchedule(
          microservices(),
          drawn,
          serial,
          evaluator,
          setting as never,
        );
        expect(turns.flatMap(({ breaks }) => breaks)).toEqual([]);
        // The first agent always finds a proposal.
        expect(turns[0]?.outcome).toEqual({ outcome: 'committed' });
      }
    }),
    { numRuns: cases(100) },
  );
});

function unlessNothingProposed(error: { readonly code?: string }): undefined {
  if (error.code !== 'no_proposals') throw error;
}
