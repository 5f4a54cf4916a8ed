import type { Json } from 'assize/internal/base';
import {
  domainFrom,
  type Hash,
  type Payload,
  type PendingPayload,
  settlementArgs,
} from 'assize/internal/ledger';
import type { Checkpoint, VerifiedSignature, VerifierKey } from 'assize/internal/merkle';
import type { BundledEntry, BundledValue } from './form.ts';
import { resolvedBy } from './relations.ts';

/** The facts of a bundle that its records are derived from. */
export interface RecordSource {
  /** In the order of the log. */
  readonly entries: readonly BundledEntry[];
  /** In the order of the lines. */
  readonly values: ReadonlyMap<Hash, BundledValue>;
  readonly checkpoint: Checkpoint;
  readonly witnesses: readonly VerifierKey[];
  readonly cosignatures: readonly VerifiedSignature[];
}

/** The content of `records.json` (docs/reference/proof-bundle.md, section 6). */
export function recordsOf({
  entries,
  values,
  checkpoint,
  witnesses,
  cosignatures,
}: RecordSource): Json {
  return {
    approvals: approvalsIn(entries),
    checkpoint: {
      origin: checkpoint.origin,
      root: Buffer.from(checkpoint.root).toString('hex'),
      size: Number(checkpoint.size),
    },
    domains: entries.flatMap(({ id, payload }) => {
      const domain = domainFrom(payload);
      if (domain === undefined) return [];
      const { hash, name, version } = domain;
      return [{ entry: id, hash, name, trajectory_id: payload.trajectory_id, version }];
    }),
    erased: [...values].flatMap(([hash, value]) => ('by' in value ? [{ by: value.by, hash }] : [])),
    policies: [...new Set(entries.flatMap(({ payload }) => policiesOf(payload)))].sort(),
    witnesses: witnesses.map(({ name, id }) => {
      const cosigned = cosignatures.find(({ key }) => key.name === name && key.id === id);
      return { name, time: Number(cosigned?.time ?? 0) };
    }),
  };
}

function approvalsIn(entries: readonly BundledEntry[]): Json[] {
  const next = new Map<Hash, BundledEntry>();
  for (const entry of entries) {
    const resolves = resolvedBy(entry.payload);
    if (resolves !== undefined) next.set(resolves, entry);
  }
  return entries.flatMap(({ id, payload }) =>
    payload.kind === 'pending_approval' && payload.resolves === undefined
      ? [approvalOf(id, payload, stepsAfter(id, next))]
      : [],
  );
}

function approvalOf(id: Hash, pending: PendingPayload, steps: readonly BundledEntry[]): Json {
  const { proposal, approvals = 1, channel, digest, reason, detail, trajectory_id } = pending;
  const { name: action, role } = proposal.action;
  const shown = {
    action,
    role,
    approvals,
    channel,
    digest,
    reason,
    detail,
    pending: id,
    trajectory_id,
  };
  return { ...shown, steps: steps.map(stepOf) } as unknown as Json;
}

function stepsAfter(id: Hash, next: ReadonlyMap<Hash, BundledEntry>): BundledEntry[] {
  const steps: BundledEntry[] = [];
  for (let step = next.get(id); step !== undefined; step = next.get(step.id)) steps.push(step);
  return steps;
}

function stepOf({ id, payload }: BundledEntry): Json {
  const by = deciderOf(payload);
  const decided = settlementArgs(payload)?.decided;
  return {
    at: payload.at,
    entry: id,
    kind: payload.kind,
    ...(by !== undefined && { by }),
    ...(decided !== undefined && { decided }),
    ...(payload.kind === 'commit' && payload.amended !== undefined && { amended: true }),
    ...(payload.kind === 'rejection' && { why: payload.reason }),
  } as unknown as Json;
}

function deciderOf(payload: Payload): unknown {
  if (payload.kind === 'pending_approval') return payload.approved_by?.at(-1);
  return 'counselor' in payload ? payload.counselor : undefined;
}

function policiesOf(payload: Payload): Hash[] {
  const begun = 'policy_hash' in payload ? payload.policy_hash : undefined;
  const asked = 'policy' in payload ? payload.policy?.digest : undefined;
  return [begun, asked].filter((digest) => digest !== undefined);
}

/** The keys of the signatures of entries, each once, in ascending order. */
export function signersOf(entries: readonly BundledEntry[]): string[] {
  return [...new Set(entries.flatMap(({ payload }) => payload.signature?.key ?? []))].sort();
}
