import { arg, checkArgument } from 'assize/internal/base';
import { BELIEVE_ACTION } from 'assize/internal/kernel';
import type { AgentIntent, AgentOracle } from './agent.ts';
import { type AskModel, extractWith } from './extraction/extract.ts';
import type { Message } from './extraction/message.ts';
import type { ExtractionTerms } from './extraction/terms.ts';

export interface AssertMessagesTerms extends ExtractionTerms {
  /** The space in which facts are stored. */
  readonly space: string;
}

/**
 * Reads messages and returns an intent that asserts their facts; undefined if they state none. The
 * agent's own oracle asks the model, so the answers are observations of the proposal, and a replay
 * calls no model. The agent's writ must cover the assertions.
 *
 * @throws the errors of `extractWith` and `AgentOracle.ask`; ArgumentError `bad_argument`
 */
export async function assertMessages(
  messages: readonly Message[],
  oracle: AgentOracle,
  terms: AssertMessagesTerms,
): Promise<AgentIntent | undefined> {
  checkArgument(arg.members({ ask: arg.code }), oracle, 'oracle');
  checkArgument(arg.members({ space: arg.text }), terms, 'terms');
  const { space } = terms;
  const ask: AskModel = (asking) => oracle.ask({ ...asking, name: 'extraction' });
  const { claims } = await extractWith(ask, messages, terms);
  if (claims.length === 0) return undefined;
  return {
    action: BELIEVE_ACTION,
    args: { sayings: claims.map((claim) => ({ ...claim, verb: 'assert', space })) },
  };
}
