import { clone } from '../json.ts';
import { naiveDiff, type Operation, rfc6902 } from '../naive-patch.ts';
import type { Payment, RuleName, Treasury, Version } from './versions.ts';

// The treasury on plain objects: the result of an action, its calls, and the rules that fail.

export type Action =
  | { readonly name: 'pay'; readonly args: PayArgs }
  | { readonly name: 'drop'; readonly args: { readonly ref: number; readonly id: string } }
  | { readonly name: 'plan'; readonly args: PlanArgs }
  | { readonly name: 'note'; readonly args: { readonly ref: number }; readonly who: string };

export interface PayArgs {
  readonly ref: number;
  readonly id: string;
  readonly to: string;
  readonly cents: number;
  readonly invoice?: string;
}

interface PlanArgs {
  readonly ref: number;
  readonly to?: string;
  readonly most?: number;
  readonly rate?: number;
}

export interface Call {
  readonly tool: string;
  readonly input: { readonly to: string; readonly cents: number; readonly of: string };
}

/** The first failure of a rule. `keys`: of the failing member. */
export interface Finding {
  readonly rule: RuleName;
  readonly result: 'reject' | 'escalate';
  readonly keys: readonly string[];
}

export function costOf({ name, args }: Action): number {
  return name === 'pay' ? Math.max(args.cents, 0) : 0;
}

/** The state after the action. Undefined if the action throws. */
export function resultOf(
  { hasKinds }: Version,
  state: Treasury,
  action: Action,
): Treasury | undefined {
  const next = clone(state);
  switch (action.name) {
    case 'pay': {
      const { id, to, cents, invoice } = action.args;
      if (cents === 0) return undefined;
      const payment: Payment = { to, cents: cents * state.rate };
      if (invoice !== undefined) payment.invoice = invoice;
      if (hasKinds) payment.kind = 'new';
      next.payments[id] = payment;
      break;
    }
    case 'drop':
      delete next.payments[action.args.id];
      break;
    case 'plan': {
      const { to, most, rate } = action.args;
      if (rate !== undefined) next.rate = rate;
      if (to !== undefined && most !== undefined) next.limits[to] = most;
      break;
    }
    case 'note':
      next.notes[action.who] = action.args.ref;
      break;
  }
  return next;
}

/** The calls that an action declares on the state that it made. */
export function callsOf(
  { isSilent, fee }: Version,
  { payments }: Treasury,
  action: Action,
): Call[] {
  if (action.name !== 'pay' || isSilent) return [];
  const of = action.args.id;
  const { to, cents } = payments[of] as Payment;
  if (cents <= 0) return [];
  const paid: Call = { tool: 'bank.pay', input: { to, cents, of } };
  return fee === undefined ? [paid] : [paid, { tool: 'bank.fee', input: { to, cents: fee, of } }];
}

/** The first failure of each rule, in the order of the rules. */
export function findingsOf(version: Version, state: Treasury, calls: readonly Call[]): Finding[] {
  return version.rules.flatMap((rule): Finding[] => {
    const keys = failureOf(rule, version, state, calls);
    const result = rule === 'LARGE' || rule === 'CALL_ASK' ? 'escalate' : 'reject';
    return keys === undefined ? [] : [{ rule, result, keys }];
  });
}

/** The key of the first failing payment; of other rules an empty list. Undefined if it passes. */
function failureOf(
  rule: RuleName,
  version: Version,
  { payments, limits }: Treasury,
  calls: readonly Call[],
): string[] | undefined {
  const all = Object.values(payments);
  const people = [...new Set(all.map(({ to }) => to))];
  const sumFor = (person: string): number =>
    all.filter(({ to }) => to === person).reduce((total, { cents }) => total + cents, 0);
  const failIf = (fails: boolean): string[] | undefined => (fails ? [] : undefined);
  switch (rule) {
    case 'LIMIT':
      return failIf(people.some((person) => sumFor(person) > (limits[person] ?? 0)));
    case 'MANY':
      return failIf(
        people.some((person) => all.filter(({ to }) => to === person).length > version.most),
      );
    case 'INVOICE': {
      const invoices = all.flatMap(({ invoice }) => invoice ?? []);
      return failIf(new Set(invoices).size < invoices.length);
    }
    case 'LARGE': {
      const isLarge = ({ cents, by = [] }: Payment): boolean =>
        cents > version.large && by.length < version.managers;
      const found = Object.keys(payments)
        .sort()
        .find((id) => isLarge(payments[id] as Payment));
      return found === undefined ? undefined : [found];
    }
    case 'ORDER':
      return failIf('a' in payments && 'b' in payments && !('c' in payments));
    case 'CALL_MOST':
      return failIf(
        calls.some(({ tool, input }) => tool === 'bank.pay' && input.cents > version.callMost),
      );
    case 'CALL_ASK':
      return failIf(calls.some(({ input }) => input.cents > version.callAsk));
  }
}

/** Whether the version has a rule over the calls of a tool. */
export function judgesTool({ rules }: Version, tool: string): boolean {
  return rules.includes('CALL_ASK') || (tool === 'bank.pay' && rules.includes('CALL_MOST'));
}

/** The kinds of counselors that the first rule and the rule over calls ask. */
export function channelOf(findings: readonly Finding[]): string {
  const asking = findings.filter(({ rule }, i) => i === 0 || rule === 'CALL_ASK');
  const kinds = new Set(asking.map(({ rule }) => (rule === 'LARGE' ? 'manager' : 'director')));
  return kinds.size === 0 ? 'any' : [...kinds].sort().join('+');
}

/** The findings that ask for an approval, if an override settles a first one that rejects. */
export function askingOf(findings: readonly Finding[]): readonly Finding[] {
  return findings[0]?.result === 'escalate'
    ? findings
    : findings.filter(({ rule }) => rule === 'CALL_ASK');
}

export function approvalsFor({ managers }: Version, rule: string | undefined): number {
  return rule === 'LARGE' ? managers : 1;
}

/** The state with the marks of the approvers. Only a large payment is marked. */
export function marked(
  state: Treasury,
  finding: Finding | undefined,
  approvers: readonly string[],
): Treasury {
  if (finding?.rule !== 'LARGE') return state;
  const next = clone(state);
  const payment = next.payments[finding.keys[0] as string] as Payment;
  payment.by = [...(payment.by ?? []), ...approvers];
  return next;
}

/** The names that stand for the approvers of a proposal before they have approved. */
export function placeholders(approvals: number): string[] {
  return Array.from({ length: approvals }, (_, i) =>
    i === approvals - 1 ? '$counselor' : `$counselor-${i + 1}`,
  );
}

export function isCounselor(channel: string, principal: string): boolean {
  return (
    /^director-/.test(principal) || (!channel.includes('director') && /^manager-/.test(principal))
  );
}

/** The state of one version as a state of the other. */
export function migrated({ hasKinds }: Version, raise: number, state: Treasury): Treasury {
  const next = clone(state);
  for (const person of Object.keys(next.limits))
    next.limits[person] = (next.limits[person] as number) + raise;
  for (const payment of Object.values(next.payments)) {
    if (!hasKinds) delete payment.kind;
    else if (payment.kind === undefined) payment.kind = 'old';
  }
  return next;
}

export function difference(was: Treasury, now: Treasury): Operation[] {
  return naiveDiff(was as never, now as never);
}

// ── beside pending proposals (docs/decisions/009-freeze.md) ──

type Operations = readonly Operation[];

/** Applies each list; a list that does not apply counts as nothing. */
function after(state: Treasury, lists: readonly Operations[]): Treasury {
  return lists.reduce((now, operations) => {
    try {
      return rfc6902(now as never, operations) as unknown as Treasury;
    } catch {
      return now;
    }
  }, state);
}

/** The rules that fail, without the rules over calls. */
function brokenBy(version: Version, state: Treasury): Set<RuleName> {
  return new Set(findingsOf(version, state, []).map(({ rule }) => rule));
}

/**
 * Whether some choice of the waiting proposals passes a rule without a change, and not with it. A
 * waiting proposal that breaks a rule itself does not count for that rule.
 */
export function isHeld(
  version: Version,
  state: Treasury,
  own: Operations,
  waiting: readonly Operations[],
): boolean {
  const broken = (lists: readonly Operations[]): Set<RuleName> =>
    brokenBy(version, after(state, lists));
  return subsets(waiting).some((among) => {
    if (among.length === 0) return false;
    const [together, alone, without] = [broken([own, ...among]), broken([own]), broken(among)];
    return [...together].some((rule) => {
      if (alone.has(rule)) return false;
      if (!without.has(rule)) return true;
      const counted: Operations[] = [];
      for (const one of among) if (!broken([...counted, one]).has(rule)) counted.push(one);
      return broken([own, ...counted]).has(rule);
    });
  });
}

function subsets<T>(of: readonly T[]): T[][] {
  return of.reduce<T[][]>((all, one) => all.concat(all.map((each) => [...each, one])), [[]]);
}

const OF_MEMBERS: readonly RuleName[] = ['LIMIT', 'MANY', 'INVOICE', 'LARGE'];

/** Whether operations change a place that a pending proposal has frozen. A `*` is any name. */
export function meets(operations: Operations, frozen: 'world' | readonly string[]): boolean {
  if (frozen === 'world') return operations.length > 0;
  return operations.some(({ path }) =>
    frozen.some((place) => overlap(path.split('/'), place.split('/'))),
  );
}

function overlap(path: readonly string[], place: readonly string[]): boolean {
  return path.slice(0, place.length).every((name, i) => place[i] === '*' || place[i] === name);
}

/** The places that an escalated proposal reserves: whole payments, if a rule is about payments. */
export function reservedBy({ rules }: Version, operations: Operations): Operation[] {
  const hasMembers = rules.some((rule) => OF_MEMBERS.includes(rule));
  return operations.map((operation) => {
    const member = /^\/payments\/[^/]*/.exec(operation.path);
    return hasMembers && member !== null ? { ...operation, path: member[0] } : operation;
  });
}
