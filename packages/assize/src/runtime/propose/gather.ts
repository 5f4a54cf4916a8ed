import { writId } from '#authority';
import { arg, type Json } from '#base';
import { composed, contentHash } from '#canon';
import type { Intent, Observed } from '#kernel';
import {
  type BlobRow,
  type Hash,
  isHash,
  type Observation,
  store,
  TOKEN_BY,
  TRACEPARENT,
  traceparentOf,
} from '#ledger';
import { ORACLE_LIMITS, turnNamedBy } from '#oracle';
import { verified, type WritChain } from '../authority/writs.ts';
import type { RuntimeError } from '../errors.ts';
import {
  checkIntent,
  checkProposal,
  copied,
  FOREIGN,
  type GatheredObservation,
  type GatheredProposal,
  GIVEN,
  keyHashOf,
  type ObservationInput,
  observationNameFault,
  type ProposalInput,
  parseIntent,
  proposalIdOf,
} from '../records/intent.ts';
import { checkObserved } from '../records/pending-proposal.ts';
import type { CommitPlan } from '../records/tool-authority.ts';
import type { Writer } from '../writer/writer.ts';
import type { ProposalPorts } from './ports.ts';

/** A proposal without the terms of its submission. */
export type ForeseenProposal = Omit<ProposalInput, 'idempotencyKey' | 'precondition'>;

/** The maker of a proposal: a caller, a transaction or the runtime itself. */
interface Submission {
  readonly nonce: string;
  /** Whether the runtime makes it, and may use reserved names. Default: false. */
  readonly isOwn?: boolean;
  /**
   * Whether the body of a transaction has read the values, as its inputs and the answers of its
   * tools. They are not shared. Default: false.
   */
  readonly isRead?: boolean;
}

/** A proposal before its writ is looked up. */
interface ReadProposal
  extends Pick<
    GatheredProposal,
    'intent' | 'observed' | 'observations' | 'blobs' | 'invalidObservationName'
  > {
  readonly trajectoryId: string;
  readonly nonce: string;
  readonly key: string | undefined;
  /** The principal that the caller named. */
  readonly principal: string | undefined;
}

/**
 * Reads all of a proposal before it is adjudicated (docs/decisions/001-order-of-a-proposal.md),
 * once and synchronously. Later changes by the caller, during awaits, have no effect.
 *
 * @throws RuntimeError `bad_intent`; CanonError for a value that cannot be canonicalised. Both are
 * errors of the call, not entries
 */
export function readProposal(
  { writer, turn }: Pick<ProposalPorts, 'writer' | 'turn'>,
  input: ProposalInput,
  { nonce, isOwn = false, isRead = false }: Submission,
): ReadProposal {
  const { id: trajectoryId, parts } = writer;
  const { action, role, args } = isRead ? (input as Intent) : parseIntent(input, parts.domain);
  const { unsalted, isTurn } = turn;
  const blobs: BlobRow[] = [];
  const observed: Observed[] = [];
  let misnamed: RuntimeError | undefined;
  const observations: GatheredObservation[] = [];
  let index = 0;
  for (const observation of input.observations ?? []) {
    const {
      name,
      value: given,
      isKeyed,
      oracleKey,
      sensitive,
    } = readObservation(observation, index++);
    // Observations of a recorded turn keep the names that they have in it.
    if (!isOwn && !(isTurn && isKeyed)) misnamed ??= observationNameFault(name);
    // Answers in the oracle log may have any size.
    const value = isRead
      ? (given as Json)
      : copied('The value of an observation', given, isKeyed ? ORACLE_LIMITS : FOREIGN);
    observed.push({ name, value });
    if (!isKeyed) {
      const isSalted = sensitive === true;
      observations.push({
        unsalted: { name, value: isSalted ? value : store(value, blobs) },
        isSalted,
      });
      continue;
    }
    const named = { name, oracle_key: oracleKey };
    // The hash of a turn stays unsalted: it pins the turns before it, and its 32 random bytes
    // cannot be guessed.
    const isOfTurn = turnNamedBy(trajectoryId, named) !== undefined;
    const seen = { hash: contentHash(value, ORACLE_LIMITS), ...named };
    observations.push({ unsalted: seen, isSalted: !isOfTurn && !unsalted });
  }
  const { idempotencyKey: key, principal, traceparent, tokenBy = [] } = input;
  const trace = traceparentOf(traceparent);
  // For people only: the domain sees neither, so they change no ruling.
  if (trace !== undefined)
    observations.push({ unsalted: { name: TRACEPARENT, value: trace }, isSalted: false });
  if (tokenBy.length > 0)
    observations.push({ unsalted: { name: TOKEN_BY, value: [...tokenBy] }, isSalted: false });
  if (misnamed !== undefined && key === undefined) throw misnamed;
  const intent = { action, role, args };
  const read = { trajectoryId, nonce, key, principal, intent, observed, observations, blobs };
  return misnamed === undefined ? read : { ...read, invalidObservationName: misnamed };
}

/** The proposal under its writ. @throws CanonError `too_large` */
export function underWrit(
  read: ReadProposal,
  writ: WritChain,
  commitPlan?: CommitPlan,
): GatheredProposal {
  const {
    trajectoryId,
    nonce,
    key,
    intent,
    observed,
    observations,
    blobs,
    invalidObservationName,
  } = read;
  const principal = read.principal === undefined ? writ.writ.subject : composed(read.principal);
  return {
    proposalId: proposalIdOf(read, { trajectoryId, nonce, writ: writId(writ.writ) }),
    keyHash: key === undefined ? undefined : keyHashOf(key, principal, trajectoryId),
    intent,
    observed,
    observations,
    blobs,
    writ,
    principal,
    commitPlan,
    invalidObservationName,
  };
}

/** @throws RuntimeError `unknown_writ`, `bad_writ` */
export function presentWrit(writer: Writer, given: ProposalInput['writ']): WritChain {
  const { parts, context } = writer;
  const writ = parts.writs.present(given);
  // An intent under a writ that leads to no anchor has no requester, and leaves no entry
  // (docs/decisions/003-what-writes-an-entry.md).
  verified(context.verifier, writ, parts.writs.delegated);
  return writ;
}

/** A proposal under the writs that memory has now. */
export function gatherNow(
  ports: ProposalPorts,
  input: ProposalInput,
  submission: Submission,
): GatheredProposal {
  return underWrit(readProposal(ports, input, submission), presentWrit(ports.writer, input.writ));
}

/** A proposal that is only judged, so it has no key. */
export async function gatherForeseen(
  ports: ProposalPorts,
  input: ForeseenProposal,
): Promise<GatheredProposal> {
  checkProposal(input);
  const gathered = gatherNow(ports, input, { nonce: '' });
  const byKey = observedByKey(gathered);
  if (byKey.length > 0) await checkObserved(byKey, ports.writer.context.oracle);
  return gathered;
}

/** Observations that name an answer of the oracle log. The log must have it. */
export function observedByKey({ observations }: GatheredProposal): readonly Observation[] {
  return observations
    .map(({ unsalted }) => unsalted)
    .filter(({ oracle_key }) => oracle_key !== undefined);
}

/** The fields of an observation, each read once. */
interface ReadObservation {
  readonly name: string;
  readonly value: unknown;
  /** Whether the observation is by oracle key. */
  readonly isKeyed: boolean;
  readonly oracleKey: Hash;
  readonly sensitive: boolean | undefined;
}

// Also for a field that is undefined: without its key an observation would be by value.
const ORACLE_KEY = arg.of('64 lower-case hex digits', isHash);
const BY_VALUE = arg.of(
  'left out, because the value is in the oracle log',
  (value) => value !== true,
);
const SENSITIVE = arg.optional(arg.flag);

const OBSERVATION_FIELDS = arg.known<ObservationInput>({
  name: true,
  value: true,
  sensitive: true,
  oracle_key: true,
});
const OBSERVATION = arg.row<ReadObservation>(
  ({ name, value, isKeyed, oracleKey, sensitive }) =>
    arg.at('name', arg.text(name)) ??
    arg.at('value', GIVEN(value)) ??
    arg.at('oracle_key', isKeyed ? ORACLE_KEY(oracleKey) : undefined) ??
    arg.at('sensitive', SENSITIVE(sensitive) ?? (isKeyed ? BY_VALUE(sensitive) : undefined)),
);

function readObservation(given: ObservationInput, index: number): ReadObservation {
  const argument = `proposal.observations.${index}`;
  checkIntent(OBSERVATION_FIELDS, given, argument);
  const {
    name,
    value,
    oracle_key: oracleKey,
    sensitive,
  } = given as Readonly<Record<string, unknown>>;
  const read = { name, value, isKeyed: 'oracle_key' in given, oracleKey, sensitive };
  checkIntent(OBSERVATION, read, argument);
  return read as ReadObservation;
}
