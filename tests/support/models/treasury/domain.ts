import { z } from 'zod';
import { type CallContext, DidNothing, declareTool, type Tool } from '#effects';
import { type ActionCall, call, type Domain, defineDomain, escalate, pass, reject } from '#kernel';
import type { Bank } from './bank.ts';
import type { Payment, RuleName, Treasury, Version } from './versions.ts';

// The real domain of a version, and its tools. The naive model of both is in `naive.ts`.

const INPUT = z.strictObject({ to: z.string(), cents: z.int(), of: z.string() });

/** A tool that reports a call to `execute`. The domain names each tool by an object of its own. */
function bankTool(
  name: string,
  isCostly: boolean,
  execute: (input: object, call: CallContext) => Promise<void>,
) {
  return declareTool({
    name,
    input: INPUT,
    class: {
      reversibility: isCostly ? 'with_cost' : 'reversible',
      delivery: isCostly ? 'externalised' : 'buffered',
      sink: 'keyed',
    },
    writes: ['bank:{to}'],
    execute: async (input, context) => {
      await execute(input, context);
      return null;
    },
    compensate: () => ({ undone: 'all' }),
  });
}

const NAMES = ['bank.pay', 'bank.fee', 'bank.tip'] as const;

/** The tools of a process, over a bank that outlives it. */
export function toolsOver(bank: Bank, step: () => Promise<void>): Tool[] {
  return NAMES.map((tool) =>
    bankTool(tool, tool === 'bank.fee', async (input, { key }) => {
      await step();
      const fault = bank.nextFault();
      if (fault === 'refuse') throw new DidNothing('the bank is busy');
      bank.do(key, tool, input);
      await step();
      if (fault === 'lose') throw new Error('the line went dead');
    }),
  );
}

const [pay, fee] = NAMES.map((name) =>
  bankTool(name, name === 'bank.fee', () => {
    throw new Error('the domain executes no tool');
  }),
) as [ReturnType<typeof bankTool>, ReturnType<typeof bankTool>];

const cents = z.int();
/** Identifies a proposal in the ledger. */
const ref = z.int();

function stateSchema({ hasKinds }: Version) {
  const payment = z.object({
    to: z.string(),
    cents,
    invoice: z.string().optional(),
    by: z.array(z.string()).optional(),
    ...(hasKinds ? { kind: z.string() } : {}),
  });
  const amounts = z.record(z.string(), cents);
  return z.object({
    payments: z.record(z.string(), payment),
    limits: amounts,
    rate: cents,
    notes: amounts,
  });
}

export function domainOf(version: Version): Domain {
  return defineDomain<any, any>({
    name: 'treasury',
    version: String(version.number),
    freeze: version.freeze,
    state: stateSchema(version),
    processes: {
      pay: { reads: ['/rate'], writes: ['/payments/*'] },
      office: { writes: ['/limits/*', '/rate'] },
      note: { writes: ['/notes/{who}'] },
    },
    roles: {
      clerk: { processes: ['pay', 'office'] },
      writer: { params: ['who'], processes: ['note'] },
    },
    counselors: {
      manager: (principal: string) => /^(manager|director)-/.test(principal),
      director: (principal: string) => principal.startsWith('director-'),
    },
    actions: actionsOf(version),
    invariants: (rules: any) => version.rules.map((name) => ruleOf(name, version, rules)),
  } as never) as Domain;
}

function actionsOf(version: Version): object {
  const { hasKinds } = version;
  return {
    pay: {
      process: 'pay',
      args: z.object({
        ref,
        id: z.string(),
        to: z.string(),
        cents,
        invoice: z.string().optional(),
      }),
      cost: (args: any) => ({ cents: Math.max(args.cents, 0) }),
      apply: ({ payments, rate }: Treasury, { id, to, cents, invoice }: any) => {
        if (cents === 0) throw new Error('nothing is paid');
        payments[id] = {
          to,
          cents: cents * rate,
          ...(invoice === undefined ? {} : { invoice }),
          ...(hasKinds ? { kind: 'new' } : {}),
        };
      },
      ...(version.isSilent
        ? {}
        : { calls: (state: Treasury, { id }: any) => callsFor(version, id, state) }),
    },
    drop: {
      process: 'pay',
      args: z.object({ ref, id: z.string() }),
      apply: ({ payments }: Treasury, { id }: any) => {
        delete payments[id];
      },
    },
    plan: {
      process: 'office',
      args: z.object({
        ref,
        to: z.string().optional(),
        most: cents.optional(),
        rate: cents.optional(),
      }),
      apply: (state: Treasury, { to, most, rate }: any) => {
        if (rate !== undefined) state.rate = rate;
        if (to !== undefined && most !== undefined) state.limits[to] = most;
      },
    },
    note: {
      process: 'note',
      args: z.object({ ref }),
      apply: ({ notes }: Treasury, { ref }: any, { role }: any) => {
        notes[role.who] = ref;
      },
    },
  };
}

/** A payment of nothing or less makes no calls. */
function callsFor(version: Version, id: string, { payments }: Treasury): ActionCall[] {
  const { to, cents } = payments[id] as Payment;
  if (cents <= 0) return [];
  const second = version.fee === undefined ? [] : [call(fee, { to, cents: version.fee, of: id })];
  return [call(pay, { to, cents, of: id }), ...second];
}

function ruleOf(
  name: RuleName,
  version: Version,
  { invariant, each, eachCall, sum, count, unique }: any,
): unknown {
  const passIf = (ok: boolean) => (ok ? pass : reject(name));
  const options = version.final === name ? { final: true } : { overridable: true };
  const perPerson = { per: ({ to }: Payment) => to, ...options };
  switch (name) {
    case 'LIMIT':
      return sum(
        name,
        '/payments/*',
        {
          ...perPerson,
          of: ({ cents }: Payment) => cents,
          reads: ['/limits/*'],
          with: (to: string) => ({ limit: `/limits/${to}` }),
        },
        (total: number, { limit = 0 }: { limit?: number }) => passIf(total <= limit),
      );
    case 'MANY':
      return count(name, '/payments/*', perPerson, (n: number) => passIf(n <= version.most));
    case 'INVOICE':
      return unique(name, '/payments/*', { by: ({ invoice }: Payment) => invoice, ...options });
    case 'LARGE':
      return each(
        name,
        '/payments/*',
        {
          ...options,
          channel: 'manager',
          approvals: version.managers,
          onApprove: (
            { payments }: Treasury,
            { counselor, keys }: { counselor: string; keys: string[] },
          ) => {
            const payment = payments[keys[0] as string] as Payment;
            payment.by = [...(payment.by ?? []), counselor];
          },
        },
        ({ cents, by = [] }: Payment) =>
          cents <= version.large || by.length >= version.managers ? pass : escalate(name),
      );
    case 'ORDER':
      return invariant(
        name,
        ['/payments'],
        ({ payments }: Treasury) =>
          passIf(payments['a'] === undefined || payments['b'] === undefined || 'c' in payments),
        options,
      );
    case 'CALL_MOST':
      return eachCall(name, pay, options, ({ input }: any) =>
        passIf(input.cents <= version.callMost),
      );
    case 'CALL_ASK':
      return eachCall(name, 'bank.*', { ...options, channel: 'director' }, ({ input }: any) =>
        input.cents <= version.callAsk ? pass : escalate(name),
      );
  }
}

/** The change of the state from one version to another. `raise`: added to every limit. */
export function migrationTo({ hasKinds }: Version, raise: number): (state: Treasury) => void {
  return ({ payments, limits }) => {
    for (const person of Object.keys(limits)) limits[person] = (limits[person] as number) + raise;
    for (const payment of Object.values(payments)) {
      if (!hasKinds) delete payment.kind;
      else payment.kind ??= 'old';
    }
  };
}
