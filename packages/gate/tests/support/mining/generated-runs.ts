/** Runs of a generated team for tests: without any rule, or with one hidden rule and some noise. */
import type { MinedRule } from '../../../src/mining/index.ts';
import type { MiningCall, MiningRun } from '../../../src/mining/run.ts';

type Random = () => number;

/** Numbers from 0 to 1 that depend on the seed alone (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const AGENTS = ['ada', 'ben', 'cyd'] as const;
const TOOLS = ['bank/pay', 'crm/get', 'mail/send', 'shop/refund'] as const;

function one<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T;
}

/** How many repetitions follow, each with probability `p`. */
function geometric(random: Random, p: number): number {
  let n = 0;
  while (random() < p) n++;
  return n;
}

/** A call whose values follow no rule: numbers and names without a limit. */
function anyCall(random: Random, run: number, tool: string = one(random, TOOLS)): MiningCall {
  const minutes = Math.floor(random() * 60);
  return {
    tool,
    args: {
      order: `order-${run}-${geometric(random, 0.5)}`,
      cents: Math.ceil(-Math.log(1 - random()) * 1_000),
      note: `note ${Math.floor(random() * 1e9)}`,
    },
    principal: one(random, AGENTS),
    role: 'agent',
    at: `2026-03-${String(1 + (run % 28)).padStart(2, '0')}T${String(run % 24).padStart(2, '0')}:${String(minutes).padStart(2, '0')}:00.000000Z`,
    ruling: random() < 0.9 ? 'committed' : random() < 0.5 ? 'rejected' : 'escalated',
    ...(random() < 0.2 ? { approvedBy: ['human:grace'] } : {}),
    ...(random() < 0.1 ? { outcome: 'failed' as const } : {}),
  };
}

/** Runs that obey nothing: the order, the principals and the approvals are random. */
export function randomRuns(seed: number, count: number): MiningRun[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, run) => ({
    id: `run-${run}`,
    calls: Array.from({ length: 1 + geometric(random, 0.8) }, () => anyCall(random, run)),
  }));
}

/** One hidden rule: what it says, and the calls of a run that obeys it, or breaks it. */
export interface Hidden {
  readonly rule: MinedRule;
  readonly calls: (random: Random, run: number, isBroken: boolean) => MiningCall[];
}

const committed = { ruling: 'committed', outcome: 'done' } as const;

/** A rule of each kind. */
export const HIDDEN: readonly Hidden[] = [
  {
    rule: { kind: 'bound', tool: 'bank/pay', path: '/cents', of: 'value', max: 500 },
    calls: (random, run, isBroken) => [
      {
        ...anyCall(random, run, 'bank/pay'),
        ...committed,
        args: { cents: isBroken ? 5_000 : 1 + Math.floor(random() * 500) },
      },
    ],
  },
  {
    rule: { kind: 'bound', tool: 'book/trip', path: '/passengers', of: 'length', max: 5 },
    calls: (random, run, isBroken) => [
      {
        ...anyCall(random, run, 'book/trip'),
        ...committed,
        args: { passengers: Array(isBroken ? 20 : 1 + Math.floor(random() * 5)).fill('x') },
      },
    ],
  },
  {
    rule: { kind: 'values', tool: 'mail/send', path: '/folder', values: ['archive', 'inbox'] },
    calls: (random, run, isBroken) => [
      {
        ...anyCall(random, run, 'mail/send'),
        ...committed,
        args: { folder: isBroken ? `other-${run}` : one(random, ['inbox', 'archive']) },
      },
    ],
  },
  {
    rule: { kind: 'prefix', tool: 'fs/write', path: '/path', prefix: '/repo/' },
    calls: (random, run, isBroken) => [
      {
        ...anyCall(random, run, 'fs/write'),
        ...committed,
        args: { path: `${isBroken ? '/etc' : '/repo'}/${Math.floor(random() * 1e6)}/${run}` },
      },
    ],
  },
  {
    rule: {
      kind: 'ordering',
      tool: 'shop/refund',
      needs: 'crm/get',
      on: { path: '/order', needsPath: '/id' },
    },
    calls: (random, run, isBroken) => {
      const order = `o-${run}`;
      const get = {
        ...anyCall(random, run, 'crm/get'),
        ...committed,
        args: { id: isBroken ? 'o-other' : order },
      };
      return [get, { ...anyCall(random, run, 'shop/refund'), ...committed, args: { order } }];
    },
  },
  {
    rule: { kind: 'approval', tool: 'bank/pay', from: { path: '/cents', min: 1_000 } },
    calls: (random, run, isBroken) => {
      const { approvedBy: _, ...call } = anyCall(random, run, 'bank/pay');
      const cents = Math.floor(random() * 2_000);
      const approved = cents >= 1_000 && !isBroken;
      return [
        {
          ...call,
          ...committed,
          args: { cents },
          ...(approved ? { approvedBy: ['human:grace'] } : {}),
        },
      ];
    },
  },
  {
    rule: { kind: 'never', tool: 'bank/pay', by: 'principal', names: ['ben'] },
    calls: (random, run, isBroken) =>
      [
        {
          ...anyCall(random, run, 'bank/pay'),
          ...committed,
          principal: isBroken ? 'ben' : one(random, ['ada', 'cyd']),
        },
        { ...anyCall(random, run, 'crm/get'), ...committed, principal: 'ben' },
      ].slice(random() < 0.5 ? 0 : 1, random() < 0.5 ? 2 : 1),
  },
  {
    rule: { kind: 'apart', tool: 'bank/confirm', other: 'bank/prepare' },
    calls: (random, run, isBroken) => {
      const first = one(random, AGENTS);
      const second = one(
        random,
        AGENTS.filter((name) => name !== first),
      );
      return [
        { ...anyCall(random, run, 'bank/prepare'), ...committed, principal: first },
        {
          ...anyCall(random, run, 'bank/confirm'),
          ...committed,
          principal: isBroken ? first : second,
        },
        { ...anyCall(random, run, 'crm/get'), ...committed, principal: first },
        { ...anyCall(random, run, 'crm/get'), ...committed, principal: second },
      ];
    },
  },
  {
    rule: { kind: 'rate', tool: 'mail/send', per: 'run', max: 3 },
    calls: (random, run, isBroken) =>
      Array.from({ length: 9 }, (_, i) => {
        const isMail = i < (isBroken ? 9 : 1 + Math.floor(random() * 3));
        return {
          ...anyCall(random, run, isMail ? 'mail/send' : 'crm/get'),
          ...committed,
          principal: 'ada',
        };
      }),
  },
];

/** Runs that obey a hidden rule, but for a share of them, among calls of other tools. */
export function runsUnder(
  { rule, calls }: Hidden,
  seed: number,
  count: number,
  noise: number,
): MiningRun[] {
  const random = randomFrom(seed);
  const named = new Set([
    rule.tool,
    ...('needs' in rule ? [rule.needs] : []),
    ...('other' in rule ? [rule.other] : []),
  ]);
  return Array.from({ length: count }, (_, run) => {
    const merged = calls(random, run, random() < noise);
    const others = Array.from({ length: geometric(random, 0.6) }, () => anyCall(random, run));
    for (const other of others.filter(({ tool }) => !named.has(tool)))
      merged.splice(Math.floor(random() * (merged.length + 1)), 0, other);
    return { id: `run-${run}`, calls: merged };
  });
}
