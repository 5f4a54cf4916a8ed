/**
 * Random rules and calls against a naive interpreter of the same rules. It keeps a list of all
 * calls and counts it again for each call.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { type Desk, desk, said } from '../../../../tests/support/domains/gateway/desk.ts';

const TOOLS = ['fs/read', 'fs/write', 'bank/pay', 'bank/get', 'new/tool'] as const;
const AGENTS = ['ada', 'ben'] as const;
const PATHS = ['/a', '/a/b', '/ab', '/c', '/a/../c'] as const;
const WINDOW = { minute: 60, hour: 3_600, day: 86_400 } as const;

interface NaiveRule {
  readonly id: string;
  readonly effect: 'allow' | 'deny' | 'ask';
  readonly tool: string;
  readonly path?: string;
  readonly max?: number;
  readonly approvals?: number;
  readonly agent?: string;
}
interface NaiveLimit {
  readonly id: string;
  readonly tool: string;
  readonly per: keyof typeof WINDOW;
  readonly each: readonly ('agent' | 'tool')[];
  readonly max: number;
  readonly unit?: string;
}
interface NaiveRules {
  readonly otherwise: 'allow' | 'ask' | 'deny';
  readonly rules: readonly NaiveRule[];
  readonly limits: readonly NaiveLimit[];
  readonly readFirst: boolean;
}
interface Step {
  readonly agent: string;
  readonly tool: string;
  readonly path: string;
  readonly cents: number;
  readonly seconds: number;
  readonly approved: boolean;
  readonly outcome: 'done' | 'failed' | 'open';
}

const tool = fc.constantFrom('*', 'fs/*', 'bank/*', 'fs/write', 'bank/pay', 'bank/g*');
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const rule = fc.record({
  effect: fc.constantFrom('allow' as const, 'allow' as const, 'deny' as const, 'ask' as const),
  tool,
  path: some(fc.constantFrom('/a', '/a/b', '/c')),
  max: some(fc.nat(50)),
  approvals: some(fc.constantFrom(1, 2)),
  agent: some(fc.constantFrom(...AGENTS)),
});
const limit = fc.record({
  tool,
  per: fc.constantFrom('minute' as const, 'hour' as const, 'day' as const),
  each: fc.subarray(['agent', 'tool'] as const),
  max: fc.integer({ min: 0, max: 60 }),
  unit: some(fc.constant('cents')),
});
const ruleFile: fc.Arbitrary<NaiveRules> = fc
  .record({
    otherwise: fc.constantFrom('allow' as const, 'allow' as const, 'ask' as const, 'deny' as const),
    rules: fc.array(rule, { maxLength: 4 }),
    limits: fc.array(limit, { maxLength: 3 }),
    readFirst: fc.boolean(),
  })
  .map((made) => ({
    ...made,
    rules: made.rules.map((each, i) => ({ id: `r${i}`, ...each }) as NaiveRule),
    limits: made.limits.map((each, i) => ({ id: `l${i}`, ...each }) as NaiveLimit),
  }));
const step: fc.Arbitrary<Step> = fc.record({
  agent: fc.constantFrom(...AGENTS),
  tool: fc.constantFrom(...TOOLS),
  path: fc.constantFrom(...PATHS),
  cents: fc.nat(50),
  seconds: fc.constantFrom(1, 1, 10, 60, 4_000, 90_000),
  approved: fc.boolean(),
  outcome: fc.constantFrom('done' as const, 'done' as const, 'failed' as const, 'open' as const),
});

function yamlOf({ otherwise, rules, limits, readFirst }: NaiveRules): string {
  const plain = (value: object): object =>
    Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
  return JSON.stringify({
    id: 'random',
    default: otherwise,
    tools: {
      'fs/read': { class: 'read', reads: '/path' },
      'fs/write': { class: 'reversible', writes: '/path' },
      'bank/pay': { class: 'irreversible', amounts: { cents: '/cents' } },
      'bank/get': { class: 'read' },
    },
    rules: rules.map(({ id, effect, tool, path, max, approvals, agent }) =>
      plain({
        id,
        [effect]: tool,
        path,
        amount: max === undefined ? undefined : { unit: 'cents', max },
        agents: agent,
        approvals: effect === 'ask' ? approvals : undefined,
      }),
    ),
    limits: limits.map(({ tool, each, ...rest }) =>
      plain({ ...rest, tools: tool, each: each.length > 0 ? each : undefined }),
    ),
    read_before_write: readFirst ? [{ id: 'look', tools: 'fs/write' }] : [],
  });
}

const matches = (pattern: string, name: string): boolean =>
  pattern === '*' ||
  (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name);
const below = (path: string, top: string): boolean => path === top || path.startsWith(`${top}/`);

/** The calls so far, with the times of their reports. */
interface Past extends Step {
  readonly at: number;
}

class Naive {
  readonly #rules: NaiveRules;
  readonly #calls: Past[] = [];
  readonly #read: { readonly agent: string; readonly path: string; readonly at: number }[] = [];

  constructor(rules: NaiveRules) {
    this.#rules = rules;
  }

  /** `deny`, `allow`, or the number of people who must approve. */
  rule(call: Step, at: number): 'allow' | 'deny' | number {
    const hasPath = call.tool.startsWith('fs/');
    const { rules, otherwise, limits, readFirst } = this.#rules;
    const applied = rules.filter((each) => {
      if (!matches(each.tool, call.tool) || (each.agent !== undefined && each.agent !== call.agent))
        return false;
      if (
        each.path !== undefined &&
        (!hasPath || (!call.path.includes('..') && !below(call.path, each.path)))
      )
        return false;
      if (each.path !== undefined && call.path.includes('..')) return true;
      if (each.max !== undefined && (call.tool !== 'bank/pay' || call.cents > each.max))
        return false;
      return true;
    });
    const isUnreadable = hasPath && call.path.includes('..');
    if (applied.some((each) => each.effect === 'deny' || (each.path !== undefined && isUnreadable)))
      return 'deny';
    if (readFirst && call.tool === 'fs/write') {
      if (isUnreadable) return 'deny';
      const seen = this.#read.some(
        (each) => each.agent === call.agent && each.path === call.path && at - each.at <= 86_400,
      );
      if (!seen) return 'deny';
    }
    if (limits.some((each) => this.#exceeds(each, call, at))) return 'deny';
    const asks = applied.filter((each) => each.effect === 'ask');
    const isKnown = call.tool !== 'new/tool';
    if (asks.length > 0 || !isKnown)
      return Math.max(1, ...asks.map(({ approvals = 1 }) => approvals));
    if (applied.length > 0) return 'allow';
    return otherwise === 'ask' ? 1 : otherwise;
  }

  #exceeds(limit: NaiveLimit, call: Step, at: number): boolean {
    const counts = (one: Step): number =>
      !matches(limit.tool, one.tool) || (limit.unit !== undefined && one.tool !== 'bank/pay')
        ? 0
        : limit.unit === undefined
          ? 1
          : one.cents;
    const concerns =
      matches(limit.tool, call.tool) && (limit.unit === undefined || call.tool === 'bank/pay');
    if (!concerns) return false;
    const window = (time: number): number => Math.floor(time / WINDOW[limit.per]);
    const same = this.#calls.filter(
      (one) =>
        window(one.at) === window(at) &&
        (!limit.each.includes('agent') || one.agent === call.agent) &&
        (!limit.each.includes('tool') || one.tool === call.tool),
    );
    return same.reduce((sum, one) => sum + counts(one), counts(call)) > limit.max;
  }

  committed(call: Step, at: number): void {
    this.#calls.push({ ...call, at });
  }

  reported({ agent, path, tool, outcome }: Step, at: number): void {
    if (outcome === 'done' && tool.startsWith('fs/') && !path.includes('..'))
      this.#read.push({ agent, path, at });
  }
}

const secondsOf = ({ clock }: Desk): number => Date.parse(clock.now()) / 1_000;

test(
  'random rules and calls are ruled as a naive interpreter rules them',
  { timeout: 300_000 },
  () =>
    fc.assert(
      fc.asyncProperty(
        ruleFile,
        fc.array(step, { maxLength: 14 }),
        fc.boolean(),
        some(ruleFile),
        async (rules, steps, policy, later) => {
          const made = await desk(yamlOf(rules), { policy });
          let naive = new Naive(rules);
          const past: [Step, number, number][] = [];
          for (const [i, one] of steps.entries()) {
            // In the middle the rules change. Figures are then counted again from all calls.
            if (later !== undefined && !policy && i === 7) {
              const before = naive;
              const changed = await made
                .configure(yamlOf(later))
                .catch((error: Error) => error.message);
              if (typeof changed !== 'string') {
                expect(said(changed)).toBe('committed');
                naive = new Naive(later);
                for (const [call, at, reportedAt] of past) {
                  naive.committed(call, at);
                  naive.reported(call, reportedAt);
                }
              } else expect(before).toBe(naive);
            }
            made.clock.forward(one.seconds * 1_000);
            const args = { path: one.path, cents: one.cents };
            const id = `s${i}`;
            const [server, name] = one.tool.split('/');
            const ruling = await made.act('call', { id, server, tool: name, args }, one.agent);
            const at = secondsOf(made);
            const expected = naive.rule(one, at);
            const seen =
              ruling.ruling === 'committed'
                ? 'allow'
                : ruling.ruling === 'rejected'
                  ? 'deny'
                  : ruling.ruling;
            expect([i, one, seen === 'escalated' ? 'ask' : seen, said(ruling)].slice(0, 3)).toEqual(
              [i, one, typeof expected === 'number' ? 'ask' : expected],
            );
            let isCommitted = seen === 'allow';
            if (typeof expected === 'number') {
              let now = ruling;
              let people = 0;
              while (one.approved && now.ruling === 'escalated')
                now = await made.approve(now, `human:h${people++}`);
              if (one.approved) expect([now.ruling, people]).toEqual(['committed', expected]);
              else if (now.ruling === 'escalated')
                await made.trajectory.approvals.reject(now.pending, {
                  principal: 'human:h',
                  method: 'test',
                  reason: 'no',
                });
              isCommitted = one.approved;
            }
            if (!isCommitted) continue;
            naive.committed(one, at);
            if (one.outcome === 'open') {
              past.push([one, at, at]);
              continue;
            }
            expect(
              said(await made.act('report', { call: id, outcome: one.outcome }, one.agent)),
            ).toBe('committed');
            naive.reported(one, secondsOf(made));
            past.push([one, at, secondsOf(made)]);
          }
        },
      ),
      { numRuns: cases(400) },
    ),
);

test('no order of calls and approvals exceeds a limit', { timeout: 300_000 }, () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ agent: fc.constantFrom(...AGENTS), cents: fc.integer({ min: 1, max: 60 }) }),
        {
          maxLength: 12,
        },
      ),
      fc.integer({ min: 20, max: 150 }),
      fc.array(fc.nat(20), { maxLength: 12 }),
      async (calls, max, order) => {
        const made = await desk(`
id: sum
tools: { bank/pay: { class: irreversible, amounts: { cents: /cents } } }
rules:
  - { id: small, allow: bank/pay, amount: { unit: cents, max: 30 } }
  - { id: rest, ask: bank/pay, amount: { unit: cents, min: 31 } }
limits:
  - { id: day, tools: bank/pay, per: day, unit: cents, max: ${max} }
`);
        const rulings = await Promise.all(
          calls.map(({ agent, cents }) => made.call(agent, 'bank/pay', { cents })),
        );
        const waiting = rulings.filter(({ ruling }) => ruling === 'escalated');
        for (const each of order) {
          const [next] = waiting.splice(each % Math.max(1, waiting.length), 1);
          if (next !== undefined)
            await made.approve(next).catch(({ code }) => expect(code).toBe('changed_since'));
        }
        const spent = Object.values(made.state().calls).reduce(
          (sum, { amounts }) => sum + (amounts['cents'] ?? 0),
          0,
        );
        expect(spent).toBeLessThanOrEqual(max);
        const used = Object.values(made.state().used).reduce((sum, amount) => sum + amount, 0);
        expect(used).toBe(spent);
      },
    ),
    { numRuns: cases(400) },
  ),
);
