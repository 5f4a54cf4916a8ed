import type { Hypothesis } from './hypothesis.ts';
import type { NeverRule, OrderingRule, RateRule } from './rule.ts';

/** Accepted rules without those that others imply, and with rules of one form joined. */
export function withoutImplied(accepted: readonly Hypothesis[]): readonly Hypothesis[] {
  const orderings = accepted.filter(isOrdering);
  const rest = accepted.filter(
    ({ rule }) => rule.kind !== 'ordering' && rule.kind !== 'never' && rule.kind !== 'rate',
  );
  return [...rest, ...direct(bestOfPairs(orderings)), ...joined(accepted), ...bestRates(accepted)];
}

type Ordering = Hypothesis & { readonly rule: OrderingRule };

function isOrdering(hypothesis: Hypothesis): hypothesis is Ordering {
  return hypothesis.rule.kind === 'ordering';
}

/** One ordering for two tools: with the least chance, and with equal names before others. */
function bestOfPairs(orderings: readonly Ordering[]): readonly Ordering[] {
  const best = new Map<string, Ordering>();
  for (const one of orderings) {
    const key = `${one.rule.needs}\n${one.rule.tool}`;
    const other = best.get(key);
    if (other === undefined || isBetter(one, other)) best.set(key, one);
  }
  return [...best.values()];
}

function isBetter(one: Ordering, other: Ordering): boolean {
  if (one.p !== other.p) return one.p < other.p;
  const isSame = ({ rule: { on } }: Ordering): boolean =>
    on !== undefined && on.path === on.needsPath;
  return isSame(one) && !isSame(other);
}

/** Without an ordering of `a` and `c` where `b` comes between them, on the same value. */
function direct(orderings: readonly Ordering[]): readonly Ordering[] {
  return orderings.filter(
    ({ rule: whole }) =>
      !orderings.some(({ rule: second }) => {
        if (second.tool !== whole.tool || second.needs === whole.needs) return false;
        return orderings.some(
          ({ rule: first }) =>
            first.tool === second.needs &&
            first.needs === whole.needs &&
            chains(first, second, whole),
        );
      }),
  );
}

function chains(first: OrderingRule, second: OrderingRule, whole: OrderingRule): boolean {
  if (whole.on === undefined) return true;
  if (first.on === undefined || second.on === undefined) return false;
  return (
    second.on.path === whole.on.path &&
    second.on.needsPath === first.on.path &&
    first.on.needsPath === whole.on.needsPath
  );
}

/** One rule for all principals, and one for all roles, that never make a call. */
function joined(accepted: readonly Hypothesis[]): readonly Hypothesis[] {
  const groups = new Map<string, { rule: NeverRule; p: number }>();
  for (const { rule, p } of accepted) {
    if (rule.kind !== 'never') continue;
    const key = `${rule.by}\n${rule.tool}`;
    const before = groups.get(key);
    const names = [...new Set([...(before?.rule.names ?? []), ...rule.names])].sort();
    groups.set(key, { rule: { ...rule, names }, p: Math.max(p, before?.p ?? 0) });
  }
  return [...groups.values()];
}

/**
 * Of the windows of one tool, the longest with the least chance. A rate in a run stays if its
 * maximum is another one.
 */
function bestRates(accepted: readonly Hypothesis[]): readonly Hypothesis[] {
  const rates = accepted.filter((one): one is Rate => one.rule.kind === 'rate');
  const best = new Map<string, Rate>();
  for (const one of rates.filter(({ rule }) => rule.per !== 'run')) {
    const other = best.get(one.rule.tool);
    if (other === undefined || one.p <= other.p) best.set(one.rule.tool, one);
  }
  const inRun = rates.filter(
    ({ rule }) => rule.per === 'run' && best.get(rule.tool)?.rule.max !== rule.max,
  );
  return [...best.values(), ...inRun];
}

type Rate = Hypothesis & { readonly rule: RateRule };
