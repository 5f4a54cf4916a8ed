import { isSame } from '../bytes/canonical.ts';
import { hexOf } from '../bytes/text.ts';
import type { Entry, Payload, Pending } from '../entries/payloads.ts';
import type { Checkpoint } from '../log/note.ts';
import type { Cosigned } from '../log/signatures.ts';
import { isSettlement } from '../rules/effects.ts';
import type { Files } from './files.ts';
import type { Findings } from './findings.ts';
import { readJson } from './json-file.ts';
import { domainFrom, type LedgerPart } from './ledger-part.ts';

/**
 * Derives `records.json` (format's reference, section 6), and compares each member with the file.
 */
export function checkRecords(
  files: Files,
  part: LedgerPart,
  checkpoint: Checkpoint,
  witnesses: readonly Cosigned[],
  findings: Findings,
): void {
  const stated = readJson(files, 'records.json', 'bad_form');
  const derived: Readonly<Record<string, unknown>> = {
    approvals: approvalsOf(part),
    checkpoint: {
      origin: checkpoint.origin,
      root: hexOf(checkpoint.root),
      size: Number(checkpoint.size),
    },
    domains: domainsOf(part),
    erased: part.erased.map(({ hash, by }) => ({ by, hash })),
    policies: policiesOf(part),
    witnesses: witnesses.map(({ name, at }) => ({ name, time: Number(at) })),
  };
  const held = (typeof stated === 'object' && stated !== null ? stated : {}) as Readonly<
    Record<string, unknown>
  >;
  for (const [name, value] of Object.entries(derived)) {
    const isEqual = Object.hasOwn(held, name) && isSame(held[name], value);
    findings.checked(
      'records',
      'records_differ',
      isEqual ? '' : `The ${name} in records.json are not those of the entries.`,
    );
  }
  if (Object.keys(held).length !== Object.keys(derived).length)
    findings.fault('records_differ', 'records.json has other members than it should.');
}

function domainsOf(part: LedgerPart): readonly unknown[] {
  return part.entries.flatMap(({ id, payload }) => {
    const domain = domainFrom(payload);
    if (domain === undefined) return [];
    const { hash, name, version } = domain;
    return [{ entry: id, hash, name, trajectory_id: payload.trajectory_id, version }];
  });
}

/** The digests of the policies that entries name, each once, ascending. */
export function policiesOf(part: LedgerPart): readonly string[] {
  const digests = part.entries.flatMap(({ payload }) => {
    if (payload.kind === 'root' || payload.kind === 'branch') return payload.policy_hash ?? [];
    return ('policy' in payload ? payload.policy?.digest : undefined) ?? [];
  });
  return [...new Set(digests)].sort();
}

function approvalsOf(part: LedgerPart): readonly unknown[] {
  return part.entries.flatMap((entry) => {
    const { id, payload } = entry;
    if (payload.kind !== 'pending_approval' || payload.resolves !== undefined) return [];
    const {
      approvals = 1,
      channel,
      digest,
      reason,
      detail,
      trajectory_id,
      proposal,
    } = payload as Pending;
    const { name: action, role } = proposal.action;
    const steps = stepsAfter(entry, part).map(stepOf);
    return [
      {
        action,
        approvals,
        channel,
        detail,
        digest,
        pending: id,
        reason,
        role,
        steps,
        trajectory_id,
      },
    ];
  });
}

/** The entries that resolve a pending, one after the other. */
export function stepsAfter({ id }: Entry, part: LedgerPart): readonly Entry[] {
  const steps: Entry[] = [];
  let next = part.resolutionOf(id);
  while (next !== undefined && !steps.includes(next)) {
    steps.push(next);
    next = part.resolutionOf(next.id);
  }
  return steps;
}

function stepOf({ id, payload }: Entry): unknown {
  const by = deciderOf(payload);
  const decided =
    payload.kind === 'commit' && isSettlement(payload) ? decidedOf(payload.action.args) : undefined;
  return {
    at: payload.at,
    entry: id,
    kind: payload.kind,
    ...(by !== undefined && { by }),
    ...(decided !== undefined && { decided }),
    ...(payload.kind === 'commit' && payload.amended !== undefined && { amended: true }),
    ...(payload.kind === 'rejection' && { why: payload.reason }),
  };
}

/** The person that decided by an entry, as the entry names them. */
export function deciderOf(payload: Payload): unknown {
  if (payload.kind === 'commit' || payload.kind === 'rejection') return payload.counselor;
  return payload.kind === 'pending_approval' ? payload.approved_by?.at(-1) : undefined;
}

function decidedOf(args: unknown): unknown {
  return (args as { readonly decided?: unknown } | null)?.decided;
}
