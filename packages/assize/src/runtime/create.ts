import type { Writ } from '#authority';
import { arg, checkArgument, isInstance, type Json } from '#base';
import { maxInstant } from '#canon';
import { type Domain, givenState, requireOwnDomain, type World } from '#kernel';
import {
  type BatchClock,
  type BlobRow,
  type BranchPayload,
  type Entry,
  type EntryRow,
  entryRow,
  type Hash,
  LedgerFault,
  payloadFault,
  type RootPayload,
  readRow,
  signed,
} from '#ledger';
import type { Random } from '#oracle';
import { clockAhead, haltedError, RuntimeError } from './errors.ts';
import { DOMAIN } from './option-names.ts';
import { badOption } from './options.ts';
import { COMPILER_VERSION } from './records/entry-payloads.ts';
import { PayloadBlobs } from './records/payload-blobs.ts';
import {
  checkWrits,
  policyHash,
  refOf,
  rootPayload,
  splitInitialState,
  vectorOf,
} from './records/root-payload.ts';
import { positionedSalts, randomHex } from './records/salts.ts';
import { resolveUnknownCommit } from './writer/append-errors.ts';
import { applyEntry } from './writer/apply.ts';
import { valid } from './writer/load/load.ts';
import { partsToBegin, worldOf } from './writer/load/state.ts';
import type { TrajectoryState, WriterContext } from './writer/ports.ts';
import { wrongSigner } from './writer/require-signer.ts';
import { clockOf } from './writer/writer.ts';

export interface CreateOptions {
  /** Default: random. */
  readonly trajectoryId?: string;
  /** Default: the domain's own. */
  readonly initial?: unknown;
  /** Root writs, and child writs that are known from the start. */
  readonly writs?: readonly Writ[];
  readonly note?: string;
  /**
   * Creates the trajectory although the state breaks invariants; the entry then carries the
   * detection vector.
   */
  readonly override?: boolean;
}

export interface BranchOptions extends Omit<CreateOptions, 'initial' | 'note'> {
  readonly note: string;
}

/** A trajectory with a durable first entry. */
export interface CreatedTrajectory {
  readonly trajectoryId: string;
  readonly parts: TrajectoryState;
}

export type BeginningContext = Pick<
  WriterContext,
  | 'store'
  | 'clock'
  | 'maxClockAheadMs'
  | 'random'
  | 'verifier'
  | 'policy'
  | 'signer'
  | 'replayer'
  | 'sourceRulings'
  | 'nameFor'
  | 'domainOf'
>;

/** The parts of a new trajectory beside its first entry. */
interface Beginning {
  readonly clock: BatchClock | undefined;
  readonly blobs?: readonly BlobRow[];
  readonly world: World;
  readonly revoked?: ReadonlySet<Hash>;
}

/** Writes the first entries of trajectories: a root, or a branch of another trajectory. */
export class TrajectoryFactory {
  readonly #context: BeginningContext;
  readonly #strict: boolean;
  readonly #durable: (trajectoryId: string, entryId: Hash) => Promise<EntryRow | undefined>;

  /** `durable`: returns an entry to branch from, once the store has it. */
  constructor(
    context: BeginningContext,
    strict: boolean,
    durable: (trajectoryId: string, entryId: Hash) => Promise<EntryRow | undefined>,
  ) {
    this.#context = context;
    this.#strict = strict;
    this.#durable = durable;
  }

  /** Same as `Assize.create`. */
  async create(domain: Domain, options: CreateOptions): Promise<CreatedTrajectory> {
    checkArgument(DOMAIN, domain, 'domain');
    requireOwnDomain(domain);
    checkArgument(CREATE_OPTIONS, options, 'options');
    this.#context.domainOf(refOf(domain));
    const trajectoryId = this.#context.nameFor(options.trajectoryId);
    const state = givenState(domain, options.initial);
    const world = worldOf(domain, { state: state as never, owned: undefined }, this.#strict);
    const vector = vectorOf(world, options.override === true);
    const kept = new PayloadBlobs(positionedSalts(this.#context.random, trajectoryId));
    const { initial_state, sensitive } = splitInitialState(domain, state as Json, kept);
    const now = this.#context.clock.now();
    const payload = rootPayload({
      trajectoryId,
      at: now,
      domain: refOf(domain),
      initialState: initial_state,
      sensitive,
      writs: this.#checkWrits(options.writs),
      policy: this.#context.policy,
      vector,
      note: options.note,
    });
    const created = await this.#begin(payload, {
      clock: clockOf(this.#context, now, ''),
      blobs: kept.blobs,
      world,
    });
    this.#context.sourceRulings.addRoot(trajectoryId);
    return created;
  }

  /** Same as `Assize.branch`. */
  async branch(
    sourceTrajectoryId: string,
    sourceEntryId: Hash,
    options: BranchOptions,
  ): Promise<CreatedTrajectory> {
    checkArgument(arg.text, sourceTrajectoryId, 'sourceTrajectoryId');
    checkArgument(arg.text, sourceEntryId, 'sourceEntryId');
    checkArgument(BRANCH_OPTIONS, options, 'options');
    const row = await this.#durable(sourceTrajectoryId, sourceEntryId);
    if (row === undefined || row.trajectory_id !== sourceTrajectoryId) {
      throw new RuntimeError(
        'not_found',
        `${sourceTrajectoryId} has no entry ${sourceEntryId} to branch from.`,
      );
    }
    if (row.kind !== 'commit' && row.kind !== 'root' && row.kind !== 'branch') {
      throw new RuntimeError(
        'not_found',
        `${sourceEntryId} is a ${row.kind} entry. Branch from a commit, root or branch entry.`,
      );
    }
    const trajectoryId = this.#context.nameFor(options.trajectoryId);
    const { replayer } = this.#context;
    const source = await valid(() => replayer.stateAt(sourceTrajectoryId, sourceEntryId));
    const { revoked, halted } = await replayer.stoppedAt(sourceTrajectoryId, sourceEntryId);
    if (halted !== undefined) throw haltedError(sourceTrajectoryId, halted);
    const domain = this.#context.domainOf(
      await replayer.domainAt(sourceTrajectoryId, sourceEntryId),
    );
    const world = worldOf(domain, source, this.#strict);
    const vector = vectorOf(world, options.override === true);
    const now = this.#context.clock.now();
    const sourceAt = readRow(row).payload.at;
    const payload: BranchPayload = {
      kind: 'branch',
      trajectory_id: trajectoryId,
      seq: 0,
      parent: null,
      at: maxInstant(now, sourceAt),
      source_trajectory_id: sourceTrajectoryId,
      source_commit_id: sourceEntryId,
      domain: refOf(domain),
      compiler_version: COMPILER_VERSION,
      writs: this.#checkWrits(options.writs),
      note: options.note,
      ...policyHash(this.#context.policy),
      ...(vector === undefined ? {} : { detection_vector: vector }),
    };
    return this.#begin(payload, { clock: clockOf(this.#context, now, sourceAt), world, revoked });
  }

  async #begin(
    unsigned: RootPayload | BranchPayload,
    { clock, blobs = [], world, revoked = new Set() }: Beginning,
  ): Promise<CreatedTrajectory> {
    const { store, signer } = this.#context;
    const { trajectory_id: trajectoryId } = unsigned;
    const payload = signed(unsigned, signer);
    const row = entryRow(payload);
    if (payload.kind === 'branch') await this.#checkKey({ ...row, payload });
    const malformed = payloadFault(payload);
    if (malformed !== undefined) throw badOption(`the first entry is not valid: ${malformed}`);
    const result = await store.commit({ entries: [row], blobs, ...(clock && { clock }) });
    if (result.status === 'ahead') throw clockAhead(clock as BatchClock, result.now);
    if (result.status === 'conflict') {
      throw new RuntimeError(
        'exists',
        `The trajectory ${trajectoryId} already exists. Open it or choose another name.`,
      );
    }
    if (result.status === 'unknown') {
      const says = `The store did not confirm whether ${trajectoryId} was created. Open the store again and check.`;
      await resolveUnknownCommit(store, row.id, { says, cause: result.cause });
    }
    const parts = partsToBegin(trajectoryId, world);
    applyEntry(parts, { ...row, payload });
    parts.chain.inherit(revoked);
    parts.writs.inherit(revoked);
    return { trajectoryId, parts };
  }

  /** The key of a branch follows from its source. @throws RuntimeError `wrong_signer` */
  async #checkKey(entry: Entry): Promise<void> {
    try {
      await this.#context.replayer.checkFirst(entry);
    } catch (error) {
      if (!isInstance(error, LedgerFault)) throw error;
      throw wrongSigner(
        `The branch cannot be signed: ${error.fault.detail}. Pass the signer of that key, or name the key in entryKeys.`,
        entry.trajectory_id,
        error,
      );
    }
  }

  #checkWrits(writs: readonly Writ[] = []): readonly Json[] {
    return checkWrits(writs as unknown as readonly Json[], this.#context.verifier);
  }
}

/** An unused name. */
export function newTrajectoryId(random: Random): string {
  return `t-${randomHex(random, 12)}`;
}

/** The given name, or a new one. @throws RuntimeError `bad_argument` */
export function trajectoryName(given: string | undefined, random: Random): string {
  if (given === undefined) return newTrajectoryId(random);
  if (typeof given === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(given)) return given;
  throw new RuntimeError(
    'bad_argument',
    `${typeof given === 'string' ? JSON.stringify(given) : `A value of type ${typeof given}`} is not a valid trajectory name. Use 1 to 128 letters, digits, dots, colons, dashes or underscores.`,
  );
}

const BEGINNING = { trajectoryId: arg.any, writs: arg.any, note: arg.any, override: arg.any };
const CREATE_OPTIONS = arg.options<CreateOptions>({ ...BEGINNING, initial: arg.any });
const BRANCH_OPTIONS = arg.options<BranchOptions>({ ...BEGINNING, note: arg.text });
