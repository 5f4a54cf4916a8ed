import type { Output } from '@assize/command';
import { bold, dim, line, red } from '@assize/command';
import { counted, shortId, shortTime } from 'assize/internal/views';
import type { BlastRadius } from '#blast';

/** A blast radius as text: its entries in log order, then its facts, calls and proposals. */
export function printBlastRadius(out: Output, radius: BlastRadius): void {
  const { facts, ended, calls, pending, erased } = radius;
  printEntries(out, radius);
  printFacts(out, facts, 'believed');
  printFacts(out, ended, 'ended');
  printCalls(out, calls);
  if (pending.length > 0) out.line(line`${bold(counted(pending.length, 'proposal'))} still pending`);
  for (const id of pending) out.line(line`  ${shortId(id)}`);
  if (erased > 0)
    out.line(line`${red(`${counted(erased, 'value')} erased`)}: what derives through them alone is not listed.`);
}

/** Each entry once, with the entries that it derives from. */
function printEntries(out: Output, { entries, total }: BlastRadius): void {
  const starts = entries.filter(({ isStart }) => isStart).length;
  const derived = entries.length - starts;
  const trajectories = new Set(entries.map(({ trajectoryId }) => trajectoryId)).size;
  out.line(
    line`${bold(`${counted(entries.length, 'entry')} of ${total.toLocaleString('en')}`)} in ${counted(trajectories, 'trajectory')}: ${starts.toLocaleString('en')} where it begins, ${derived.toLocaleString('en')} that ${derived === 1 ? 'derives' : 'derive'}`,
  );
  for (const { id, trajectoryId, seq, at, kind, action, isStart, from } of entries) {
    const why = [...Map.groupBy(from, ({ how }) => how)].map(
      ([how, links]) => `${how} of ${links.map(({ entry }) => shortId(entry)).join(', ')}`,
    );
    const said = [...(isStart ? ['start'] : []), ...why].join('; ');
    out.line(line`  ${bold(shortId(id))} ${trajectoryId} seq ${seq} ${action ?? kind} ${dim(shortTime(at))} ${said}`);
  }
}

function printFacts(out: Output, facts: BlastRadius['facts'], became: 'believed' | 'ended'): void {
  if (facts.length > 0) out.line(line`${bold(counted(facts.length, 'fact'))} ${became} because of it`);
  for (const { entry, space, subject, predicate, object } of facts)
    out.line(line`  ${space} ${subject} ${predicate} ${object} ${dim(shortId(entry))}`);
}

const GATEWAY_CALL = ' through the gateway: only another call of its server takes it back';

function printCalls(out: Output, calls: BlastRadius['calls']): void {
  if (calls.length > 0) out.line(line`${bold(counted(calls.length, 'call'))} made because of it`);
  for (const { entry, tool, reversibility, outcome, via } of calls) {
    const rest = via === 'gateway' && outcome !== 'undone' && outcome !== 'failed' ? GATEWAY_CALL : '';
    out.line(line`  ${tool ?? 'erased'} ${reversibility ?? ''} ${outcome} ${dim(shortId(entry))}${rest}`);
  }
}
