import { escalate, type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import { limitText, notReadText, USES } from './actions/call.ts';
import { readGroup } from './judge/figures.ts';
import { isOpen } from './open-calls.ts';
import { ruleText } from './rule-text.ts';
import type { CallRow, GatewayState } from './schema.ts';

/** How many calls of one agent may be open. */
export const OPEN_CALLS_MAX = 1_000;

/**
 * The rules of the gateway, in order. A call's record has the circumstances of the call, so later
 * rules never judge an earlier call. Every reason starts with the id of the written rule: `[id]`.
 */
export function invariants(
  rules: Rules<GatewayState>,
  isTried: boolean,
): readonly Invariant<GatewayState>[] {
  const { each, sum, count } = rules;
  return [
    each('DENIED', '/calls/*', { final: true }, ({ denied }) =>
      denied === undefined ? pass : reject(ruleText(denied.rule, denied.why)),
    ),
    each('READ_FIRST', '/calls/*', {}, ({ unread: [first] }) =>
      first === undefined ? pass : reject(ruleText(first.rule, notReadText(first.path))),
    ),
    isTried ? triedLimit(rules) : limits(rules),
    count(
      'OPEN_CALLS',
      '/calls/*',
      { where: isOpen, per: ({ agent }) => agent },
      (open, _, agent) =>
        open <= OPEN_CALLS_MAX
          ? pass
          : reject(`${agent} has ${OPEN_CALLS_MAX} open calls; report their outcomes first`),
    ),
    sum(
      'STANDING_BUDGET',
      '/spent/*/*',
      {
        final: true,
        per: (_, [key, unit]) =>
          `${(key as string).slice(0, (key as string).indexOf('|'))}|${unit}`,
        reads: ['/standing'],
        with: (text) => ({ standing: `/standing/${text.slice(0, text.indexOf('|'))}` }),
      },
      (total, { standing }, text) => {
        if (standing === undefined) return pass;
        const unit = text.slice(text.indexOf('|') + 1);
        const most = unit === USES ? standing.uses : (standing.amounts[unit] ?? 0);
        return total <= most
          ? pass
          : reject(`the standing approval covers ${most} ${unit}, and this is ${total}`);
      },
    ),
    each(
      'PINNED',
      '/pins/*',
      {
        final: true,
        onApprove: ({ pins }, { counselor, keys: [tool = ''] }) => {
          const pin = pins[tool];
          if (pin !== undefined) pin.approvedBy = counselor;
        },
      },
      ({ held, was, approvedBy }) => {
        if (!held || approvedBy !== undefined) return pass;
        return escalate(
          was === undefined
            ? 'the tool is new'
            : `the definition has changed since ${was.slice(0, 12)}`,
        );
      },
    ),
    each(
      'STANDING_APPROVED',
      '/standing/*',
      {
        final: true,
        onApprove: ({ standing }, { counselor, at, keys: [id = ''] }) => {
          const asked = standing[id];
          if (asked === undefined) return;
          asked.approvedBy = counselor;
          asked.approvedAt = at;
        },
      },
      ({ approvedBy, because }) => (approvedBy !== undefined ? pass : escalate(because)),
    ),
    each('ASK_TWO', '/calls/*', { approvals: 2, onApprove: approved }, (call) => answered(call, 2)),
    each('ASK', '/calls/*', { onApprove: approved }, (call) => answered(call, 1)),
  ];
}

function answered(
  { asks, approvals, approvedBy, minutes, standing }: CallRow,
  judged: 1 | 2,
): ReturnType<typeof escalate> | typeof pass {
  if (approvals !== judged || standing !== undefined || approvedBy.length >= approvals) return pass;
  const why = asks.map((ask) => ruleText(ask.rule, ask.why)).join('; ');
  return escalate(why, minutes === undefined ? {} : { timeoutMs: minutes * 60_000 });
}

function approved(
  { calls }: GatewayState,
  { counselor, keys: [id = ''] }: { readonly counselor: string; readonly keys: readonly string[] },
): void {
  calls[id]?.approvedBy.push(counselor);
}

/** The limits over the figures of the state. */
function limits({ sum }: Rules<GatewayState>): Invariant<GatewayState> {
  return sum(
    'LIMIT',
    '/used/*',
    {
      final: true,
      per: (_, [key]) => (key as string).slice(0, (key as string).lastIndexOf('|')),
      reads: ['/limits'],
      with: (text) => ({ limit: `/limits/${readGroup(text).limit}` }),
    },
    (total, { limit }, text) => {
      const { limit: id, group } = readGroup(text);
      const floor =
        limit !== undefined && Object.hasOwn(limit.floors, group)
          ? (limit.floors[group] as number)
          : 0;
      if (limit === undefined || total <= Math.max(limit.max, floor)) return pass;
      return reject(ruleText(id, limitText(total, limit.max, text)));
    },
  );
}

/** The same for rules that are only tried: the state has no figures of theirs. */
function triedLimit({ each }: Rules<GatewayState>): Invariant<GatewayState> {
  return each('LIMIT', '/calls/*', { final: true }, ({ over }) =>
    over === undefined ? pass : reject(ruleText(over.rule, over.why)),
  );
}
