/**
 * Random rules and calls, and a naive interpreter of the same rules. It keeps a list of all calls
 * and counts it again for each call.
 */
import fc from 'fast-check';

const TOOLS = ['fs/read', 'fs/write', 'bank/pay', 'bank/get', 'new/tool'] as const;
export const AGENTS = ['ada', 'ben'] as const;
const PATHS = ['/a', '/a/b', '/ab', '/c', '/a/../c'] as const;
const WINDOW = { minute: 60, hour: 3_600, day: 86_400 } as const;

export interface NaiveRule {
  readonly id: string;
  readonly effect: 'allow' | 'deny' | 'ask';
  readonly tool: string;
  readonly path?: string;
  readonly max?: number;
  readonly approvals?: number;
  readonly agent?: string;
  readonly mode?: 'enforce' | undefined;
}
export interface NaiveLimit {
  readonly id: string;
  readonly tool: string;
  readonly per: keyof typeof WINDOW;
  readonly each: readonly ('agent' | 'tool')[];
  readonly max: number;
  readonly unit?: string;
  readonly mode?: 'enforce' | undefined;
}
export interface NaiveRules {
  readonly otherwise: 'allow' | 'ask' | 'deny';
  readonly rules: readonly NaiveRule[];
  readonly limits: readonly NaiveLimit[];
  readonly readFirst: boolean;
  /** Whether a call that no rule is about is let through, also of an unknown tool. */
  readonly isOpen?: boolean;
}
export interface Step {
  readonly agent: string;
  readonly tool: string;
  readonly path: string;
  readonly cents: number;
  readonly seconds: number;
  readonly approved: boolean;
  readonly outcome: 'done' | 'failed' | 'open';
}

const tool = fc.constantFrom('*', 'fs/*', 'bank/*', 'fs/write', 'bank/pay', 'bank/g*');
export const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
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
export const ruleFile: fc.Arbitrary<NaiveRules> = fc
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
export const step: fc.Arbitrary<Step> = fc.record({
  agent: fc.constantFrom(...AGENTS),
  tool: fc.constantFrom(...TOOLS),
  path: fc.constantFrom(...PATHS),
  cents: fc.nat(50),
  seconds: fc.constantFrom(1, 1, 10, 60, 4_000, 90_000),
  approved: fc.boolean(),
  outcome: fc.constantFrom('done' as const, 'done' as const, 'failed' as const, 'open' as const),
});

export function yamlOf({ otherwise, rules, limits, readFirst }: NaiveRules): string {
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
    rules: rules.map(({ id, effect, tool, path, max, approvals, agent, mode }) =>
      plain({
        id,
        mode,
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

export class Naive {
  readonly #rules: NaiveRules;
  readonly #calls: Past[] = [];
  readonly #read: { readonly agent: string; readonly path: string; readonly at: number }[] = [];

  constructor(rules: NaiveRules) {
    this.#rules = rules;
  }

  /** `deny`, `allow`, or the number of people who must approve. */
  rule(call: Step, at: number): 'allow' | 'deny' | number {
    const hasPath = call.tool.startsWith('fs/');
    const { rules, otherwise, limits, readFirst, isOpen = false } = this.#rules;
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
    const isKnown = isOpen || call.tool !== 'new/tool';
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
