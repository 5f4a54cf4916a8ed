import type { Findings } from '../bundle/findings.ts';
import { type LedgerPart, resolvesOf } from '../bundle/ledger-part.ts';
import type { Pause } from '../bundle/pause.ts';
import { canonicalOf } from '../bytes/canonical.ts';
import { holds } from '../bytes/signature.ts';
import { fromHex, utf8 } from '../bytes/text.ts';
import type { Entry, Payload } from '../entries/payloads.ts';
import { BEGINNING, type ChainState, stateAfter } from './chain-state.ts';
import { wrongCommit } from './commit.ts';
import { wrongDecision } from './decision.ts';
import { wrongDelegation } from './delegations.ts';
import { isSettlement } from './effects.ts';
import { wrongKey } from './key-rules.ts';
import { wrongPlace, wrongSuccessor } from './neighbours.ts';
import { wrongPending } from './pending.ts';
import { isClosedByUpgrade, wrongRejection } from './rejection.ts';
import { wrongSettlement } from './settlement.ts';

/** Checks each entry by the rules of its chain, as far as the bundle has the chain. */
export async function checkChains(part: LedgerPart, findings: Findings, pause: Pause): Promise<void> {
  const resolved = new Set<string>();
  for (const trajectory of part.trajectories()) {
    let state = BEGINNING;
    for (const entry of part.chainOf(trajectory)) {
      await pause();
      findings.checked('rules', 'bad_entry', wrongEntry(entry, state, part), entry.id);
      checkSignature(entry, findings);
      checkDecision(entry, state, part, resolved, findings);
      state = stateAfter(state, entry);
    }
  }
}

function wrongEntry(entry: Entry, state: ChainState, part: LedgerPart): string {
  const { payload } = entry;
  const placed = wrongPlace(entry) || (state.last === undefined ? '' : wrongSuccessor(state.last, entry));
  return placed || wrongKey(payload, state) || wrongByKind(payload, state, part);
}

function wrongByKind(payload: Payload, state: ChainState, part: LedgerPart): string {
  const payloadOf = (id: string) => part.byId.get(id)?.payload;
  switch (payload.kind) {
    case 'commit': {
      if (!isSettlement(payload)) return wrongCommit(payload, state);
      const pending = payload.resolves === undefined ? undefined : payloadOf(payload.resolves);
      return wrongSettlement(payload, pending, payloadOf);
    }
    case 'rejection':
      return wrongRejection(payload);
    case 'pending_approval':
      return wrongPending(payload, payloadOf);
    case 'delegation': {
      const start = payload.concludes === undefined ? undefined : payloadOf(payload.concludes);
      return wrongDelegation(payload, { first: state.first, start });
    }
    default:
      return '';
  }
}

function checkSignature({ id, payload }: Entry, findings: Findings): void {
  if (payload.signature === undefined) return;
  const { signature, ...body } = payload;
  const message = utf8(`assize/entry/v1\n${canonicalOf(body)}`);
  const isGood = holds(fromHex(signature.key), fromHex(signature.value), message);
  findings.checked('signatures', 'bad_entry', isGood ? '' : 'Its signature does not hold.', id);
}

/** Compares a decision with the proposal that it decides. Each proposal is decided once. */
function checkDecision(
  entry: Entry,
  state: ChainState,
  part: LedgerPart,
  resolved: Set<string>,
  findings: Findings,
): void {
  const { id, payload } = entry;
  const named = resolvesOf(payload);
  if (named === undefined) return;
  if (resolved.has(named)) findings.fault('bad_entry', 'It decides a proposal that another entry has decided.', id);
  resolved.add(named);
  const pending = part.byId.get(named)?.payload;
  if (pending === undefined) return;
  if (pending.kind !== 'pending_approval') {
    findings.fault('bad_entry', 'It decides an entry that asks for nothing.', id);
    return;
  }
  const isClosed = payload.kind !== 'rejection' || isClosedByUpgrade(payload, pending, state.upgraded);
  const wrong = wrongDecision(entry, pending) || (isClosed ? '' : 'It says that an upgrade closed it, and none did.');
  findings.checked('decisions', 'bad_entry', wrong, id);
}
