import { type LedgerPart, resolvesOf } from '../bundle/ledger-part.ts';
import { stepsAfter } from '../bundle/records.ts';
import type { Counselor, Payload } from '../entries/payloads.ts';
import { type Child, element } from './element.ts';
import { inert } from './inert.ts';
import { nameOfEntry, time } from './names.ts';

/** Each person that decided by an entry, and the entries before and after in that decision. */
export function decisionFacts(
  payload: Payload,
  part: LedgerPart,
): readonly (readonly [string, Child | readonly Child[]])[] {
  const resolves = resolvesOf(payload);
  const counselor = 'counselor' in payload ? payload.counselor : undefined;
  const earlier = 'approved_by' in payload ? (payload.approved_by ?? []) : [];
  const verb = payload.kind === 'rejection' ? 'Rejected by' : 'Approved by';
  return [
    [
      verb,
      [...earlier, ...(counselor === undefined ? [] : [counselor])].map((one) =>
        person(one, payload.at),
      ),
    ],
    [
      'Amended',
      payload.kind === 'commit' && payload.amended !== undefined
        ? 'yes: the approver changed the arguments'
        : '',
    ],
    ['Decides', resolves === undefined ? undefined : nameOfEntry(resolves, part)],
    ...decided(payload, part),
  ];
}

function decided(
  payload: Payload,
  part: LedgerPart,
): readonly (readonly [string, Child | readonly Child[]])[] {
  const entry = part.chainOf(payload.trajectory_id).find((one) => one.payload === payload);
  if (payload.kind !== 'pending_approval' || entry === undefined) return [];
  const [next] = stepsAfter(entry, part);
  return [
    ['Decided by', next === undefined ? 'no entry in this bundle' : nameOfEntry(next.id, part)],
  ];
}

function person(
  { principal, as, method, token_by: makers = [], at, override, reason }: Counselor,
  entryAt: string,
): HTMLElement {
  return element(
    'div',
    {},
    element('strong', {}, inert(principal)),
    ' as ',
    inert(as),
    ', by ',
    inert(method),
    makers.length === 0 ? undefined : ' made by ',
    makers.length === 0 ? undefined : inert(makers.join(', ')),
    ', ',
    time(at ?? entryAt),
    override === true ? ', against a rule' : undefined,
    reason === undefined ? undefined : ': ',
    reason === undefined ? undefined : inert(reason),
  );
}
