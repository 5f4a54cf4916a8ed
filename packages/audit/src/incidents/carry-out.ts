import { arg, checkArgument, isAssizeError } from 'assize/internal/base';
import { INCIDENTS } from 'assize/internal/config';
import type { Hash, LedgerStore } from 'assize/internal/ledger';
import type { Assize } from 'assize/internal/runtime';
import type { Incident, ResponseStep } from '#incident-domain';
import { IncidentError } from './errors.ts';
import { statusOf, wasProposed } from './incident-status.ts';
import {
  type IncidentTrajectory,
  openIncidentTrajectory,
  requireEmptyBeginning,
} from './incident-trajectory.ts';
import type { WritFor } from './open-incident.ts';
import { type StepResult, takeStep } from './take-step.ts';

export interface CarryOut {
  /** The id of the incident. */
  readonly incident: string;
  readonly writFor: WritFor;
  /** Default: `incidents`. */
  readonly trajectoryId?: string;
  /** Called before each step that has no outcome yet. */
  readonly onStep?: (step: ResponseStep, index: number) => void;
}

export interface CarriedOut {
  /** As it is in the ledger afterwards. */
  readonly incident: Incident;
  /** The steps whose outcomes this call recorded. */
  readonly recorded: number;
}

const CARRY_OUT = arg.members({
  incident: arg.text,
  writFor: arg.code,
  trajectoryId: arg.optional(arg.text),
  onStep: arg.optional(arg.code),
});

/**
 * Carries out the steps of an approved incident in their order, records each outcome, and closes
 * the incident. Each step has no effect when it is repeated, so the call may be repeated at any
 * time, and several processes may make it concurrently: each outcome is recorded once. A closed
 * incident is returned as it is.
 *
 * A step that is refused has failed, and the next one follows. Its item remains. A failure that
 * passes by itself, such as an unreachable store, is thrown, and the incident stays open.
 *
 * @throws IncidentError `not_found`, `wrong_state`, `outcome_not_recorded`; the errors of
 * `Assize.open`; ArgumentError `bad_argument`
 */
export async function carryOut(
  assize: Assize,
  store: Pick<LedgerStore, 'entries'>,
  input: CarryOut,
): Promise<CarriedOut> {
  checkArgument(CARRY_OUT, input, 'input');
  const { incident: id, writFor, trajectoryId = INCIDENTS, onStep } = input;
  await requireEmptyBeginning(store, trajectoryId);
  const trajectory = await openIncidentTrajectory(assize, trajectoryId);
  const record = new IncidentRecord(trajectory, id, writFor, store);
  let recorded = 0;
  const { steps, because } = await record.read();
  for (const [index, step] of steps.entries()) {
    if (!needsWork(await record.read(), index)) continue;
    // The caller keeps a copy, so a change of it does not change the step that is taken.
    onStep?.(structuredClone(step), index);
    const done = await tried(() =>
      takeStep({ assize, writFor, reason: `incident ${id}: ${because}` }, step),
    );
    if (await record.add(index, done)) recorded++;
  }
  await record.close();
  return { incident: await record.read(), recorded };
}

function needsWork({ outcomes, closedAt }: Incident, index: number): boolean {
  const before = outcomes[index];
  return closedAt === undefined && (before === undefined || before.outcome === 'failed');
}

/** A refusal is an outcome. Another attempt may succeed after a failure that is retryable. */
async function tried(step: () => Promise<StepResult>): Promise<StepResult> {
  try {
    return await step();
  } catch (error) {
    if (!isAssizeError(error) || error.retryable) throw error;
    return { outcome: 'failed', reason: `${error.code}: ${error.message}` };
  }
}

/** The longest reason of a failure that the domain accepts, in characters. */
const REASON_MAX = 4_096;

/** One incident in its trajectory. */
class IncidentRecord {
  readonly #trajectory: IncidentTrajectory;
  readonly #id: string;
  readonly #writFor: WritFor;
  readonly #store: Pick<LedgerStore, 'entries'>;

  constructor(
    trajectory: IncidentTrajectory,
    id: string,
    writFor: WritFor,
    store: Pick<LedgerStore, 'entries'>,
  ) {
    this.#store = store;
    this.#trajectory = trajectory;
    this.#id = id;
    this.#writFor = writFor;
  }

  /**
   * The incident with the entries of other processes.
   *
   * @throws IncidentError `not_found`
   */
  async read(): Promise<Incident> {
    const status = await statusOf(this.#trajectory, this.#id);
    if (status === undefined || status.is === 'waiting')
      throw await this.#notApproved(status?.approval);
    return status.incident;
  }

  async #notApproved(approval: Hash | undefined): Promise<IncidentError> {
    const [id, { id: place }] = [this.#id, this.#trajectory];
    if (approval !== undefined)
      return new IncidentError(
        'not_found',
        `The incident ${id} in ${place} waits for a person. Approve its proposal ${approval} first.`,
        { evidence: { incident: id, approval } },
      );
    if (await wasProposed(this.#store, place, id))
      return new IncidentError(
        'not_found',
        `The incident ${id} in ${place} was not approved: its plan was rejected, or the time to approve it ran out. Propose the response again.`,
        { evidence: { incident: id } },
      );
    return new IncidentError(
      'not_found',
      `There is no incident ${id} in ${place}. Check the id: the command that proposed the response printed it.`,
      { evidence: { incident: id } },
    );
  }

  /** Whether this call recorded the outcome. Another process may have been first. */
  async add(step: number, { outcome, reason }: StepResult): Promise<boolean> {
    const failure = outcome === 'failed' && {
      reason: (reason ?? 'no reason is known').slice(0, REASON_MAX).toWellFormed(),
    };
    const isRecorded = await this.#propose('record', { step, outcome, ...failure });
    if (isRecorded || (await this.read()).outcomes[step] !== undefined) return isRecorded;
    throw new IncidentError(
      'outcome_not_recorded',
      `The outcome of step ${step} of the incident ${this.#id} was not recorded. Run the response again.`,
      { evidence: { incident: this.#id, step } },
    );
  }

  async close(): Promise<void> {
    if ((await this.read()).closedAt !== undefined) return;
    if ((await this.#propose('close', {})) || (await this.read()).closedAt !== undefined) return;
    throw new IncidentError(
      'outcome_not_recorded',
      `The incident ${this.#id} was not closed. Run the response again.`,
      { evidence: { incident: this.#id } },
    );
  }

  async #propose(action: 'record' | 'close', args: object): Promise<boolean> {
    const writ = await this.#writFor(action, `role:carrier:${this.#id}`, this.#trajectory.id);
    const role = { name: 'carrier', params: { incident: this.#id } };
    const ruling = await this.#trajectory.propose({ action, role, args, writ } as never);
    return ruling.ruling === 'committed';
  }
}

/** The ids of the incidents of a state that are approved and not closed. */
export function incidentsToCarryOut(state: {
  readonly incidents: Readonly<Record<string, Incident>>;
}): readonly string[] {
  return Object.entries(state.incidents).flatMap(([id, { closedAt, approvedBy }]) =>
    closedAt === undefined && approvedBy !== undefined ? [id] : [],
  );
}
