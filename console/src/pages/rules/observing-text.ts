import type { RulesInForce } from './rules-query.ts';

/** `observing until 2026-12-14`. Undefined where every rule holds and none is tried. */
export function observingText({ observing, trial }: RulesInForce): string | undefined {
  const texts: string[] = [];
  if (observing !== undefined) {
    const { until, agents, rules } = observing;
    const calls = agents === undefined ? '' : ` calls of ${agents.join(', ')}`;
    const only = rules === undefined ? '' : ` rules ${rules.join(', ')}`;
    texts.push(`observing${calls}${only} until ${until}`);
  }
  if (trial !== undefined) texts.push(`trying ${trial.id} until ${trial.until}`);
  return texts.length === 0 ? undefined : texts.join('; ');
}
