import { form, requireForm } from '#base';
import { BELIEVE_ACTION } from '#kernel';
import type { AgentIntent, AgentOracle } from './agent.ts';
import { type AskModel, extractThrough } from './extraction/extract.ts';
import type { Message } from './extraction/message.ts';
import type { ExtractionTerms } from './extraction/terms.ts';

export interface BelievingTerms extends ExtractionTerms {
  /** Where it is remembered. */
  readonly space: string;
}

/**
 * What an agent asks for when it has read messages: that what they state be believed; undefined where they state nothing. The model is
 * asked by the agent's own oracle, so that its answers are observations of the proposal, and a replay asks nobody. The agent's writ has
 * to cover what is said.
 *
 * @throws as `extractThrough`, and as `AgentOracle.ask`; ArgumentError `bad_argument`
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
