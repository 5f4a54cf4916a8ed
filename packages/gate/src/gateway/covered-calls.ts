import { applyCall, type CallArgs } from './actions/call.ts';
import { compiledRules } from './judge/compiled-rules.ts';
import type { GatewayState, StandingApproval } from './schema.ts';

/** The terms of a standing approval, as they are asked for. */
export type StandingTerms = Pick<
  StandingApproval,
  'agent' | 'tools' | 'uses' | 'amounts' | 'expires'
>;

/** The most that the rules let a standing approval cover. */
export interface StandingMaximum {
  readonly uses: number;
  readonly hours: number;
  readonly amounts: Readonly<Record<string, number>>;
}

/** The most that a standing approval may ask for, by the rules in force. */
export function standingMaximum({ rules }: Pick<GatewayState, 'rules'>): StandingMaximum {
  const { uses, hours, amounts } = compiledRules(rules.text).rules.standing;
  return { uses, hours, amounts: { ...amounts } };
}

/** Amounts by unit. */
export type Spent = Readonly<Record<string, number>>;

/** A foreseen use of a standing approval. */
export interface ForeseenUse {
  /** Whether the standing approval would let the call through. */
  readonly covered: boolean;
  /** The amounts of the call, by unit. Empty for a call that cannot be judged. */
  readonly amounts: Spent;
}

/**
 * For each call whether a standing approval with these terms would let it through, if its agent
 * asked for the calls at that time in this order, and no other standing approval counted. Nothing
 * in the state changes.
 */
export function coveredCalls(
  state: GatewayState,
  terms: StandingTerms,
  calls: readonly CallArgs[],
  at: string,
): readonly ForeseenUse[] {
  const standing = { ...terms, because: '', approvedBy: '' };
  const trial = {
    ...state,
    open: {},
    used: {},
    spent: {},
    read: { ...state.read },
    standing: { trial: standing },
  };
  const compiled = compiledRules(state.rules.text);
  return calls.map((call, n) => {
    // Waiting calls are not in the state, and their ids may be taken by now.
    const { id: _, undoes: __, ...content } = call;
    const asked = { ...content, id: `trial-${n}` };
    const calling: GatewayState = { ...trial, calls: {} };
    try {
      applyCall(calling, asked, { agent: terms.agent, at }, { compiled, isTried: false });
    } catch {
      // A call that the domain refuses is not let through either.
      return { covered: false, amounts: {} };
    }
    const row = calling.calls[asked.id];
    return {
      covered: row?.standing !== undefined && row.denied === undefined,
      amounts: row?.amounts ?? {},
    };
  });
}
