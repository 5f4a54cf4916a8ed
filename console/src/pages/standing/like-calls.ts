import type { Approval, Card } from '../../api/queries.ts';
import type { StandingTerms } from './standing-query.ts';

/** Waiting calls of one agent in one trajectory, to allow more of. */
export interface LikeCalls {
  readonly trajectory: string;
  readonly agent: string;
  /** `server/tool`, each once. */
  readonly tools: readonly string[];
}

/** Undefined unless all proposals are calls of tools, by one agent in one trajectory. */
export function likeCallsOf(cards: readonly Card[]): LikeCalls | undefined {
  const [first] = cards;
  const agent = first?.role.params['agent'];
  if (first === undefined || agent === undefined) return undefined;
  const tools = new Set<string>();
  for (const { trajectory_id, action, role, is_gated } of cards) {
    const isLike = trajectory_id === first.trajectory_id && role.params['agent'] === agent;
    if (!is_gated || !isLike) return undefined;
    tools.add(action);
  }
  return { trajectory: first.trajectory_id, agent, tools: [...tools] };
}

/** All tools of the servers of these: `bank/*`. */
export function wholeServers(tools: readonly string[]): readonly string[] {
  return [...new Set(tools.map((tool) => `${tool.slice(0, tool.indexOf('/'))}/*`))];
}

/** The start of the next day where the reader is, as an instant. */
export function endOfToday(now: Date): string {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1).toISOString();
}

type Amounts = Readonly<Record<string, number>>;

/** The sums of the amounts of calls, at most those of the rules. Other units are left out. */
export function suggestedAmounts(
  calls: readonly { readonly amounts: Amounts }[],
  most: Amounts,
): Amounts {
  const sums = new Map<string, number>();
  for (const { amounts } of calls)
    for (const [unit, amount] of Object.entries(amounts))
      sums.set(unit, (sums.get(unit) ?? 0) + amount);
  return Object.fromEntries(
    [...sums].flatMap(([unit, sum]) =>
      Object.hasOwn(most, unit) ? [[unit, Math.min(sum, most[unit] as number)] as const] : [],
    ),
  );
}

/** `500 cents and 2 seats`. Empty without amounts. */
export function amountsText(amounts: Amounts): string {
  return Object.entries(amounts)
    .map(([unit, amount]) => `${amount.toLocaleString('en')} ${unit}`)
    .join(' and ');
}

/** The terms in a proposal of a standing approval. Undefined for any other proposal. */
export function termsOf({ name, args }: Approval['action']): StandingTerms | undefined {
  if (name !== 'stand' || typeof args !== 'object' || args === null) return undefined;
  const { agent, tools, uses, amounts, expires, because } = args as Partial<StandingTerms>;
  const hasTexts =
    typeof agent === 'string' && typeof expires === 'string' && typeof because === 'string';
  if (!hasTexts || !Array.isArray(tools) || typeof uses !== 'number') return undefined;
  if (typeof amounts !== 'object' || amounts === null) return undefined;
  return { agent, tools, uses, amounts, expires, because };
}
