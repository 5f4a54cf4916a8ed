/** Happy paths: the shipped domains as the seed describes them, small domains, and bad walks. */
import { budget } from '@assize/cli/internal/domains/budget';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../../tests/support/process/errors.ts';
import { earlier } from '../order.ts';
import { type PaperProcess, paperDomain, paperOntology } from '../testing/paper-domain.ts';
import { shipped, shippedOntology } from '../testing/shipped-walks.ts';
import { type HappyPath, happyPath, type PathStep } from './happy-path.ts';

const names = (steps: readonly PathStep[]): string[] => steps.map(({ process }) => process);
const of = (name: string): HappyPath => {
  const { ontology, domain, walk } = shipped(name);
  return happyPath(ontology, domain, { walk });
};

describe('the shipped domains (§3.2.1, §3.2.2, figure 7)', () => {
  test('UDT: a doctor handles exceptions, and agents do the rest', () => {
    const { continuant, steps, beside, counselor, contradictions } = of('udt');
    expect({ continuant, counselor, contradictions }).toEqual({
      ...{ continuant: 'patient', counselor: 'beside', contradictions: [] },
    });
    expect(names(steps)).toEqual(['enrolment', 'ordering', 'testing', 'tracking', 'claiming']);
    expect(steps.every(({ passes }) => passes === 'alone')).toBe(true);
    expect(names(beside).sort()).toEqual(['reappraisal', 'relapse_response']);
    expect(beside.map(({ passes, by }) => [passes, by?.approvedBy])).toEqual([
      ['with a counselor', 'md:walking'],
      ['with a counselor', 'md:walking'],
    ]);
  });

  test('Disclosure: twelve processes that pass alone, and a counselor beside', () => {
    const { continuant, steps, beside, counselor, contradictions } = of('disclosure');
    expect({ continuant, counselor, beside, contradictions }).toEqual({
      ...{ continuant: 'vulnerability', counselor: 'beside', beside: [], contradictions: [] },
    });
    expect(steps).toHaveLength(12);
    expect([names(steps)[0], names(steps).at(-1)]).toEqual([
      'RegisterVulnerability',
      'ExecuteDisclosure',
    ]);
    expect(steps.filter(({ passes }) => passes !== 'alone')).toEqual([]);
    expect(steps.some(({ escalations }) => escalations.length > 0)).toBe(true);
  });

  test('Verification: the expert is on the path', () => {
    const { continuant, steps, beside, counselor, contradictions } = of('verification');
    expect({ continuant, counselor, beside, contradictions }).toEqual({
      ...{ continuant: 'finding', counselor: 'on the path', beside: [], contradictions: [] },
    });
    expect(names(steps.filter(({ passes }) => passes === 'with a counselor'))).toEqual(['judging']);
    expect(steps.find(({ process }) => process === 'judging')).toMatchObject({
      role: 'Verification',
      writes: [':Verdicts', ':FindingEvents'],
      escalations: [{ rule: 'VERDICT_IS_HUMAN', counselor: 'expert' }],
      by: { action: 'judge', approvedBy: 'expert:ada' },
    });
    expect(names(steps).at(-1)).toBe('reporting');
  });

  test('the rules of a step are its preconditions and those on its writing', () => {
    const claiming = of('udt').steps.at(-1) as PathStep;
    expect(claiming.preconditions).toEqual(['CLAIM_TIER_CURRENT', 'ONE_CLAIM_PER_TEST']);
    expect(claiming.rules).toEqual([
      'CLAIM_TIER_CURRENT',
      'DEFINITIVE_WINDOW',
      'ONE_CLAIM_PER_TEST',
    ]);
  });

  test.each(['udt', 'disclosure', 'verification', 'moderation', 'budget', 'airline', 'retail'])(
    '%s without its domain: the declared order, and open if a rule escalates',
    (name) => {
      const ontology = shippedOntology(name);
      const { steps, beside, counselor, states } = happyPath(ontology);
      expect([beside, states]).toEqual([[], 0]);
      expect(counselor).toBe(
        ontology.rules.some((rule) => rule.counselor !== '') ? 'open' : 'none',
      );
      expect(names(steps).sort()).toEqual(ontology.processes.map(({ process }) => process).sort());
      const order = names(steps).map(
        (one) => ontology.processes.find(({ process }) => process === one)?.term as string,
      );
      for (const [term, before] of earlier(ontology))
        for (const one of before) expect(order.indexOf(one)).toBeLessThan(order.indexOf(term));
    },
  );
});

const paper = (
  ...processes: readonly (readonly [name: string, after: string, isAsked?: boolean])[]
) =>
  processes.map(
    ([name, after, isAsked = false]): PaperProcess => ({
      ...{ name, isAsked },
      after: after === '' ? [] : after.split(' '),
    }),
  );
const pathOf = (processes: readonly PaperProcess[]): HappyPath =>
  happyPath(paperOntology(processes), paperDomain(processes));

describe('exception handlers', () => {
  test('an approval at the end is on the path', () => {
    const { counselor, steps } = pathOf(
      paper(['draft', ''], ['review', 'draft'], ['approve', 'review', true]),
    );
    expect([counselor, names(steps)]).toEqual(['on the path', ['draft', 'review', 'approve']]);
  });

  test('an approval beside another end is beside the path', () => {
    const { counselor, steps, beside } = pathOf(
      paper(
        ['draft', ''],
        ['retract', 'draft', true],
        ['appeal', 'retract', true],
        ['print', 'draft'],
      ),
    );
    expect([counselor, names(steps), names(beside).sort()]).toEqual([
      'beside',
      ['draft', 'print'],
      ['appeal', 'retract'],
    ]);
  });

  test('an approval that another process waits for is on the path', () => {
    expect(
      pathOf(
        paper(['draft', ''], ['approve', 'draft', true], ['print', 'approve'], ['sell', 'draft']),
      ),
    ).toMatchObject({
      counselor: 'on the path',
      beside: [],
    });
  });

  test('a process that only a counselor lets pass is the path if it is all', () => {
    expect(pathOf(paper(['approve', '', true]))).toMatchObject({
      counselor: 'on the path',
      beside: [],
    });
    expect(pathOf(paper(['draft', '']))).toMatchObject({ counselor: 'none' });
  });

  test('drawn proposals reach every process of any small domain', () => {
    const processes = fc
      .array(fc.tuple(fc.nat(31), fc.boolean()), { minLength: 1, maxLength: 5 })
      .map((list) =>
        list.map(([bits, isAsked], i): PaperProcess => {
          const after = list.slice(0, i).flatMap((_, j) => ((bits >> j) & 1 ? [`p${j}`] : []));
          return { name: `p${i}`, after, isAsked };
        }),
      );
    fc.assert(
      fc.property(processes, (all) => {
        const { steps, beside, counselor, contradictions } = pathOf(all);
        const asked = all.filter(({ isAsked }) => isAsked).map(({ name }) => name);
        expect(contradictions).toEqual([]);
        expect(names([...steps, ...beside]).sort()).toEqual(all.map(({ name }) => name).sort());
        for (const { process, passes } of [...steps, ...beside])
          expect(passes).toBe(asked.includes(process) ? 'with a counselor' : 'alone');
        for (const { process } of beside) expect(asked).toContain(process);
        // Without the handlers beside it, the path still happens in its order.
        const done: string[] = [];
        for (const { process } of steps) {
          const { after = [] } = all.find(({ name }) => name === process) as PaperProcess;
          expect(after.filter((one) => !done.includes(one))).toEqual([]);
          done.push(process);
        }
        const isOn = steps.some(({ process }) => asked.includes(process));
        expect(counselor).toBe(isOn ? 'on the path' : beside.length > 0 ? 'beside' : 'none');
      }),
      { numRuns: 30 },
    );
  });
});

describe('bad input', () => {
  const { ontology, domain, walk } = shipped('udt');

  test('a proposal that does not pass is named with the reason', () => {
    const early = walk.proposals.toSpliced(1, 1);
    expect(
      errorOf(() => happyPath(ontology, domain, { walk: { ...walk, proposals: early } })),
    ).toMatchObject({
      ...{ code: 'bad_walk', evidence: { proposal: 1 } },
      message: expect.stringMatching(/^Proposal 1 of the walk \(collect_sample\) does not pass: /),
    });
    const twice = [...walk.proposals, walk.proposals.at(-1) as (typeof walk.proposals)[number]];
    const again = {
      ...(twice.at(-1) as (typeof twice)[number]),
      args: { claim: 'c2', test: 't1', date: '2026-03-23', tier: '0-30' },
    };
    expect(
      errorOf(() =>
        happyPath(ontology, domain, {
          walk: { ...walk, proposals: [...twice.slice(0, -1), again] },
        }),
      ),
    ).toMatchObject({ message: expect.stringContaining('ONE_CLAIM_PER_TEST stops it') });
    const unknown = {
      action: 'fly',
      role: { name: 'Clinical', params: { patient: 'david' } },
      args: {},
    };
    expect(
      errorOf(() => happyPath(ontology, domain, { walk: { ...walk, proposals: [unknown] } })),
    ).toMatchObject({
      ...{ code: 'bad_walk', evidence: { proposal: 0 } },
      message: expect.stringContaining('fly, which cannot be put'),
    });
  });

  test('refused: an exception that never passes, a walk without its domain', () => {
    const [first, ...rest] = walk.exceptions as NonNullable<typeof walk.exceptions>;
    const misspelled = { ...(first as (typeof rest)[number]), action: 'record_results' };
    const exceptions = [...rest, misspelled];
    expect(
      errorOf(() => happyPath(ontology, domain, { walk: { ...walk, exceptions } })),
    ).toMatchObject({
      code: 'bad_walk',
      evidence: { exception: 0 },
    });
    expect(errorOf(() => happyPath(ontology, undefined, { walk }))).toMatchObject({
      code: 'bad_walk',
    });
  });

  test('another domain, and a domain with a process of its own, are refused', () => {
    expect(errorOf(() => happyPath(ontology, shipped('disclosure').domain))).toMatchObject({
      code: 'bad_walk',
    });
    expect(
      errorOf(() => happyPath(ontology, domain, { walk: { ...walk, domain: 'disclosure' } })),
    ).toMatchObject({
      code: 'bad_walk',
    });
    const all = paper(['draft', ''], ['print', 'draft']);
    expect(
      errorOf(() => happyPath(paperOntology(all.slice(0, 1)), paperDomain(all))),
    ).toMatchObject({
      ...{ code: 'bad_walk' },
      message: expect.stringContaining('The domain performs print'),
    });
    expect(
      errorOf(() => happyPath(ontology, domain, { walk: { ...walk, initial: { coverage: 3 } } })),
    ).toMatchObject({
      code: 'bad_state',
    });
    const overspent = {
      domain: 'budget',
      at: walk.at,
      initial: { cap: 1, spent: { ada: 5 } },
      proposals: [],
    };
    expect(
      errorOf(() => happyPath(shippedOntology('budget'), budget, { walk: overspent })),
    ).toMatchObject({
      ...{ code: 'bad_state', message: 'The initial state breaks BUDGET_CAP. Give another one.' },
    });
  });

  test('a run against the declared order is reported', () => {
    const [draft, print] = paper(['draft', ''], ['print', '']) as [PaperProcess, PaperProcess];
    const declared = paperOntology([{ ...draft, after: ['print'] }, print]);
    const proposals = ['draft', 'print'].map((name) => ({
      ...{ action: `do_${name}`, args: {} },
      role: { name: `R${name}`, params: {} },
    }));
    const run = { domain: 'paper', at: '2026-06-01T12:00:00.000000Z', proposals };
    expect(happyPath(declared, paperDomain([draft, print]), { walk: run }).contradictions).toEqual([
      'draft took place before print, which the ontology puts before it',
    ]);
  });
});
