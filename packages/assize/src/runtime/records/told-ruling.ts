import { readRow, traceparentIn } from '#ledger';
import type { Told } from '#traces';
import type { Ruling } from './ruling.ts';

/**
 * The ids and codes of a ruling, for a tracer. An earlier ruling links to the step that caused it.
 */
export function toldRuling(ruling: Ruling): Told {
  if (ruling.ruling === 'frozen') return { facts: { ruling: 'frozen', approval: ruling.by } };
  const { entry } = ruling;
  const links = [traceparentIn(readRow(entry).payload)];
  const facts = { ruling: ruling.ruling, entry: entry.id, seq: entry.seq };
  if (ruling.ruling === 'committed') return { facts, links };
  const { reason, invariantId: rule } = ruling;
  const asked = ruling.ruling === 'escalated' && { approval: ruling.pending, channel: ruling.channel };
  return { facts: { ...facts, reason, rule, ...asked }, links };
}

/** A name that a caller gave. Undefined for anything else. */
export function toldName(given: unknown): string | undefined {
  return typeof given === 'string' ? given.slice(0, 512) : undefined;
}
