import { addMicros } from '#canon';
import type { Payload } from '#ledger';
import { batchErasureOf, commitPayload, pendingPayload, rejectionPayload } from '../records/entry-payloads.ts';
import type { GatheredProposal } from '../records/intent.ts';
import type { NeedsFacts } from '../records/needs.ts';
import type { PendingQuestions } from '../records/questions.ts';
import { type Ruling, rulingFrom, withFindings } from '../records/ruling.ts';
import type { PreparedCommit } from '../writer/prepared.ts';
import type { Unrecorded } from '../writer/until-committed.ts';
import type { Writer } from '../writer/writer.ts';
import { type DecidedProposal, decideProposal, type RulingOptions } from './decide/decide-proposal.ts';
import { checkQueue } from './decide/full-queue.ts';
import type { RulingPorts } from './decide/proposal-ports.ts';

// From the ruling to the append nothing awaits.

/**
 * Rules on a proposal, and moves memory past its entry. `unrecorded`: an open approval blocks the
 * proposal. `needs`: nothing has moved. Undefined if its calls must be planned again.
 */
export function rule(
  ports: RulingPorts,
  gathered: GatheredProposal,
  how: RulingOptions = {},
): PreparedCommit<Ruling> | Unrecorded<Ruling> | NeedsFacts | undefined {
  const { writer } = ports;
  return writer.runRuling(() => {
    const decided = decideProposal(ports, gathered, how);
    if (decided === undefined || !('judged' in decided)) return decided;
    const full = decided.judged.verdict === 'escalated' ? checkQueue(ports, gathered.writ) : undefined;
    return full ?? applyRuling(writer, gathered, decided);
  });
}

function applyRuling(writer: Writer, gathered: GatheredProposal, decided: DecidedProposal): PreparedCommit<Ruling> {
  const { judged, believed, kept, unstored } = decided;
  const { domain } = writer.parts;
  const { commitPlan } = gathered;
  const waits =
    judged.verdict === 'escalated' && commitPlan?.pendingEffects !== undefined
      ? commitPlan.pendingEffects()
      : commitPlan;
  const ruled = waits === undefined || waits === commitPlan ? gathered : { ...gathered, commitPlan: waits };
  const change = judged.verdict === 'approved' ? judged : undefined;
  const moves = { change, facts: believed, writs: unstored };
  const { row, payload, batch } = writer.apply(() => payloadOf(writer, ruled, decided), moves);
  const erasure = change && batchErasureOf(row.id, gathered.intent);
  const acts =
    judged.verdict === 'approved'
      ? commitPlan?.commitRecords(row.id)
      : commitPlan?.abortRecords(row.id, judged.verdict);
  const waiting = judged.verdict === 'escalated' ? waits?.blobs : undefined;
  const blobs =
    acts === undefined && waiting === undefined
      ? kept.blobs
      : [...kept.blobs, ...(waiting ?? []), ...(acts?.blobs ?? [])];
  const asked = 'asked' in judged ? (judged as PendingQuestions).asked : undefined;
  return {
    ...batch,
    blobs,
    erasure,
    effects: acts?.write,
    asked,
    answer: withFindings(rulingFrom(row, payload), domain, gathered.intent),
  };
}

function payloadOf(
  writer: Writer,
  gathered: GatheredProposal,
  { judged, believed, at, kept }: DecidedProposal,
): Payload {
  const terms = writer.entryTerms(at, kept);
  if (judged.verdict === 'rejected') return rejectionPayload(terms, gathered, judged);
  if (judged.verdict === 'approved') return commitPayload(terms, gathered, judged, believed?.changes);
  const { approvalTimeoutMs } = writer.context;
  const expires = approvalTimeoutMs === undefined ? undefined : addMicros(at, approvalTimeoutMs * 1_000);
  return pendingPayload(terms, gathered, judged, expires);
}
