/** Observation and trial sets against the naive interpreter of the same rules. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { type Desk, desk } from '../../../../tests/support/domains/gateway/desk.ts';
import {
  Naive,
  type NaiveRules,
  ruleFile,
  type Step,
  step,
  yamlOf,
} from '../../../../tests/support/domains/gateway/naive-rules.ts';
import { configuration } from './configuration.ts';
import { readRules } from './rules/read-rules.ts';

const UNTIL = '2030-01-01';

/** A file whose rules partly hold although it only observes. */
const observing = fc.tuple(ruleFile, fc.array(fc.boolean(), { maxLength: 7 })).map(
  ([file, enforced]): NaiveRules => ({
    ...file,
    rules: file.rules.map((rule, i) =>
      rule.effect !== 'allow' && enforced[i] === true ? { ...rule, mode: 'enforce' } : rule,
    ),
    limits: file.limits.map((limit, i) =>
      enforced[4 + i] === true ? { ...limit, mode: 'enforce' } : limit,
    ),
  }),
);

/** The part of it that holds. */
function held(file: NaiveRules): NaiveRules {
  const rules = file.rules.filter(({ mode }) => mode === 'enforce');
  const limits = file.limits.filter(({ mode }) => mode === 'enforce');
  return { rules, limits, otherwise: 'allow', readFirst: false, isOpen: true };
}

const observingText = (file: NaiveRules): string =>
  JSON.stringify({ ...JSON.parse(yamlOf(file)), mode: 'observe', until: UNTIL });

const secondsOf = ({ clock }: Desk): number => Date.parse(clock.now()) / 1_000;

/** Makes the calls. `judged` sees each ruling, and the row of a committed call. */
async function walk(
  made: Desk,
  steps: readonly Step[],
  judged: (
    call: Step,
    at: number,
    ruling: 'allow' | 'ask' | 'deny',
    row: ReturnType<Desk['state']>['calls'][string] | undefined,
  ) => void,
  naives: readonly Naive[],
): Promise<void> {
  for (const [i, one] of steps.entries()) {
    made.clock.forward(one.seconds * 1_000);
    const [server, tool] = one.tool.split('/');
    const id = `s${i}`;
    const args = { path: one.path, cents: one.cents };
    const asked = await made.act('call', { id, server, tool, args }, one.agent);
    const at = secondsOf(made);
    let ruling = asked;
    for (let n = 0; one.approved && ruling.ruling === 'escalated'; n++)
      ruling = await made.approve(ruling, `human:h${n}`);
    if (ruling.ruling === 'escalated')
      await made.trajectory.approvals.reject(ruling.pending, {
        ...{ principal: 'human:h', method: 'test', reason: 'no' },
      });
    const said = { committed: 'allow', escalated: 'ask', rejected: 'deny' } as const;
    judged(one, at, said[asked.ruling as keyof typeof said], made.state().calls[id]);
    if (ruling.ruling !== 'committed') continue;
    for (const naive of naives) naive.committed(one, at);
    if (one.outcome === 'open') continue;
    await made.act('report', { call: id, outcome: one.outcome }, one.agent);
    for (const naive of naives) naive.reported(one, secondsOf(made));
  }
}

/** The ruling on a call that waits: without the parts that other calls could change meanwhile. */
function waitingRuling(file: NaiveRules, call: Step, at: number): string {
  const isUnreadable = call.path.includes('..') && call.tool === 'fs/write';
  if (file.readFirst && isUnreadable) return 'deny';
  return plainly(new Naive({ ...file, limits: [], readFirst: false }).rule(call, at));
}

const plainly = (ruling: 'allow' | 'deny' | number): string =>
  typeof ruling === 'number' ? 'ask' : ruling;

test('an observing file refuses only what holds, and records the rest', { timeout: 300_000 }, () =>
  fc.assert(
    fc.asyncProperty(
      observing,
      fc.array(step, { maxLength: 12 }),
      fc.boolean(),
      async (file, steps, policy) => {
        const made = await desk(observingText(file), { policy });
        const [whole, acting] = [new Naive(file), new Naive(held(file))];
        await walk(
          made,
          steps,
          (call, at, ruling, row) => {
            const expected = plainly(acting.rule(call, at));
            expect(ruling).toBe(expected);
            const said = ruling === 'ask' ? waitingRuling(file, call, at) : undefined;
            if (row !== undefined)
              expect(row.would?.ruling ?? ruling).toBe(said ?? plainly(whole.rule(call, at)));
          },
          [whole, acting],
        );
      },
    ),
    { numRuns: cases(300) },
  ),
);

test('from its day on the same file refuses what its rules say', { timeout: 300_000 }, () =>
  fc.assert(
    fc.asyncProperty(ruleFile, fc.array(step, { maxLength: 10 }), async (file, steps) => {
      const made = await desk(
        JSON.stringify({ ...JSON.parse(yamlOf(file)), mode: 'observe', until: '2020-01-01' }),
      );
      const naive = new Naive(file);
      await walk(
        made,
        steps,
        (call, at, ruling, row) => {
          expect(ruling).toBe(plainly(naive.rule(call, at)));
          expect(row?.would).toBeUndefined();
        },
        [naive],
      );
    }),
    { numRuns: cases(150) },
  ),
);

test('a trial changes no answer, and in force it rules as recorded', { timeout: 300_000 }, () =>
  fc.assert(
    fc.asyncProperty(
      ruleFile,
      ruleFile,
      fc.array(step, { minLength: 1, maxLength: 10 }),
      async (file, tried, steps) => {
        const trial = { rules: readRules(yamlOf(tried)).rules, until: UNTIL };
        const withTrial = async (): Promise<Desk> => {
          const made = await desk(yamlOf(file), { policy: false });
          const { rules } = readRules(yamlOf(file));
          await made.act('configure', configuration(rules, [], trial));
          return made;
        };
        const [inForce, beside] = [new Naive(file), new Naive(tried)];
        const recorded: (string | undefined)[] = [];
        await walk(
          await withTrial(),
          steps,
          (call, at, ruling, row) => {
            expect(ruling).toBe(plainly(inForce.rule(call, at)));
            const said = ruling === 'ask' ? waitingRuling(tried, call, at) : undefined;
            if (row !== undefined)
              expect(row.trial?.ruling).toBe(said ?? plainly(beside.rule(call, at)));
            recorded.push(said === undefined ? row?.trial?.ruling : undefined);
          },
          [inForce, beside],
        );
        const promoted = await withTrial();
        const last = steps.at(-1) as Step;
        await walk(promoted, steps.slice(0, -1), () => {}, []);
        await promoted.act('configure', configuration(trial.rules));
        promoted.clock.forward(last.seconds * 1_000);
        const [server, tool] = last.tool.split('/');
        const args = { path: last.path, cents: last.cents };
        const ruling = await promoted.act('call', { id: 'z', server, tool, args }, last.agent);
        const said = { committed: 'allow', escalated: 'ask', rejected: 'deny' } as const;
        const now = said[ruling.ruling as keyof typeof said];
        if (recorded.at(-1) !== undefined) expect(now).toBe(recorded.at(-1));
      },
    ),
    { numRuns: cases(200) },
  ),
);
