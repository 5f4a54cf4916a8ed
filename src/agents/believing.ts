import { form, requireForm } from '#base';
import { BELIEVE_ACTION } from '#kernel';
import type { AgentIntent, AgentOracle } from './agent.ts';
import { type AskModel, extractThrough } from './extraction/extract.ts';
import type { Message } from './extraction/message.ts';
import type { ExtractionTerms } from './extraction/terms.ts';

export interface BelievingTerms extends ExtractionTerms {
  /** The space in which facts are stored. */
  readonly space: string;
}

/**
 * Reads messages and returns an intent that asserts their facts; undefined if they state none. The
 * agent's own oracle asks the model, so the answers are observations of the proposal, and a replay
 * calls no model. The agent's writ must cover the assertions.
 *
 * @throws the errors of `extractThrough` and `AgentOracle.ask`; ArgumentError `bad_argument`
 */
export async function believeMessages(
  messages: readonly Message[],
  oracle: AgentOracle,
  terms: BelievingTerms,
): Promise<AgentIntent | undefined> {
  requireForm(form.members({ ask: form.code }), oracle, 'oracle');
  requireForm(form.members({ space: form.text }), terms, 'terms');
  const { space } = terms;
  const ask: AskModel = (asking) => oracle.ask({ ...asking, name: 'extraction' });
  const { claims } = await extractThrough(ask, messages, terms);
  if (claims.length === 0) return undefined;
  return { action: BELIEVE_ACTION, args: { sayings: claims.map((claim) => ({ ...claim, verb: 'assert', space })) } };
}
